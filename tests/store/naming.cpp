// SPDX-License-Identifier: MIT
#include "cairn/store/naming.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("every step has one name") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    const auto step = random() >> (random() % 64);
    CHECK(cairn::detail::parse_checkpoint_name(cairn::detail::checkpoint_name(step)) == step);
  }
  CHECK(cairn::detail::checkpoint_name(120) == "step-000000120");
  for (const auto* name : {"step-120", "step-0000000120", "step-00000012x", "step-", "step--00000012", "Step-000000120",
                           "step-99999999999999999999", "step-000000120.branch-1", "step-000000120.branch-1-from-100"})
    CHECK_FALSE(cairn::detail::parse_checkpoint_name(name));
}

TEST_CASE("checkpoints are ordered by step, not by text") {
  std::vector<std::string> names{"step-1000000000",    "best",           "step-999999999",
                                 "step-000000007.old", "step-000000007", "anchor"};
  std::sort(names.begin(), names.end(), cairn::checkpoint_before);
  CHECK(names == std::vector<std::string>{"anchor", "best", "step-000000007.old", "step-000000007", "step-999999999",
                                          "step-1000000000"});
}

TEST_CASE("only Cairn's own files are its own") {
  CHECK(cairn::detail::is_own_file("index.json"));
  CHECK(cairn::detail::is_own_file(cairn::detail::shard_file(0, 4)));
  CHECK(cairn::detail::is_own_file(cairn::detail::shard_file(123456, 123457)));
  for (const auto* file : {"model.safetensors", "shard-0-of-1.safetensors", "shard-00000-of-00001.safetensors.bak",
                           "shard-00000-00001.safetensors", "index.json~", "shard-.safetensors", "", "notes.txt",
                           "shard-0000x-of-00001.safetensors"})
    CHECK_FALSE(cairn::detail::is_own_file(file));
}

TEST_CASE("names that are no directory entries are refused") {
  for (const std::string name : {"", ".", "..", ".hidden", "a/b", "/abs", "a~2", "a~0", "~1", "step-000000001~3"})
    CHECK(sample::failure_of([&] { cairn::detail::require_checkpoint_name(name); }).code == cairn::errc::invalid);
  CHECK(sample::failure_of([] { cairn::detail::require_checkpoint_name(std::string(201, 'x')); }).code ==
        cairn::errc::invalid);
  for (const auto* name : {"best model", "a~", "a~2b", "2", "~"})
    CHECK_NOTHROW(cairn::detail::require_checkpoint_name(name));
}

TEST_CASE("a generation has one name") {
  using cairn::detail::generation;
  for (const auto& each : {generation{"a"}, generation{"a", 2}, generation{"step-000000001", 100}, generation{"a~", 3},
                           generation{"~", 2}, generation{"a", ~std::uint64_t{0}}})
    CHECK(cairn::detail::parse_generation(cairn::detail::directory_name(each)) == each);
  CHECK(cairn::detail::directory_name({"a", 1}) == "a");
  CHECK(cairn::detail::directory_name({"a", 12}) == "a~12");
  for (const auto* name : {"a~0", "a~1", "a~02", "a~2~3", "~2", ".tmp-a", "", ".a~2", "a~18446744073709551616"})
    CHECK_FALSE(cairn::detail::parse_generation(name));
}

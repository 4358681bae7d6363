// SPDX-License-Identifier: MIT
#include "cairn/store/stored_checkpoint.hpp"

#include <atomic>
#include <thread>

#include "catch.hpp"
#include "store/sample.hpp"

using namespace cairn::detail;

namespace {

struct counted_shards {
  std::atomic<int> opened{0};
  std::atomic<bool> fails{false};

  [[nodiscard]] shard_list list(std::size_t count) {
    return {count, [this](std::size_t number) {
              ++opened;
              if (fails) cairn::fail(cairn::errc::io, {"not now"});
              return stored_shard{nullptr, std::to_string(number), {}, {}, {}, {}};
            }};
  }
};

}  // namespace

TEST_CASE("a shard is opened when it is needed, once, whatever the number of threads") {
  counted_shards count;
  const auto shards = count.list(3);
  CHECK(shards.size() == 3);
  CHECK(count.opened == 0);
  CHECK(shards.if_parsed(1) == nullptr);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n)
        if (shards[1].where != "1") std::abort();
    });
  threads.clear();
  CHECK(count.opened == 1);
  CHECK(shards.if_parsed(1) == &shards[1]);
  CHECK(shards.if_parsed(0) == nullptr);
}

TEST_CASE("a shard that could not be opened is tried again") {
  counted_shards count;
  const auto shards = count.list(1);
  count.fails = true;
  CHECK(sample::failure_of([&] { static_cast<void>(shards[0]); }).code == cairn::errc::io);
  count.fails = false;
  CHECK(shards[0].where == "0");
  CHECK(count.opened == 2);
}

TEST_CASE("a tensor is found by its key") {
  stored_shard shard;
  for (const std::string key : {"c", "a", "b"}) shard.header.tensors.push_back({key, cairn::dtype::u8, {1}, 0, 1});
  shard.by_key = {1, 2, 0};
  for (const std::string key : {"a", "b", "c"}) {
    REQUIRE(shard.find(key) != nullptr);
    CHECK(shard.find(key)->key == key);
  }
  CHECK(shard.find("d") == nullptr);
  CHECK(shard.find("") == nullptr);
}

#include "cairn/store/shard_record.hpp"

#include <limits>

#include "catch.hpp"

namespace {

using cairn::detail::read_shard_record;
using cairn::detail::shard_record;
using cairn::detail::write_shard_record;

TEST_CASE("a record reads back as it was written") {
  const double smallest = std::numeric_limits<double>::denorm_min(), infinite = std::numeric_limits<double>::infinity();
  const shard_record records[] = {
      {},
      {.shards = {{"shard-1", 7, ~std::uint64_t{0}}, {"a \"name\"", 0, 0}}, .data_bytes = 3},
      {.encoded = {{0, {"lossless", false, 9, {}}},
                   {1'000'000, {"lc2", true, 1, cairn::loss{smallest, infinite}}},
                   {3, {"lc3", false, 0, cairn::loss{0.1, 0}}}}}};
  for (const auto& each : records) CHECK(read_shard_record(write_shard_record(each), "a record") == each);
}

TEST_CASE("a record that is damaged names where it is from") {
  const auto text = write_shard_record({.shards = {{"shard-1", 7, 8}}});
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    CHECK_THROWS_WITH(read_shard_record(text.substr(0, bytes), "rank 3"),
                      Catch::Matchers::ContainsSubstring("cairn: rank 3"));
  CHECK_THROWS_WITH(read_shard_record(R"({"shards":[],"data":1,"encoded":[],"more":2})", "rank 3"),
                    Catch::Matchers::ContainsSubstring("cairn: rank 3"));
}

}  // namespace

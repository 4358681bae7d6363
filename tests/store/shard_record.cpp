// SPDX-License-Identifier: MIT
#include "cairn/store/shard_record.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "catch.hpp"

namespace {

using cairn::detail::read_shard_record;
using cairn::detail::shard_record;
using cairn::detail::write_shard_record;

bool is_same(const shard_record& a, const shard_record& b) {
  const auto is_same_leaf = [](const cairn::detail::leaf& x, const cairn::detail::leaf& y) {
    return x.path == y.path && x.type == y.type && x.shape == y.shape && bool(x.place) == bool(y.place) &&
           (!x.place || (x.place->first == y.place->first && x.place->whole == y.place->whole));
  };
  return a.shards == b.shards && a.data_bytes == b.data_bytes && a.encoded == b.encoded &&
         std::equal(a.own.begin(), a.own.end(), b.own.begin(), b.own.end(), is_same_leaf) &&
         a.own_structure == b.own_structure && a.sample == b.sample;
}

TEST_CASE("a record reads back as it was written") {
  const double smallest = std::numeric_limits<double>::denorm_min(), infinite = std::numeric_limits<double>::infinity();
  const shard_record records[] = {
      {},
      {.shards = {{"shard-1", 7, ~std::uint64_t{0}}, {"a \"name\"", 0, 0}}, .data_bytes = 3},
      {.encoded = {{0, {"lossless", false, 9, {}}},
                   {1'000'000, {"lc2", true, 1, cairn::loss{smallest, infinite}}},
                   {3, {"lc3", false, 0, cairn::loss{0.1, 0}}}}}};
  for (const auto& each : records) CHECK(is_same(read_shard_record(write_shard_record(each), "a record"), each));
}

TEST_CASE("a record has what one rank alone has") {
  shard_record record;
  for (const auto* path : {"seed.rank1", "w", "\"quoted\""}) {
    auto& own = record.own.emplace_back();
    own.path = path;
    own.type = path[0] == 'w' ? cairn::dtype::f32 : cairn::dtype::u64;
    own.shape = {3, 0, 7};
  }
  record.own[1].place = std::make_shared<cairn::detail::box_place>(cairn::detail::box_place{{6, 0, 9}, {0, 0, 2}});
  record.sample = {0, ~std::uint64_t{0}, 7};
  record.own_structure["seed.rank1.list"] = {cairn::detail::structure_entry::kind::size, 3, "", {}};
  const auto read = read_shard_record(write_shard_record(record), "a record");
  CHECK(is_same(read, record));
  CHECK_FALSE(is_same(read, {}));
}

TEST_CASE("a record that is damaged names where it is from") {
  const auto text = write_shard_record({.shards = {{"shard-1", 7, 8}}});
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    CHECK_THROWS_WITH(read_shard_record(text.substr(0, bytes), "rank 3"),
                      Catch::Matchers::ContainsSubstring("cairn: rank 3"));
  CHECK_THROWS_WITH(
      read_shard_record(R"({"shards":[],"data":1,"encoded":[],"own":[],"structure":{},"sample":[],"more":2})",
                        "rank 3"),
      Catch::Matchers::ContainsSubstring("cairn: rank 3"));
}

}  // namespace

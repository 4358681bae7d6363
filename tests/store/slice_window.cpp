// SPDX-License-Identifier: MIT
#include "cairn/store/reader.hpp"

#include <random>

#include "bench/common/counting_store.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"
#include "write_checkpoint.hpp"

namespace {

/// Some arrays, in two shards.
struct stored_arrays {
  std::mt19937_64 random{1};
  sample::leaves leaves;
  bench::counting_store store{cairn::stores::memory()};

  stored_arrays(std::size_t count, std::uint64_t most_bytes) {
    for (std::size_t i = 0; i < count; ++i)
      leaves.add("a" + std::to_string(100 + i), cairn::dtype::u8, {1 + random() % most_bytes}, random);
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves.list, 2));
    cairn::any_store counted(store);
    sample::write_checkpoint(counted, "c", spec);
  }
};

}  // namespace

TEST_CASE("slices in order: each block is read once, and they have their bytes") {
  for (const std::uint64_t most : {900U, 100'000U, 3'000'000U}) {
    stored_arrays made(most > 1'000'000 ? 12 : 60, most);
    const cairn::detail::checkpoint_reader reader(cairn::any_store(made.store), "c");
    std::vector<cairn::detail::stored_slice> slices;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < made.leaves.list.size(); ++i)
      for (const auto& each : reader.slices_of(i)) slices.push_back(each);
    for (std::size_t i = 0; i < reader.shards(); ++i) bytes += reader.data_bytes(i);
    static_cast<void>(made.store.take_bytes());
    cairn::detail::slice_window window({.threads = 1});
    for (const auto& slice : slices) {
      const auto found = window.move_to(reader, slice);
      REQUIRE(found.size() == slice.bytes);
      window.need(0, slice.bytes);
      const auto& leaf = made.leaves.list[slice.leaf];
      CHECK(std::equal(found.begin(), found.end(), leaf.memory + slice.first));
    }
    CHECK(made.store.take_bytes() == bytes);
  }
}

TEST_CASE("slices of two shards in turn, nearly in order: each block is read once") {
  stored_arrays made(400, 30'000);
  const cairn::detail::checkpoint_reader reader(cairn::any_store(made.store), "c");
  std::vector<cairn::detail::stored_slice> of_shard[2];
  for (std::size_t i = 0; i < made.leaves.list.size(); ++i)
    for (const auto& each : reader.slices_of(i)) of_shard[each.shard].push_back(each);
  static_cast<void>(made.store.take_bytes());
  cairn::detail::slice_window window({.threads = 1});
  const auto count = std::max(of_shard[0].size(), of_shard[1].size());
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& slices : of_shard) {
      if (i >= slices.size()) continue;
      const auto& slice = slices[std::min(i ^ 1U, slices.size() - 1)];  // neighbours in turn
      static_cast<void>(window.move_to(reader, slice));
      window.need(0, slice.bytes);
    }
  CHECK(made.store.take_bytes() == reader.data_bytes(0) + reader.data_bytes(1));
}

TEST_CASE("slices in any order have the bytes that were needed") {
  const auto most = GENERATE(300'000U, 60'000U);
  stored_arrays made(40, most);
  const cairn::detail::checkpoint_reader reader(cairn::any_store(made.store), "c");
  cairn::detail::slice_window window({.threads = 2});
  for (int round = 0; round < 1000; ++round) {
    const auto slices = reader.slices_of(made.random() % made.leaves.list.size());
    const auto& slice = slices[made.random() % slices.size()];
    const auto found = window.move_to(reader, slice);
    const auto begin = made.random() % slice.bytes, end = begin + made.random() % (slice.bytes - begin + 1);
    window.need(begin, end);
    const auto* all = made.leaves.list[slice.leaf].memory + slice.first;
    CHECK(std::equal(found.begin() + static_cast<long>(begin), found.begin() + static_cast<long>(end), all + begin));
  }
}

TEST_CASE("a block that is damaged is reported where it is needed, and only there") {
  stored_arrays made(3, 400'000);
  cairn::any_store store(made.store);
  const auto file = cairn::detail::shard_file(0, 2);
  auto bytes = sample::get(store, "c", file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  sample::put(store, "c",
              {{file, bytes},
               {cairn::detail::shard_file(1, 2), sample::get(store, "c", cairn::detail::shard_file(1, 2))},
               {"index.json", sample::get(store, "c", "index.json")}});
  const cairn::detail::checkpoint_reader reader(store, "c");
  cairn::detail::slice_window window({.threads = 1});
  std::optional<cairn::detail::stored_slice> last;
  for (std::size_t i = 0; i < made.leaves.list.size(); ++i)
    for (const auto& each : reader.slices_of(i))
      if (each.shard == 0 && each.end() == reader.data_bytes(0)) last = each;
  REQUIRE(last);
  static_cast<void>(window.move_to(reader, *last));
  if (last->bytes > 70'000) window.need(0, 1);
  CHECK(sample::failure_of([&] { window.need(last->bytes - 1, last->bytes); }).code == cairn::errc::corrupt);
}

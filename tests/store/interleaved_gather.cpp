// SPDX-License-Identifier: MIT
#include "cairn/store/shard_bytes.hpp"

#include <algorithm>
#include <random>

#include "cairn/core/strided.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("fields of any records, gathered together, are what gather gives one by one, and so are the checksums") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t rows = random() % 30'000 + 1, record = 8 * (random() % 5 + 3);
    std::vector<std::byte> memory(rows * record);
    for (auto& b : memory) b = static_cast<std::byte>(random());
    std::vector<cairn::detail::memory_view> views;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto type = random() % 2 ? cairn::dtype::f64 : cairn::dtype::u16;
      const auto width = static_cast<std::int64_t>(cairn::size_of(type)), stride = static_cast<std::int64_t>(record);
      cairn::detail::memory_view view{type, {rows}, memory.data() + 8 * i, {stride}};
      if (random() % 3 == 0 && type == cairn::dtype::u16) view.shape = {rows, 4}, view.strides = {stride, width};
      if (random() % 4 == 0) {  // backwards
        view.memory += (rows - 1) * record;
        view.strides[0] = -stride;
      }
      views.push_back(view);
    }
    // Every chunk gets a part of one column, then one of another.
    std::vector<std::vector<std::byte>> expected;
    std::vector<std::vector<std::byte>> made(3);
    std::vector<std::vector<std::uint64_t>> sums(3);
    std::vector<cairn::detail::growing_chunk> chunks;
    const std::size_t block = random() % 5'000 + 1;
    std::vector<cairn::detail::strided_run> runs;
    for (std::size_t b = 0; b < 3; ++b) {
      auto& all = expected.emplace_back();
      for (const std::size_t which : {b, (b + 1) % 3}) {
        const auto& view = views[which];
        const std::uint64_t first = random() % view.count(), count = random() % (view.count() - first) + 1;
        const auto at = all.size(), bytes = static_cast<std::size_t>(count * cairn::size_of(view.type));
        all.resize(at + bytes);
        cairn::detail::gather(view, first, std::span(all).subspan(at));
        runs.push_back({&view, first, b, at, bytes});
      }
      made[b].resize(all.size());
      sums[b].resize(made[b].size() / block + 1);
      chunks.emplace_back(made[b], sums[b], block);
    }
    std::shuffle(runs.begin(), runs.end(), random);
    cairn::detail::interleaved_gather(runs, chunks);
    for (std::size_t b = 0; b < 3; ++b) {
      CHECK(made[b] == expected[b]);
      chunks[b].finish();
      for (std::size_t at = 0; at < made[b].size(); at += block)
        CHECK(sums[b][at / block] ==
              cairn::detail::checksum(std::span(made[b]).subspan(at, std::min(block, made[b].size() - at))));
    }
  }
}

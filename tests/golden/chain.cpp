// SPDX-License-Identifier: MIT

#include "cairn/chain/reader.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/merge.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "golden/same_files.hpp"
#include "store/sample.hpp"
#include "save_as.hpp"

// The chain in tests/golden/chain-4 stays readable, to the same bits. What is written now has its
// bytes, with any compiler, on any SIMD target, by any number of threads.

namespace {

struct state {
  std::vector<float> weight = std::vector<float>(700);
  std::vector<cairn::bfloat16> half = std::vector<cairn::bfloat16>(400);
  std::vector<cairn::float16> small = std::vector<cairn::float16>(300);
  std::vector<float> moment = std::vector<float>(600);
  std::vector<double> wide = std::vector<double>(200);
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(150);
  std::vector<float> second = std::vector<float>(500);
};

/// The state at a step: products and sums of few-digit numbers, the same everywhere.
state at(std::uint64_t step) {
  state now;
  auto noise = [k = std::uint32_t{1}]() mutable {
    k = k * 1664525U + 1013904223U;
    return static_cast<float>(static_cast<std::int32_t>(k >> 16U) - 32768) / 32768.0F;
  };
  const auto moved = static_cast<float>(step) * 0.00390625F;
  for (auto& x : now.weight) x = noise() * 0.125F + noise() * moved * noise();
  for (auto& x : now.half) x = cairn::bfloat16(noise() + noise() * moved);
  for (auto& x : now.small) x = cairn::float16(noise() * 4 + noise() * moved);
  for (std::size_t i = 0; i < now.moment.size(); ++i)
    now.moment[i] = i % 5 < 2 ? 0.0F : noise() * 0.0009765625F * moved;
  for (auto& x : now.wide) x = static_cast<double>(noise()) * 3;
  for (std::size_t i = 0; i < now.counts.size(); ++i) now.counts[i] = static_cast<std::int64_t>(i * step);
  now.weight[3] = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < now.second.size(); ++i)
    now.second[i] = i % 100 == 0 ? 0.0F : (2 + noise()) * 0.0009765625F + (1 + noise()) * 0.0001220703125F * moved;
  return now;
}

const cairn::codec_rules rules{{"weight", cairn::codecs::lc<2>{}},
                               {"half", cairn::codecs::lc<3>{}},
                               {"small", cairn::codecs::lc<3>{.priority = cairn::promotion::energy}},
                               {"moment", cairn::codecs::lossless{.xor_parent = true}},
                               {"second", cairn::codecs::lc<2>{.delta = cairn::delta_kind::ratio}},
                               {"*", cairn::codecs::lossless{}}};

cairn::any_store frozen(unsigned number) {
  return cairn::stores::directory(CAIRN_TESTS "/golden/chain-" + std::to_string(number));
}

/// A whole checkpoint, three deltas, and the last two of these merged.
void write_chain(cairn::any_store store, unsigned threads) {
  cairn::detail::delta_base chain;
  for (std::uint64_t step = 1; step <= 4; ++step) {
    const auto now = at(step);
    tests::save_as(store, cairn::detail::checkpoint_name(step), now,
                   {.threads = threads, .step = step, .shards = 2, .codecs = rules}, &chain);
  }
  cairn::merge_checkpoints(store, cairn::detail::checkpoint_name(4), {.deltas = 2, .threads = threads});
}

}  // namespace

TEST_CASE("the frozen chain reads back to the same bits") {
  const auto now = at(4);
  const std::map<std::string, std::uint64_t> lossy{{"weight", 0x245d032ee427f9b2},
                                                   {"half", 0xf10301b02daf2083},
                                                   {"small", 0x7485a943b20312b6},
                                                   {"second", 0x86cbb410cff6e740}};
  const cairn::detail::chain_reader reader(frozen(4), cairn::detail::checkpoint_name(4));
  CHECK(reader.links().size() == 3);
  for (const auto& leaf : cairn::detail::describe(now).leaves) {
    INFO(leaf.path);
    std::vector<std::byte> bytes(leaf.bytes());
    reader.contents().fetch(reader.contents().find(leaf.path), bytes);
    if (const auto sum = lossy.find(leaf.path); sum != lossy.end())
      CHECK(cairn::detail::to_hex(cairn::detail::checksum(bytes)) == cairn::detail::to_hex(sum->second));
    else
      CHECK(bytes == sample::packed(leaf));
  }
}

TEST_CASE("the same chain is still written with the same bytes") {
  for (const unsigned threads : {1U, 3U}) {
    cairn::any_store store = cairn::stores::memory();
    write_chain(store, threads);
    REQUIRE(store.list() == frozen(4).list());
    for (const auto& name : store.list()) golden::check_same_files(store, frozen(4), name);
  }
}

TEST_CASE("writes the frozen chain, for a new version", "[.write]") { write_chain(frozen(4), 1); }

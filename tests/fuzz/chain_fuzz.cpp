// SPDX-License-Identifier: MIT
// Hostile payloads, encodings, tables and parents in checkpoints whose checksums all hold: a chain of checkpoints
// either gives elements, or throws cairn::error that names file and leaf. All memory together is at most a few times
// the bytes of the elements. runs: 1/5

#include "cairn/chain/reader.hpp"
#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/encode/lc.hpp"
#include "../save_as.hpp"
#include "cairn/store/memory.hpp"
#include "../write_checkpoint.hpp"
#include "choices.hpp"
#include "live_memory.hpp"
#include "../standard.hpp"

namespace {

using fuzz::choices;

/// For all files and the elements of a leaf, together.
constexpr std::size_t most_memory = std::size_t{3} << 20U;

void require(bool held) {
  if (!held) std::abort();
}

struct state {
  std::vector<float> weight = std::vector<float>(700);
  std::vector<cairn::bfloat16> half = std::vector<cairn::bfloat16>(500);
  std::vector<float> moment = std::vector<float>(600);
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(90, 7);
};

const cairn::codec_rules rules{{"weight", cairn::codecs::lc<2>{}},
                               {"half", cairn::codecs::lc<3>{.delta = cairn::delta_kind::ratio}},
                               {"moment", cairn::codecs::lossless{.xor_parent = true}}};

/// A whole checkpoint and two deltas, made once.
struct pristine {
  cairn::any_store store = cairn::stores::memory();

  pristine() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    state now;
    cairn::detail::delta_base chain;
    for (std::uint64_t step = 1; step <= 3; ++step) {
      for (auto& x : now.weight) x += normal(random) * 0.01F;
      for (auto& x : now.half) x = cairn::bfloat16(normal(random));
      for (std::size_t i = 0; i < now.moment.size(); i += 3) now.moment[i] += normal(random) * 1e-3F;
      tests::save_as(store, cairn::detail::checkpoint_name(step), now, {.threads = 1, .step = step, .codecs = rules},
                     &chain);
    }
  }
};

/// One change of a payload: bytes set, removed or added.
void change(std::vector<std::byte>& payload, choices& from) {
  const auto at = from.next(payload.size() + 1);
  switch (from.next(4)) {
    case 0:
      if (at < payload.size()) payload[at] = static_cast<std::byte>(from.next(256));
      break;
    case 1:
      if (at < payload.size()) payload[at] ^= static_cast<std::byte>(1U << from.next(8));
      break;
    case 2:
      payload.resize(at);
      break;
    default:
      payload.insert(payload.begin() + static_cast<std::ptrdiff_t>(at), from.next(40),
                     static_cast<std::byte>(from.next(256)));
  }
}

void change(cairn::detail::encoding_info& how, choices& from) {
  constexpr const char* names[] = {"lossless", "lc2", "lc3", "raw", "none"};
  switch (from.next(4)) {
    case 0:
      how.codec = names[from.next(5)];
      break;
    case 1:
      how.type = static_cast<cairn::dtype>(from.next(cairn::dtype_count));
      break;
    case 2:
      how.shape = {from.next(100'000)};
      break;
    default:
      how.relative = !how.relative;
  }
}

/// The checkpoint `name` once more, with changes, under checksums that hold.
void forge(const cairn::any_store& from, cairn::any_store& to, const std::string& name, choices& chosen) {
  const auto reader = cairn::detail::open_checkpoint(from, name);
  std::vector<cairn::detail::leaf> leaves;
  std::vector<cairn::detail::write_piece> pieces;
  std::vector<std::vector<std::byte>> memory;
  std::vector<cairn::detail::encoding_info> encodings;
  const auto& stored = reader.contents.leaves;
  memory.reserve(stored.size());
  encodings.reserve(stored.size());
  const auto target = chosen.next(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto slices = reader.slices_of(i);
    const auto& slice = slices.at(0);
    auto& bytes = memory.emplace_back(slice.bytes);
    cairn::detail::read_stored(reader, slice.shard, slice.begin, bytes);
    cairn::detail::leaf leaf;
    leaf.path = stored[i].path;
    leaf.type = stored[i].type;
    leaf.shape = stored[i].shape;
    cairn::detail::write_piece piece{{i, 0, leaf.count()}};
    if (slice.encoded != nullptr) {
      auto& how = encodings.emplace_back(*slice.encoded);
      if (i == target) {
        if (chosen.next(4) == 0) change(how, chosen);
        for (auto n = chosen.next(6); n > 0 && chosen.any(); --n) change(bytes, chosen);
      }
      piece.bytes = bytes;
      piece.how = &how;
    } else {
      leaf.memory = bytes.data();
    }
    leaves.push_back(std::move(leaf));
    pieces.push_back(std::move(piece));
  }
  sample::checkpoint_spec spec;
  spec.leaves = leaves;
  spec.shards = {pieces};
  spec.info.step = reader.index.info.step;
  spec.id = cairn::detail::checkpoint_id(reader.index);
  spec.parent = reader.index.parent;
  auto tables = reader.shards[0].metadata.tables;
  if (chosen.next(16) == 0 && spec.parent) spec.parent->id ^= 1;
  if (chosen.next(16) == 0 && !tables.empty()) tables.begin()->second[chosen.next(256)] = '1';
  spec.shards[0].front().tables = &tables;
  sample::write_checkpoint(to, name, spec);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const pristine good;
  choices chosen(bytes, size);
  cairn::any_store store = cairn::stores::memory();
  const auto changed = chosen.next(3) + 1;
  choices none(nullptr, 0);
  for (std::uint64_t step = 1; step <= 3; ++step)
    forge(good.store, store, cairn::detail::checkpoint_name(step), step == changed ? chosen : none);
  const fuzz::memory_bound guard(most_memory);
  for (std::uint64_t step = changed; step <= 3; ++step) {
    try {
      const cairn::detail::chain_reader reader(store, cairn::detail::checkpoint_name(step));
      const auto& leaves = reader.contents().leaves;
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (leaves[i].bytes() > std::size_t{1} << 20U) continue;
        try {
          std::vector<std::byte> values(leaves[i].bytes());
          reader.contents().fetch(i, values);
        } catch (const cairn::error& error) {
          const std::string said = error.what();
          // The header of its shard may be wrong for another leaf.
          const bool is_named = std::any_of(leaves.begin(), leaves.end(),
                                            [&](const auto& leaf) { return said.find(leaf.path) != said.npos; });
          require(error.code() == cairn::errc::unsupported || is_named);
          require(said.find("step-") != said.npos);
        }
      }
    } catch (const cairn::error& error) {
      require(std::strlen(error.what()) > 8);
    }
  }
  return 0;
}

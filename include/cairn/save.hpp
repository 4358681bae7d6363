// One-shot saving and loading of a state: one directory, one checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/load.hpp"
#include "cairn/chain/delta_base.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/base.hpp"
#include "cairn/core/piece.hpp"

namespace cairn {

/// How to save.
struct save_options {
  bool durable = true;   ///< after the save a crash of the machine cannot lose it; else it is in the page cache
  unsigned threads = 0;  ///< 0: what the store takes to be best
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  std::size_t shards = 1;  ///< files of nearly equal size to spread the state over
  codec_rules codecs{};  ///< how leaves are encoded, by path: the first rule that matches; without loss where none does
};

/// What a save did.
struct save_report {
  std::string path{};        ///< of the checkpoint
  std::uint64_t leaves = 0;  ///< arrays written
  std::uint64_t bytes = 0;   ///< of all files
  double seconds = 0;
  std::uint64_t state_bytes = 0;  ///< of the arrays, before they were encoded
  bool is_delta = false;          ///< built on another checkpoint
  std::string parent{};           ///< the name of that
  double encode_seconds = 0;      ///< of `seconds`
  double write_seconds = 0;       ///< of `seconds`: writing, flushing, publishing
  /// Path -> what a lossy codec lost there; the greatest of its slices where the leaf is cut.
  std::map<std::string, loss> lost{};
};

namespace detail {

/// A chain of checkpoints that a save belongs to.
struct chain_link {
  delta_base* chain = nullptr;
  chain_options options{};
};

/// How a save is fed and watched. All functions may be left out; what they throw ends the save.
struct save_steps {
  std::map<std::string, std::vector<double>> notes{};  ///< for the index
  /// The state's pieces, staged or not; empty: as the options say.
  division shards{};
  /// Makes the pieces of a shard ready. With it, shards are staged, encoded and written one after the other.
  std::function<void(std::vector<piece>& shard, bool is_last)> stage{};
  std::function<void()> check{};                                             ///< called often, from any thread
  std::function<void(std::uint64_t bytes, std::uint64_t total)> progress{};  ///< of writing; from any thread
  std::function<void(std::uint64_t bytes, double seconds)> encoded{};
  std::function<void(std::uint64_t bytes, double seconds)> written{};
};

/// Encodes a description and writes it as checkpoint `name`. With a chain, the checkpoint is a delta where the codecs make use of one
/// and the chain allows it.
CAIRN_INLINE save_report write_description(any_store& store, const std::string& name, const description& what,
                                           const save_options& options, save_steps steps = {},
                                           const chain_link& link = {});

/// See cairn::save.
CAIRN_INLINE save_report save(const std::string& path, any_state state, const save_options& options);

}  // namespace detail

/// Saves `state` as the checkpoint `path`, a directory, which appears at once and whole, in place of an older
/// one. Errors: `io`, `busy` when another process is saving to the same path, `invalid` for a state that
/// cannot be saved; nothing is left behind, and an older checkpoint at the path stays.
template <saveable State>
save_report save(const std::string& path, const State& state, const save_options& options = {}) {
  return detail::save(path, refer(state), options);
}

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/chain/save.ipp"  // IWYU pragma: keep
#endif

// Brings a stored checkpoint into a state: check everything, verify everything, then change the state in
// place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/event.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/base.hpp"

namespace cairn {

/// How to load. The first four say how state and checkpoint are brought together (see match_options).
struct load_options {
  bool strict = true;
  std::function<std::string(std::string_view path)> rename{};
  std::function<bool(std::string_view path)> filter{};
  conversion convert = conversion::none;
  bool verify = true;    ///< check all checksums before the state is touched
  unsigned threads = 0;  ///< 0: the machine's
  codec_rules codecs{};  ///< a user's own codecs; Cairn's are known
};

/// A checkpoint that a restore passed over.
struct skipped_checkpoint {
  std::string checkpoint;
  std::string reason;
};

/// What a load did.
struct load_report : match_report {
  std::string path;  ///< the checkpoint that was loaded
  std::uint64_t step = 0;
  std::map<std::string, double> metrics;
  std::map<std::string, std::vector<double>> notes;  ///< what the policy of the run had learned: see policy_memory
  std::uint64_t bytes = 0;                           ///< loaded into the state
  double seconds = 0;
  std::string name{};                       ///< of the checkpoint in its store; empty for a single file
  std::uint64_t id = 0;                     ///< see checkpoint_id
  std::size_t links = 1;                    ///< checkpoints that were read: itself and those that it is built on
  std::vector<skipped_checkpoint> skipped;  ///< newer ones that could not be restored, and why
};

class chain_reader;

namespace detail {

/// Loads an open checkpoint. Until everything has been checked the state is untouched.
CAIRN_INLINE load_report load_from(const chain_reader& from, any_mutable_state state, const load_options& options,
                                   rank_info here = {});

/// Loads the newest checkpoint of the store that can be restored, or nothing when there is none at all.
/// Throws when there are some and none of them can be.
CAIRN_INLINE std::optional<load_report> restore_newest(const any_store& store, any_mutable_state state,
                                                       const load_options& options, const observer& on_event = {},
                                                       rank_info here = {});

/// See cairn::load.
CAIRN_INLINE load_report load(const std::string& path, any_mutable_state state, const load_options& options);

}  // namespace detail

/// Loads into `state` from `path`: a checkpoint, a directory of checkpoints (the newest one that can be
/// restored), or a single safetensors file of any origin. Errors: `not_found`, `mismatch`, `corrupt`,
/// `unsupported`, `io`; the state is then as it was.
template <loadable State>
load_report load(const std::string& path, State& state, const load_options& options = {}) {
  return detail::load(path, refer(state), options);
}

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/chain/load.ipp"  // IWYU pragma: keep
#endif

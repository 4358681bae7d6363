// Turns the newest deltas of a chain into one, or into a whole checkpoint, that restores the same bits and needs fewer files.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "cairn/core/config.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"

namespace cairn {

/// How to merge the newest deltas of a chain.
struct merge_options {
  /// The newest n deltas, the given one included. nullopt: all of them, into a whole checkpoint.
  std::optional<std::size_t> deltas{};
  bool to_whole = false;          ///< into a whole checkpoint, whatever `deltas` says
  unsigned threads = 0;           ///< for decoding, encoding and writing
  codec_rules codecs{};           ///< a user's own codecs
  std::function<void()> check{};  ///< called often, from any thread; what it throws cancels the merge
};

/// Replaces checkpoint `name` by one that restores the same values, bit for bit, and is built on the checkpoint that the oldest of
/// the merged deltas was built on, or on none. The others stay as they are: retention may remove what nothing needs any more. The
/// sum of two deltas is not their effect, since float addition is not associative: quantized deltas are kept as a sequence of steps
/// in one payload; XORs are combined; where the two meet, or a codec is not Cairn's own, the leaf is stored whole and without loss.
/// A crash at any moment leaves the old checkpoint or the new one. Errors: those of loading and saving; the old one then stays.
CAIRN_INLINE merge_report merge_checkpoints(any_store& store, const std::string& name,
                                            const merge_options& options = {});

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/chain/merge.ipp"  // IWYU pragma: keep
#endif

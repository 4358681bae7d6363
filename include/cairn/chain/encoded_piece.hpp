// SPDX-License-Identifier: MIT
// Which codec encodes each leaf, and a piece as it will be stored: output of encoding and merging, input of the writer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// Smaller leaves are not encoded: the description of the encoding in the file's header takes about as many bytes.
inline constexpr std::uint64_t least_encoded_bytes = 256;

/// The codecs of the leaves of a save. Matches every path against the rules once. `leaves` and `rules` must outlive it.
class leaf_codecs {
 public:
  leaf_codecs(std::span<const leaf> leaves, std::span<const codec_rule> rules) : leaves_(leaves), rules_(rules) {
    rule_of_.reserve(leaves.size());
    for (const auto& each : leaves) rule_of_.push_back(rule_for(each.path, rules));
    for (std::size_t rule = 0; rule < count(); ++rule)
      is_raw_.push_back(codec_of_rule(rule, rules).name() == raw_codec().name());
  }

  [[nodiscard]] const any_codec& operator[](std::size_t leaf) const { return of_rule(rule_of_[leaf]); }

  /// False for a leaf that is stored as it is.
  [[nodiscard]] bool is_encoded(std::size_t leaf) const {
    return leaves_[leaf].bytes() >= least_encoded_bytes && !is_raw_[rule_of_[leaf]];
  }

  /// Whether the codec of any leaf uses the parent checkpoint.
  [[nodiscard]] bool use_parent() const {
    return std::ranges::any_of(rule_of_, [&](std::size_t rule) { return of_rule(rule).uses_parent(); });
  }

  /// The patterns of the rules that no leaf has: they match no path, or earlier rules match all that they do.
  [[nodiscard]] std::vector<std::string> unmatched_rules() const {
    std::vector<bool> is_used(count());
    for (const auto rule : rule_of_) is_used[rule] = true;
    std::vector<std::string> unmatched;
    for (std::size_t rule = 0; rule < rules_.size(); ++rule)
      if (!is_used[rule]) unmatched.push_back(rules_[rule].pattern);
    return unmatched;
  }

  /// The rules are numbered from 0; the last number stands for no rule.
  [[nodiscard]] std::size_t count() const noexcept { return rules_.size() + 1; }
  [[nodiscard]] const any_codec& of_rule(std::size_t rule) const { return codec_of_rule(rule, rules_); }

 private:
  std::span<const leaf> leaves_;
  std::span<const codec_rule> rules_;
  std::vector<std::size_t> rule_of_;  // by leaf
  std::vector<bool> is_raw_;          // by rule
};

/// A piece that is stored as a payload, or as it is.
struct encoded_piece : piece {
  std::optional<encoding_info> how{};  ///< of the payload; nullopt: the elements are stored as they are
  std::span<const std::byte> bytes{};  ///< the payload, or the elements packed; empty: they are in the leaf's memory
  page_buffer memory{};                ///< holds the payload, unless that lies in staged memory
  stored_tables tables{};              ///< that the payload names

  /// Stores the first `size` bytes of `payload`, which the piece then owns.
  void own(encoding_info encoding, page_buffer payload, std::size_t size) {
    how = std::move(encoding);
    memory = std::move(payload);
    bytes = memory.bytes().first(size);
  }

  /// Bytes that the piece, of leaf `whole`, takes in its file.
  [[nodiscard]] std::uint64_t stored_bytes(const detail::leaf& whole) const noexcept {
    return how ? bytes.size() : count * size_of(whole.type);
  }
};

/// The pieces for the writer. They refer to `shards`.
[[nodiscard]] inline shards_of<write_piece> for_writer(std::span<const std::vector<encoded_piece>> shards) {
  shards_of<write_piece> result(shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    result[i].reserve(shards[i].size());
    for (const auto& each : shards[i])
      result[i].push_back({each, each.bytes, each.how ? &*each.how : nullptr, &each.tables});
  }
  return result;
}

}  // namespace cairn::inline v0_1::detail

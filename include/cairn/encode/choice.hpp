// SPDX-License-Identifier: MIT
// Which codec encodes a leaf, by its path, and which one decodes a payload, by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/encode/base.hpp"
#include "cairn/encode/lossless.hpp"  // IWYU pragma: export
#include "cairn/encode/raw.hpp"       // IWYU pragma: export

namespace cairn::inline v0_1 {

/// Leaves whose paths match the pattern are encoded by the codec. `*` stands for any characters, dots included, `?` for
/// one, `[ab]` for one of these.
struct codec_rule {
  std::string pattern;  ///< of the whole path
  any_codec codec;      ///< that encodes them
};

/// The first rule that matches a path counts; leaves that none matches are stored raw, as they are in memory.
using codec_rules = std::vector<codec_rule>;

namespace detail {

/// Whether some of the rules can make a checkpoint a delta.
[[nodiscard]] bool use_parent(const codec_rules& rules);

/// The codec that stores elements as they are: that of leaves that no rule matches.
[[nodiscard]] const any_codec& raw_codec();

/// The codec of merged leaves that are stored whole.
[[nodiscard]] const any_codec& lossless_codec();

/// The index of the first rule that matches; the number of rules when none does.
[[nodiscard]] std::size_t rule_for(const std::string& path, std::span<const codec_rule> rules);

/// The codec of rule number `rule`; the raw one where that is the number of rules.
[[nodiscard]] const any_codec& codec_of_rule(std::size_t rule, std::span<const codec_rule> rules);

/// The codec that encodes the leaf of this path.
[[nodiscard]] const any_codec& codec_for(const std::string& path, std::span<const codec_rule> rules);

/// The codec that a file names: one of the rules', codecs::raw or codecs::lossless, or one that the program has made
/// known by including its header. errc::unsupported, naming the file `where` and what to do, when there is none.
[[nodiscard]] any_codec codec_named(std::string_view name, std::span<const codec_rule> rules, std::string_view where);

/// Registers a codec by name, so that loads find it without a rule. Declare an inline variable of this type in the
/// codec's header. Loads during static initialization may not find it.
class CAIRN_ONE_PER_PROCESS known_codec {
 public:
  using maker = any_codec (*)();

  known_codec(std::string_view name, maker make) noexcept;
  known_codec(const known_codec&) = delete;  // the list points to it
  known_codec& operator=(const known_codec&) = delete;
  ~known_codec() = default;

  /// Null when no header that the program includes has made the codec known.
  [[nodiscard]] static maker find(std::string_view name) noexcept;

 private:
  std::string_view name_;
  maker make_;
  const known_codec* next_;
};

}  // namespace detail
}  // namespace cairn::inline v0_1

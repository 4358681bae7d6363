// Which codec a leaf is encoded with, by its path, and which one decodes a payload, by its name.
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/encode/base.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/encode/lossless.hpp"
#include "cairn/encode/raw.hpp"

namespace cairn {

/// Leaves whose paths match the pattern are encoded by the codec. `*` stands for any characters, dots included, `?` for one,
/// `[ab]` for one of these.
struct codec_rule {
  std::string pattern;
  any_codec codec;
};

/// The first rule that matches a path counts; leaves that none matches are encoded without loss.
using codec_rules = std::vector<codec_rule>;

/// The index of the first rule that matches; the number of rules when none does.
[[nodiscard]] inline std::size_t rule_for(const std::string& path, std::span<const codec_rule> rules) {
  const auto at = std::find_if(rules.begin(), rules.end(), [&](const codec_rule& rule) {
    return ::fnmatch(rule.pattern.c_str(), path.c_str(), 0) == 0;
  });
  return static_cast<std::size_t>(at - rules.begin());
}

/// The codec that a file names: Cairn's own, or one of the rules'. errc::unsupported, naming the file, when there is none.
[[nodiscard]] inline any_codec codec_named(std::string_view name, std::span<const codec_rule> rules,
                                           std::string_view where) {
  for (const auto& rule : rules)
    if (rule.codec.name() == name) return rule.codec;
  if (name == codecs::raw{}.name()) return codecs::raw{};
  if (name == codecs::lossless{}.name()) return codecs::lossless{};
  if (name == codecs::lc<2>{}.name()) return codecs::lc<2>{};
  if (name == codecs::lc<3>{}.name()) return codecs::lc<3>{};
  fail(errc::unsupported,
       {where, ": encoded by \"", name, "\", which is no codec of cairn and not among the given ones"});
}

}  // namespace cairn

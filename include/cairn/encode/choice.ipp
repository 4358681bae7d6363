// SPDX-License-Identifier: MIT
// Definitions of choice.hpp.
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "cairn/encode/choice.hpp"

namespace cairn::inline v0_1::detail {

/// Codecs of Cairn that a program includes the header of, and these headers.
inline constexpr std::pair<std::string_view, std::string_view> optional_codecs[] = {{"lc2", "cairn/encode/lc.hpp"},
                                                                                    {"lc3", "cairn/encode/lc.hpp"}};

/// The head of the list of known codecs.
[[nodiscard]] CAIRN_ONE_PER_PROCESS inline std::atomic<const known_codec*>& newest_codec() noexcept {
  static constinit std::atomic<const known_codec*> newest{nullptr};
  return newest;
}

known_codec::known_codec(std::string_view name, maker make) noexcept
    : name_(name), make_(make), next_(newest_codec().load()) {
  while (!newest_codec().compare_exchange_weak(next_, this)) {
  }
}

known_codec::maker known_codec::find(std::string_view name) noexcept {
  for (const known_codec* each = newest_codec().load(); each != nullptr; each = each->next_)
    if (each->name_ == name) return each->make_;
  return nullptr;
}

bool use_parent(const codec_rules& rules) {
  return std::any_of(rules.begin(), rules.end(), [](const codec_rule& each) { return each.codec.uses_parent(); });
}

const any_codec& raw_codec() {
  static const any_codec chosen = codecs::raw{};
  return chosen;
}

const any_codec& lossless_codec() {
  static const any_codec chosen = codecs::lossless{};
  return chosen;
}

std::size_t rule_for(const std::string& path, std::span<const codec_rule> rules) {
  const auto at = std::find_if(rules.begin(), rules.end(), [&](const codec_rule& rule) {
    return ::fnmatch(rule.pattern.c_str(), path.c_str(), 0) == 0;
  });
  return static_cast<std::size_t>(at - rules.begin());
}

const any_codec& codec_of_rule(std::size_t rule, std::span<const codec_rule> rules) {
  return rule < rules.size() ? rules[rule].codec : raw_codec();
}

const any_codec& codec_for(const std::string& path, std::span<const codec_rule> rules) {
  return codec_of_rule(rule_for(path, rules), rules);
}

any_codec codec_named(std::string_view name, std::span<const codec_rule> rules, std::string_view where) {
  for (const auto& rule : rules)
    if (rule.codec.name() == name) return rule.codec;
  for (const auto* each : {&raw_codec(), &lossless_codec()})
    if (each->name() == name) return *each;
  if (const auto make = known_codec::find(name)) return make();
  for (const auto& [codec, header] : optional_codecs)
    if (codec == name)
      fail(errc::unsupported, {where, ": encoded by \"", name, "\"; a program that loads it includes <", header, ">"});
  fail(errc::unsupported,
       {where, ": encoded by \"", name, "\", which is no codec of cairn and not among the given ones"});
}

}  // namespace cairn::inline v0_1::detail

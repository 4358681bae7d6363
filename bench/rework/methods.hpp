// SPDX-License-Identifier: MIT
// The settings of Cairn's codecs that are compared. This is the one place where they are chosen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cairn/encode/lc.hpp"
#include "cairn/encode/lossless.hpp"

namespace bench::rework {

/// How a checkpointer encodes.
struct codec_setting {
  std::string name;  ///< as in figures
  cairn::codec_rules rules;
  std::optional<std::size_t> anchor_every{};  ///< nullopt: the first checkpoint alone is whole, as published
};

/// `codec` for all leaves but Adam's second moments, whose ratios are quantized: a difference could make one 0 that is
/// not.
template <int Bits>
[[nodiscard]] cairn::codec_rules lossy_rules(const cairn::codecs::lc<Bits>& codec) {
  return {{"*second.*", cairn::codecs::lc<Bits>{.delta = cairn::delta_kind::ratio}}, {"*", codec}};
}

inline constexpr double bound_of_loss = 0.5;  ///< of `max_delta_l2`, in the settings that have one

/// lc2 and lc3 first, and lossless last.
[[nodiscard]] inline std::vector<codec_setting> codec_settings() {
  using cairn::codecs::lc;
  constexpr auto energy = cairn::promotion::energy;
  return {{"lc2", lossy_rules(lc<2>{})},
          {"lc3", lossy_rules(lc<3>{})},
          {"lc2_energy", lossy_rules(lc<2>{.priority = energy})},
          {"lc3_energy", lossy_rules(lc<3>{.priority = energy})},
          {"lc2_bound", lossy_rules(lc<2>{.max_delta_l2 = bound_of_loss})},
          {"lc3_bound", lossy_rules(lc<3>{.max_delta_l2 = bound_of_loss})},
          {"lc2_energy_bound", lossy_rules(lc<2>{.priority = energy, .max_delta_l2 = bound_of_loss})},
          {"lc3_energy_bound", lossy_rules(lc<3>{.priority = energy, .max_delta_l2 = bound_of_loss})},
          {"lossless", {{"*", cairn::codecs::lossless{.xor_parent = true}}}}};
}

/// The default options of lc<3> and of chains, with an anchor every 10 checkpoints.
[[nodiscard]] inline codec_setting default_lc3() { return {"lc3_default", lossy_rules(cairn::codecs::lc<3>{}), 10}; }
/// lc<2> with a bound and the default chain.
[[nodiscard]] inline codec_setting lc2_contract() {
  return {"lc2_contract", lossy_rules(cairn::codecs::lc<2>{.max_delta_l2 = bound_of_loss}), 10};
}

}  // namespace bench::rework

// SPDX-License-Identifier: MIT
// Losses of lossy codecs in the JSON text of files.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cairn/core/encoding.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// Adds members to the open object: "max_error":0.5,"relative_l2":0.01,"delta_l2":0.2. The last one is left out where it is not known.
inline void write_loss(json_writer& json, const loss& lost) {
  json.key("max_error").real(lost.max_error).key("relative_l2").real(lost.relative_l2);
  if (lost.delta_l2) json.key("delta_l2").real(*lost.delta_l2);
}

/// Reads one of these members; `lost` gives the loss that is being read.
template <class Lost>
[[nodiscard]] json_field loss_field(std::string_view name, const Lost& lost, bool required = false) {
  return {name, json_real([name, &lost](const json_value& error) {
            loss& of = lost();
            (name == "max_error"     ? of.max_error
             : name == "relative_l2" ? of.relative_l2
                                     : of.delta_l2.emplace()) = error.real;
          }),
          required};
}

/// The same as a list: [0.5,0.01,0.2], which the caller ends.
inline json_writer& write_loss_list(json_writer& json, const loss& lost) {
  json.begin_list().real(lost.max_error).real(lost.relative_l2);
  return lost.delta_l2 ? json.real(*lost.delta_l2) : json;
}

/// The reverse, for untrusted numbers; nullopt unless there are two or three.
[[nodiscard]] inline std::optional<loss> read_loss_list(std::span<const double> numbers) {
  if (numbers.size() != 2 && numbers.size() != 3) return std::nullopt;
  loss lost{numbers[0], numbers[1]};
  if (numbers.size() == 3) lost.delta_l2 = numbers[2];
  return lost;
}

}  // namespace cairn::inline v0_1::detail

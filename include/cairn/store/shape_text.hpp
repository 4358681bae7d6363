// SPDX-License-Identifier: MIT
// The shape of an array as a JSON list, and back; reads its dtype.
#pragma once

#include <cstddef>
#include <functional>

#include "cairn/core/dtype.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

inline constexpr std::size_t max_dimensions = 64;

inline void write_shape(json_writer& json, const extents& shape) {
  json.begin_list();
  for (const auto n : shape) json.natural(n);
  json.end_list();
}

/// Reads a list of at most `max_dimensions` extents into the empty `into()`.
[[nodiscard]] inline json_form shape_form(std::function<extents&()> into) {
  return json_list(json_natural([into = std::move(into)](const json_value& extent) {
    auto& shape = into();
    if (shape.size() == max_dimensions) return "has more than 64 dimensions";
    shape.push_back(extent.natural);
    return "";
  }));
}

/// Reads the name of a dtype into `into()`.
[[nodiscard]] inline json_form dtype_form(std::function<dtype&()> into) {
  return json_text([into = std::move(into)](const json_value& type) {
    const auto parsed = parse_dtype(type.text);
    if (parsed) into() = *parsed;
    return parsed ? "" : "is not a known dtype";
  });
}

}  // namespace cairn::inline v0_1::detail

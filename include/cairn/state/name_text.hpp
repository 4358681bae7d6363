// SPDX-License-Identifier: MIT
// Names as template arguments, and tables of them that are joined at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1::detail {

template <std::size_t Size>
struct name_text {
  std::array<char, Size> chars{};

  consteval name_text(const char (&text)[Size]) noexcept {
    for (std::size_t i = 0; i < Size; ++i) chars[i] = text[i];
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {chars.data(), Size - 1}; }
};

/// The elements of all arrays, in their order.
template <class Element, std::size_t... Sizes>
constexpr std::array<Element, (0 + ... + Sizes)> join_arrays(const std::array<Element, Sizes>&... arrays) {
  std::array<Element, (0 + ... + Sizes)> joined{};
  [[maybe_unused]] auto at = joined.begin();
  [[maybe_unused]] const auto append = [&](const auto& array) {
    for (const Element& each : array) *at++ = each;
  };
  (append(arrays), ...);
  return joined;
}

}  // namespace cairn::inline v0_1::detail

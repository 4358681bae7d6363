// Joins arrays at compile time.
#pragma once

#include <array>
#include <cstddef>

namespace cairn::detail {

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

}  // namespace cairn::detail

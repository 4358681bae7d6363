// SPDX-License-Identifier: MIT
// Counts the memory that this program has allocated and not yet freed.
#pragma once

#include <cstddef>

namespace hostile {

/// False under a sanitizer, which has a malloc of its own: nothing is counted.
[[nodiscard]] bool counts_memory() noexcept;

/// The most bytes that were allocated at the same time while `act` ran, beyond those from before. Of all threads.
template <class Act>
std::size_t peak_of(const Act& act);

namespace detail {
void begin_peak() noexcept;
std::size_t end_peak() noexcept;
}  // namespace detail

template <class Act>
std::size_t peak_of(const Act& act) {
  detail::begin_peak();
  act();
  return detail::end_peak();
}

}  // namespace hostile

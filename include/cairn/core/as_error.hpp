// SPDX-License-Identifier: MIT
// Converts any exception to a cairn::error.
#pragma once

#include <exception>
#include <initializer_list>
#include <string>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// Converts any exception to cairn::error: errors of the system are errc::io, too little memory is errc::no_memory, and
/// unknown ones are errc::invalid, also a std::length_error: Cairn itself asks a container for its `max_size` first.
/// `what` starts the message, except for a cairn::error, which stays as it is, and where there is no memory for it.
[[nodiscard]] error as_error(const std::exception_ptr& cause, std::initializer_list<sentence_part> what) noexcept;

/// Calls `act`, and throws what it throws as cairn::error.
template <class Act>
auto with_errors(const std::string& what, const Act& act) {
  try {
    return act();
  } catch (...) {
    throw error(as_error(std::current_exception(), {what}));
  }
}

}  // namespace cairn::inline v0_1::detail

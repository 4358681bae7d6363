// SPDX-License-Identifier: MIT
// Converts any exception to a cairn::error.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// Converts any exception to cairn::error: errors of the system are errc::io, too little memory is errc::no_memory, and what is not known is
/// errc::invalid, also a std::length_error: Cairn itself asks a container for its `max_size` first. `what` is the start of the message, except for a
/// cairn::error, which stays as it is.
[[nodiscard]] inline error as_error(const std::exception_ptr& cause, const std::string& what) {
  try {
    std::rethrow_exception(cause);
  } catch (const error& ours) {
    return ours;
  } catch (const std::bad_alloc&) {
    return {errc::no_memory, what + ": not enough memory"};
  } catch (const std::system_error& other) {  // of a user's store, or a thread that cannot be started
    return {errc::io, what + ": " + other.what()};
  } catch (const std::exception& other) {
    return {errc::invalid, what + ": " + other.what()};
  } catch (...) {
    return {errc::invalid, what + ": something was thrown that is no std::exception"};
  }
}

/// Calls `act`, and throws what it throws as cairn::error.
template <class Act>
auto with_errors(const std::string& what, const Act& act) {
  try {
    return act();
  } catch (...) {
    throw error(as_error(std::current_exception(), what));
  }
}

}  // namespace cairn::inline v0_1::detail

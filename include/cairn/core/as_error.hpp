// Any exception as cairn::error.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "cairn/core/error.hpp"

namespace cairn::detail {

/// Converts any exception to cairn::error; `what` is the start of the message.
[[nodiscard]] inline error as_error(const std::exception_ptr& cause, const std::string& what) {
  try {
    std::rethrow_exception(cause);
  } catch (const error& ours) {
    return ours;
  } catch (const std::bad_alloc&) {
    return {errc::io, what + ": not enough memory"};
  } catch (const std::length_error&) {  // a container of more elements than it can have
    return {errc::io, what + ": not enough memory"};
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

}  // namespace cairn::detail

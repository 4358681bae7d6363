// SPDX-License-Identifier: MIT
// Numbers that the program sets and a checkpoint has, too, such as a learning rate: a load that replaces one says so.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "cairn/state/adapter.hpp"

namespace cairn::inline v0_1 {

/// A number of the state that the program sets before it restores: a learning rate, a batch size. It is saved and
/// loaded as the `T`. Where the checkpoint has another value than the program, `load_report::replaced` and the event
/// `restored` have a line such as "optimizer.rate: 0.01 in the program, 0.1 in the checkpoint".
template <class T>
requires(std::is_arithmetic_v<T>)
struct setting {
  T value{};  ///< the number itself

  setting() = default;
  setting(T number) noexcept : value(number) {}
  /// The number itself.
  [[nodiscard]] operator T&() noexcept { return value; }
  /// The number itself.
  [[nodiscard]] operator const T&() const noexcept { return value; }
};

namespace detail {
/// The line about a number that a load replaces, after its path.
[[nodiscard]] std::string about_replaced(double here, double stored);
}  // namespace detail

template <class T>
struct adapter<setting<T>> {
  static T get(const setting<T>& from) noexcept { return from.value; }
  static void set(setting<T>& to, T stored) noexcept { to.value = stored; }
  static std::vector<std::string> check(const setting<T>& to, T stored) {
    if (to.value == stored) return {};
    return {detail::about_replaced(static_cast<double>(to.value), static_cast<double>(stored))};
  }
};

}  // namespace cairn::inline v0_1

// Finds classes that have the operations of a container, tensor or pointer from a base class: they may have further members.
#pragma once

#include <string_view>
#include <type_traits>

#include "cairn/state/category.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::detail {

template <class Class, class Result, bool Noexcept>
std::type_identity<Class> class_of_function(Result (Class::*)() noexcept(Noexcept));

template <class Class, class Result, class Argument, bool Noexcept>
std::type_identity<Class> class_of_unary(Result (Class::*)(Argument) noexcept(Noexcept));

#define CAIRN_OPERATION(find, name)                                                                              \
  if constexpr (requires { requires !std::is_same_v<decltype(detail::find(&T::name)), std::type_identity<T>>; }) \
    return decltype(detail::find(&T::name)){};                                                                   \
  else

/// The base class of T that declares one of the operations by which T has its category. T itself if there is none.
template <class T>
consteval auto find_operations_base() {
  if constexpr (category_of<T>() == category::random) {
    CAIRN_OPERATION(class_of_unary, discard)
    CAIRN_OPERATION(class_of_function, reset)
    return std::type_identity<T>{};
  } else if constexpr (range_type<T> || tensor_type<T>) {
    CAIRN_OPERATION(class_of_const, size)
    CAIRN_OPERATION(class_of_const, begin)
    CAIRN_OPERATION(class_of_const, data)
    CAIRN_OPERATION(class_of_const, shape)
    CAIRN_OPERATION(class_of_const, sizes)
    CAIRN_OPERATION(class_of_const, data_handle)
    return std::type_identity<T>{};
  } else {
    CAIRN_OPERATION(class_of_const, get)
    CAIRN_OPERATION(class_of_const, has_value)
    CAIRN_OPERATION(class_of_const, size)
    CAIRN_OPERATION(class_of_const, expired)
    CAIRN_OPERATION(class_of_const, is_lock_free)
    CAIRN_OPERATION(class_of_const, native)
    CAIRN_OPERATION(class_of_const, ok)
    return std::type_identity<T>{};
  }
}

#undef CAIRN_OPERATION

template <class T>
using operations_base = typename decltype(find_operations_base<T>())::type;

/// Larger than Base, unless Base has padding at its end in which a derived class puts members.
template <class Base>
struct with_one_more : Base {
  char more;
};

template <class T, class Base>
inline constexpr bool is_argument_of = false;
template <class T, template <class...> class Base, class... Arguments>
inline constexpr bool is_argument_of<T, Base<Arguments...>> = (std::is_same_v<T, Arguments> || ...);

/// Libraries whose containers have further members only for their own purposes.
consteval bool is_of_known_library(std::string_view name) {
  for (const std::string_view library : {"std::", "__gnu_", "boost::", "absl::", "folly::", "xt::"})
    if (name.starts_with(library)) return true;
  return false;
}

/// Whether T may have members that its operations do not show: it has them from a base class, and neither are both of the same size,
/// nor is T an argument of the base class (CRTP), nor of a library that is known.
template <class T>
consteval bool may_lose_members() {
  if constexpr (is_of_known_library(type_name_view<T>())) {
    return false;
  } else {
    using base = operations_base<T>;
    if constexpr (std::is_same_v<base, T> || is_argument_of<T, base>)
      return false;
    else
      return sizeof(T) != sizeof(base) || sizeof(with_one_more<base>) == sizeof(base);
  }
}

}  // namespace cairn::detail

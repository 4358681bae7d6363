// SPDX-License-Identifier: MIT
// The class of an object behind a pointer to a base class: what Cairn needs RTTI for. Without RTTI, such pointers are refused.
#pragma once

#include <memory>
#include <type_traits>
#include <typeinfo>

namespace cairn::inline v0_1::detail {

/// A whole object and its class.
struct dynamic_object {
  const void* address;
  const std::type_info* type;
};

#if defined(__cpp_rtti)
inline constexpr bool has_rtti = true;

template <class Type>
inline constexpr const std::type_info* type_info_of = &typeid(Type);

template <class Base>
dynamic_object whole_object(const Base& object) {
  if constexpr (std::is_polymorphic_v<Base>)
    return {dynamic_cast<const void*>(std::addressof(object)), &typeid(object)};
  else
    return {std::addressof(object), &typeid(Base)};
}
#else
inline constexpr bool has_rtti = false;

template <class Type>
inline constexpr const std::type_info* type_info_of = nullptr;

template <class Base>
dynamic_object whole_object(const Base& object) {
  return {std::addressof(object), nullptr};
}
#endif

}  // namespace cairn::inline v0_1::detail

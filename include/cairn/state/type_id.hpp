// SPDX-License-Identifier: MIT
// Tells types apart, without RTTI too; and the class of an object behind a pointer to a base class, which needs RTTI.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

/// One variable for each type; shared libraries with hidden symbols have one each.
template <class Type>
inline char variable_of_type = 0;

/// A type. Equal for a type in two shared libraries, where variables may have two addresses: compared by name.
struct type_id {
  std::string_view name;         ///< as the compiler spells it
  std::size_t size = 0;          ///< bytes of an object
  const void* unique = nullptr;  ///< of a type whose name other types may have, such as one in an anonymous namespace

  friend bool operator==(const type_id&, const type_id&) = default;
  friend auto operator<=>(const type_id&, const type_id&) = default;
};

template <class Type>
consteval type_id make_type_id() {
  // Names of types without linkage have such characters: "(anonymous namespace)::a", "{anonymous}::a", "f()::a".
  const bool tells = type_name_view<Type>().find_first_of("({") == std::string_view::npos;
  return {type_name<Type>(), sizeof(Type), tells ? nullptr : &variable_of_type<Type>};
}

template <class Type>
inline constexpr type_id type_id_of = make_type_id<Type>();

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

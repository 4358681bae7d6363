// SPDX-License-Identifier: MIT
// Tells types apart, without RTTI too; what a pointer may point to, and the class of the object behind a pointer to a
// base class, which needs RTTI.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include "cairn/state/member_name.hpp"
#include "cairn/state/words.hpp"

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

/// One class of a list.
struct listed_type {
  const type_id* type;
  const std::type_info* dynamic;            ///< the same for RTTI
  std::span<const std::string_view> names;  ///< the name that a checkpoint stores, then the former ones
  std::string_view own;                     ///< the name without `named`; empty if the class is made by a template
};

/// The classes that cairn::polymorphic lists for a base class.
class class_list {
 public:
  constexpr explicit class_list(std::span<const listed_type> types) : types_(types) {}

  /// The class of that type, or null.
  [[nodiscard]] constexpr const listed_type* find(const type_id& type) const noexcept {
    return find_if([&](const listed_type& each) { return *each.type == type; });
  }
  [[nodiscard]] const listed_type* find(const std::type_info& type) const noexcept {
    return find_if([&](const listed_type& each) { return *each.dynamic == type; });
  }
  /// The class that a checkpoint means by that name, or null. Namespaces count only in the names that the user gave.
  [[nodiscard]] constexpr const listed_type* find(std::string_view stored) const noexcept {
    const auto* const named = find_if([&](const listed_type& each) {
      for (const auto name : each.names)
        if (name == stored) return true;
      return false;
    });
    const auto own = class_name_in(stored);
    return named || own.empty() ? named : find_if([&](const listed_type& each) { return each.own == own; });
  }

 private:
  template <class Condition>
  [[nodiscard]] constexpr const listed_type* find_if(const Condition& is_it) const noexcept {
    for (const listed_type& each : types_)
      if (is_it(each)) return &each;
    return nullptr;
  }

  std::span<const listed_type> types_;
};

struct pointer_type {
  const type_id* base;          ///< what it points to
  const class_list& (*list)();  ///< null: objects are of the type `base`
  bool is_const;                ///< points to const: a load replaces the object

  /// Whether it can point to an object of that type.
  [[nodiscard]] bool takes(const type_id& type) const { return list ? list().find(type) != nullptr : type == *base; }
};

inline constexpr type_id unlisted_type{};

/// An object behind a pointer.
struct found_object {
  const pointer_type* by;
  const void* address;  ///< of the whole object, not only of a base class of it; null: there is none
  const type_id* type;  ///< of the whole object; `unlisted_type` where the list of its base class does not have it
  const std::type_info* unlisted = nullptr;  ///< then its class
};

/// An entry of a list: a class, or a `named` class.
template <class Type>
struct listing {
  using type = Type;
  static constexpr std::array names{stored_class_name<Type>()};
};
template <name_text Name, class Type, name_text... Former>
struct listing<named<Name, Type, Former...>> {
  using type = Type;
  static constexpr std::array<std::string_view, 1 + sizeof...(Former)> names{Name.view(), Former.view()...};
};

/// The list of types of Base, to find them by.
template <class Base>
inline constexpr const polymorphic<Base>* type_list_of = nullptr;

template <class Deleter>
inline constexpr bool is_default_delete = false;
template <class T>
inline constexpr bool is_default_delete<std::default_delete<T>> = true;

template <class... Listed>
constexpr auto listed_types(const one_of<Listed...>&) noexcept {
  return std::array<listed_type, sizeof...(Listed)>{
      listed_type{&type_id_of<typename listing<Listed>::type>, type_info_of<typename listing<Listed>::type>,
                  listing<Listed>::names, stored_class_name<typename listing<Listed>::type>()}...};
}

template <class Base>
const class_list& class_list_of() {
  static constexpr auto types = detail::listed_types(polymorphic<Base>{});
  static constexpr class_list list(types);
  return list;
}

template <class Base>
consteval auto find_class_list() -> const class_list& (*)() {
  if constexpr (has_type_list<Base>)
    return class_list_of<Base>;
  else
    return nullptr;
}

/// For a pointer to `Element`, which may be const.
template <class Element, class Base = std::remove_cv_t<Element>>
inline constexpr pointer_type pointer_type_of{&type_id_of<Base>, find_class_list<Base>(), std::is_const_v<Element>};

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// Why a pointer cannot be walked: its own type, or the list of types that it may point to.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "cairn/state/adapter.hpp"
#include "cairn/state/type_id.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/stable_name.hpp"

namespace cairn::inline v0_1::detail {

template <class Deleter>
inline constexpr bool is_default_delete = false;
template <class T>
inline constexpr bool is_default_delete<std::default_delete<T>> = true;

template <class Pointer>
consteval bool has_default_delete() {
  if constexpr (requires { typename Pointer::deleter_type; })
    return is_default_delete<typename Pointer::deleter_type>;
  else
    return true;  // what a load makes for a shared pointer has its own deleter
}

/// The names by which checkpoints know the type: those that the user gave, or the one that the compiler spells.
template <class Listed>
struct checkpoint_names {
  static consteval bool contain(std::string_view name) {
    if (listing<Listed>::given.empty()) return type_name_view<typename listing<Listed>::type>() == name;
    for (const auto each : listing<Listed>::given)
      if (each == name) return true;
    return false;
  }
  /// How many types of the list have a name of this type.
  template <class... All>
  static consteval std::size_t uses() {
    if (listing<Listed>::given.empty())
      return (std::size_t{checkpoint_names<All>::contain(type_name_view<typename listing<Listed>::type>())} + ...);
    std::size_t most = 0;
    for (const auto each : listing<Listed>::given) {
      const std::size_t uses = (std::size_t{checkpoint_names<All>::contain(each)} + ...);
      if (uses > most) most = uses;
    }
    return most;
  }
};

template <class Listed>
consteval bool has_empty_name() {
  for (const auto each : listing<Listed>::given)
    if (each.empty()) return true;
  return false;
}

template <class Type, class... All>
inline constexpr std::size_t occurrences = (std::size_t{std::is_same_v<Type, typename listing<All>::type>} + ...);

/// What is wrong with the list cairn::polymorphic<Base>.
template <class Base, class... Listed>
consteval problem problem_of_list(const one_of<Listed...>*) {
  if constexpr (sizeof...(Listed) == 0)
    return problem::listed_types_none;
  else if constexpr (!(requires { sizeof(typename listing<Listed>::type); } && ...))
    return problem::listed_type_incomplete;
  else if constexpr ((detail::has_empty_name<Listed>() || ...))
    return problem::listed_type_without_name;
  else if constexpr (!(std::is_convertible_v<typename listing<Listed>::type*, Base*> && ...))
    return problem::listed_type_not_derived;
  else if constexpr ((std::is_abstract_v<typename listing<Listed>::type> || ...))
    return problem::listed_type_abstract;
  else if constexpr (!std::is_polymorphic_v<Base> && !(std::is_same_v<typename listing<Listed>::type, Base> && ...))
    return problem::base_without_virtual_functions;
  else if constexpr (((occurrences<typename listing<Listed>::type, Listed...> > 1) || ...))
    return problem::listed_type_twice;
  else if constexpr (((checkpoint_names<Listed>::template uses<Listed...>() > 1) || ...))
    return problem::listed_types_of_one_name;
  else if constexpr (((listing<Listed>::given.empty() &&
                       !detail::has_portable_name(type_name_view<typename listing<Listed>::type>())) ||
                      ...))
    return problem::listed_type_without_portable_name;
  else
    return problem::none;
}

/// The same, or none if Base has no list.
template <class Base>
inline constexpr problem list_problem = problem::none;
template <has_type_list Base>
inline constexpr problem list_problem<Base> =
    detail::problem_of_list<Base>(static_cast<const polymorphic<Base>*>(nullptr));

template <class... Listed>
consteval bool are_default_constructible(const one_of<Listed...>*) {
  return (makeable<typename listing<Listed>::type> && ...);
}

template <class Base, class... Listed>
consteval bool lists_derived(const one_of<Listed...>*) {
  return !(std::is_same_v<typename listing<Listed>::type, Base> && ...);
}

/// Whether `delete` through the pointer would miss the destructor of the object's class.
template <class Pointer, class Base>
consteval bool misses_destructor() {
  if constexpr (has_type_list<Base> && requires { typename Pointer::deleter_type; })
    return has_default_delete<Pointer>() && !std::has_virtual_destructor_v<Base> &&
           detail::lists_derived<Base>(static_cast<const polymorphic<Base>*>(nullptr));
  else
    return false;
}

template <class Base>
consteval bool can_make_pointee() {
  if constexpr (has_type_list<Base>)
    return detail::are_default_constructible(static_cast<const polymorphic<Base>*>(nullptr));
  else
    return makeable<Base>;
}

/// For a unique, shared or weak pointer. What the object consists of is not looked at.
template <class Pointer>
consteval problem find_pointer_problem() {
  using element = typename Pointer::element_type;
  using base = std::remove_cv_t<element>;
  if constexpr (std::is_void_v<base>) {
    return problem::pointer_to_void;
  } else if constexpr (!requires { sizeof(base); }) {
    return problem::pointer_to_incomplete;
  } else if constexpr (!requires(Pointer& pointer) { *pointer; } && !requires(Pointer& pointer) { *pointer.lock(); }) {
    return problem::pointer_to_array;
  } else if constexpr (std::is_volatile_v<element>) {
    return problem::pointer_to_volatile;
  } else if constexpr (!has_rtti && (has_type_list<base> || (std::is_polymorphic_v<base> && !std::is_final_v<base>))) {
    return problem::list_without_rtti;
  } else if constexpr ((std::is_polymorphic_v<base> || names_its_types<base>) && !std::is_final_v<base> &&
                       !has_type_list<base>) {
    return problem::polymorphic_without_list;
  } else if constexpr (list_problem<base> != problem::none) {
    return list_problem<base>;
  } else if constexpr (misses_destructor<Pointer, base>()) {
    return problem::base_without_virtual_destructor;
  } else if constexpr (std::is_const_v<element> && !has_default_delete<Pointer>()) {
    return problem::const_pointee_with_deleter;
  } else if constexpr (std::is_const_v<element> && !can_make_pointee<base>()) {
    return problem::const_pointee_without_constructor;
  } else {
    return problem::none;
  }
}

}  // namespace cairn::inline v0_1::detail

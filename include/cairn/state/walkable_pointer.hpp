// Refuses, in one line at compile time, pointers that cannot be walked and lists of types that a load could not use.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "cairn/state/adapter.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/stable_name.hpp"

namespace cairn::detail {

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

template <class T>
inline constexpr bool always_false_for = false;

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

template <class Type, class... All>
inline constexpr std::size_t occurrences = (std::size_t{std::is_same_v<Type, typename listing<All>::type>} + ...);

/// Whether cairn::polymorphic<Base> is a list of types that can be behind a pointer to Base.
template <class Base, class... Listed>
consteval bool is_usable_list(const one_of<Listed...>*) {
  if constexpr (sizeof...(Listed) == 0) {
    static_assert(always_false_for<Base>, "cairn: cairn::polymorphic<Base> lists no class");
  } else if constexpr (!(requires { sizeof(typename listing<Listed>::type); } && ...)) {
    static_assert(always_false_for<Base>,
                  "cairn: cairn::polymorphic<Base> lists a class that is only declared here: include its definition");
  } else if constexpr (!(std::is_convertible_v<typename listing<Listed>::type*, Base*> && ...)) {
    static_assert(always_false_for<Base>,
                  "cairn: cairn::polymorphic<Base> lists a type that is not derived from Base, or not publicly, or "
                  "more than once");
  } else if constexpr ((std::is_abstract_v<typename listing<Listed>::type> || ...)) {
    static_assert(always_false_for<Base>,
                  "cairn: cairn::polymorphic<Base> lists an abstract class, of which no object can exist: list the "
                  "classes derived from it");
  } else if constexpr (!std::is_polymorphic_v<Base> && !(std::is_same_v<typename listing<Listed>::type, Base> && ...)) {
    static_assert(always_false_for<Base>,
                  "cairn: a base class without virtual functions does not tell the type of an object: give it a "
                  "virtual destructor");
  } else if constexpr (((occurrences<typename listing<Listed>::type, Listed...> > 1) || ...)) {
    static_assert(always_false_for<Base>, "cairn: cairn::polymorphic<Base> lists a class twice");
  } else if constexpr (((checkpoint_names<Listed>::template uses<Listed...>() > 1) || ...)) {
    static_assert(always_false_for<Base>,
                  "cairn: cairn::polymorphic<Base> lists two classes of the same name: give them others, "
                  "`cairn::named<\"name\", class>`");
  } else if constexpr (((listing<Listed>::given.empty() &&
                         !has_portable_name(type_name_view<typename listing<Listed>::type>())) ||
                        ...)) {
    static_assert(
        always_false_for<Base>,
        "cairn: cairn::polymorphic<Base> lists a class whose C++ name differs from compiler to compiler: give it one, "
        "`cairn::named<\"name\", class>`");
  } else {
    return true;
  }
  return false;
}

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
           lists_derived<Base>(static_cast<const polymorphic<Base>*>(nullptr));
  else
    return false;
}

template <class Base>
consteval bool can_make_pointee() {
  if constexpr (has_type_list<Base>)
    return are_default_constructible(static_cast<const polymorphic<Base>*>(nullptr));
  else
    return makeable<Base>;
}

/// Whether a unique, shared or weak pointer can be walked. If not, a static_assert says why.
template <class Pointer>
consteval bool is_walkable_pointer() {
  using element = typename Pointer::element_type;
  using base = std::remove_cv_t<element>;
  if constexpr (std::is_void_v<base>) {
    static_assert(always_false_for<Pointer>,
                  "cairn: a pointer to void does not say what it points to: give it the type of the object");
  } else if constexpr (!requires(Pointer& pointer) { *pointer; } && !requires(Pointer& pointer) { *pointer.lock(); }) {
    static_assert(always_false_for<Pointer>,
                  "cairn: a pointer to an array does not say how long it is: use std::vector");
  } else if constexpr (!requires { sizeof(base); }) {
    static_assert(always_false_for<Pointer>,
                  "cairn: a pointer to a class that is only declared here: save it in a unit that sees the definition, "
                  "or list the "
                  "other members in `static auto cairn_fields() { return cairn::fields<...>{}; }`");
  } else if constexpr (std::is_volatile_v<element>) {
    static_assert(always_false_for<Pointer>,
                  "cairn: an object behind a pointer to volatile cannot be saved: drop the volatile");
  } else if constexpr (std::is_polymorphic_v<base> && !std::is_final_v<base> && !has_type_list<base>) {
    static_assert(always_false_for<Pointer>,
                  "cairn: a pointer to a polymorphic class needs the closed list of types that it may point to: "
                  "`template <> struct cairn::polymorphic<Base> : cairn::one_of<A, B> {};`");
  } else {
    if constexpr (has_type_list<base>) {
      if constexpr (!is_usable_list<base>(static_cast<const polymorphic<base>*>(nullptr))) return false;
    }
    if constexpr (misses_destructor<Pointer, base>()) {
      static_assert(always_false_for<Pointer>,
                    "cairn: objects of derived classes are deleted through this pointer: give the base class a virtual "
                    "destructor");
    } else if constexpr (std::is_const_v<element> && !has_default_delete<Pointer>()) {
      static_assert(always_false_for<Pointer>,
                    "cairn: a load replaces an object behind a pointer to const, and must not make one for a deleter "
                    "of yours: drop the "
                    "const");
    } else if constexpr (std::is_const_v<element> && !can_make_pointee<base>()) {
      static_assert(always_false_for<Pointer>,
                    "cairn: a load replaces an object behind a pointer to const, so its type needs a default "
                    "constructor: give it one, or "
                    "drop the const");
    } else {
      return true;
    }
  }
  return false;
}

}  // namespace cairn::detail

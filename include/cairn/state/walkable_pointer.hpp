// Refuses, in one line at compile time, pointers that cannot be walked and lists of types that a load could not use.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

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

/// Why a pointer cannot be walked.
enum class pointer_problem : unsigned char {
  none,
  to_void,
  to_array,
  to_incomplete,
  to_volatile,
  without_list,
  empty_list,
  incomplete_class,  // this one and the next six: in the list
  not_derived,
  abstract_class,
  no_virtual_functions,
  class_twice,
  name_twice,
  no_portable_name,
  no_virtual_destructor,
  const_with_deleter,
  const_without_constructor
};

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

/// What is wrong with the list cairn::polymorphic<Base>.
template <class Base, class... Listed>
consteval pointer_problem problem_of_list(const one_of<Listed...>*) {
  if constexpr (sizeof...(Listed) == 0)
    return pointer_problem::empty_list;
  else if constexpr (!(requires { sizeof(typename listing<Listed>::type); } && ...))
    return pointer_problem::incomplete_class;
  else if constexpr (!(std::is_convertible_v<typename listing<Listed>::type*, Base*> && ...))
    return pointer_problem::not_derived;
  else if constexpr ((std::is_abstract_v<typename listing<Listed>::type> || ...))
    return pointer_problem::abstract_class;
  else if constexpr (!std::is_polymorphic_v<Base> && !(std::is_same_v<typename listing<Listed>::type, Base> && ...))
    return pointer_problem::no_virtual_functions;
  else if constexpr (((occurrences<typename listing<Listed>::type, Listed...> > 1) || ...))
    return pointer_problem::class_twice;
  else if constexpr (((checkpoint_names<Listed>::template uses<Listed...>() > 1) || ...))
    return pointer_problem::name_twice;
  else if constexpr (((listing<Listed>::given.empty() &&
                       !has_portable_name(type_name_view<typename listing<Listed>::type>())) ||
                      ...))
    return pointer_problem::no_portable_name;
  else
    return pointer_problem::none;
}

template <class... Listed>
consteval bool are_default_constructible(const one_of<Listed...>*) {
  return (std::is_default_constructible_v<typename listing<Listed>::type> && ...);
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
    return std::is_default_constructible_v<Base>;
}

/// For a unique, shared or weak pointer. What the object consists of is not looked at.
template <class Pointer>
consteval pointer_problem find_pointer_problem() {
  using element = typename Pointer::element_type;
  using base = std::remove_cv_t<element>;
  if constexpr (std::is_void_v<base>) {
    return pointer_problem::to_void;
  } else if constexpr (!requires { sizeof(base); }) {
    return pointer_problem::to_incomplete;
  } else if constexpr (!requires(Pointer& pointer) { *pointer; } && !requires(Pointer& pointer) { *pointer.lock(); }) {
    return pointer_problem::to_array;
  } else if constexpr (std::is_volatile_v<element>) {
    return pointer_problem::to_volatile;
  } else if constexpr (std::is_polymorphic_v<base> && !std::is_final_v<base> && !has_type_list<base>) {
    return pointer_problem::without_list;
  } else {
    if constexpr (has_type_list<base>) {
      constexpr auto problem = problem_of_list<base>(static_cast<const polymorphic<base>*>(nullptr));
      if constexpr (problem != pointer_problem::none) return problem;
    }
    if constexpr (misses_destructor<Pointer, base>())
      return pointer_problem::no_virtual_destructor;
    else if constexpr (std::is_const_v<element> && !has_default_delete<Pointer>())
      return pointer_problem::const_with_deleter;
    else if constexpr (std::is_const_v<element> && !can_make_pointee<base>())
      return pointer_problem::const_without_constructor;
    else
      return pointer_problem::none;
  }
}

/// Whether a unique, shared or weak pointer can be walked. If not, a static_assert says why.
template <class Pointer, pointer_problem Problem = find_pointer_problem<Pointer>()>
consteval bool is_walkable_pointer() {
  using enum pointer_problem;
  static_assert(Problem != to_void,
                "cairn: a pointer to void does not say what it points to: use a pointer to the type, or std::variant");
  static_assert(Problem != to_array, "cairn: a pointer to an array does not say how long it is: use std::vector");
  static_assert(Problem != to_incomplete,
                "cairn: a pointer to an incomplete type: include its definition where the state is saved and loaded, "
                "or specialise cairn::adapter for the class that has the pointer");
  static_assert(Problem != to_volatile,
                "cairn: an object behind a pointer to volatile cannot be saved: drop the volatile");
  static_assert(Problem != without_list,
                "cairn: a pointer to a polymorphic class needs the closed list of types that it may point to: "
                "`template <> struct cairn::polymorphic<Base> : cairn::one_of<A, B> {};`");
  static_assert(Problem != empty_list, "cairn: cairn::polymorphic<Base> lists no class");
  static_assert(Problem != incomplete_class,
                "cairn: cairn::polymorphic<Base> lists a class that is only declared here: include its definition");
  static_assert(Problem != not_derived,
                "cairn: cairn::polymorphic<Base> lists a type that is not derived from Base, or not publicly, or more "
                "than once");
  static_assert(Problem != abstract_class,
                "cairn: cairn::polymorphic<Base> lists an abstract class, of which no object can exist: list the "
                "classes derived from it");
  static_assert(Problem != no_virtual_functions,
                "cairn: a base class without virtual functions does not tell the type of an object: give it a virtual "
                "destructor");
  static_assert(Problem != class_twice, "cairn: cairn::polymorphic<Base> lists a class twice");
  static_assert(Problem != name_twice,
                "cairn: cairn::polymorphic<Base> lists two classes of the same name: give them others, "
                "`cairn::named<\"name\", class>`");
  static_assert(Problem != no_portable_name,
                "cairn: cairn::polymorphic<Base> lists a class whose C++ name differs from compiler to compiler: give "
                "it one, `cairn::named<\"name\", class>`");
  static_assert(Problem != no_virtual_destructor,
                "cairn: objects of derived classes are deleted through this pointer: give the base class a virtual "
                "destructor");
  static_assert(Problem != const_with_deleter,
                "cairn: a load replaces an object behind a pointer to const, and must not make one for a deleter of "
                "yours: drop the const");
  static_assert(Problem != const_without_constructor,
                "cairn: a load replaces an object behind a pointer to const, so its type needs a default constructor: "
                "give it one, or drop the const");
  return Problem == none;
}

}  // namespace cairn::detail

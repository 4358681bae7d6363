// SPDX-License-Identifier: MIT
// Refuses a state that cannot be saved or loaded: one static_assert names the first such part of its type.
#pragma once

#include <type_traits>

#include "cairn/state/member_name.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/type_search.hpp"
#include "cairn/state/walk_object.hpp"

namespace cairn::inline v0_1::detail {

/// What is wrong with the state.
template <class State, bool Loads>
inline constexpr problem problem_in =
    refusal_of<State>.what == problem::none && Loads && refusal_of<State>.has_const ? problem::const_part
                                                                                    : refusal_of<State>.what;

/// The text that names the part.
template <class State>
inline constexpr part_text part_in =
    refusal_of<State>.what == problem::none ? refusal_of<State>.where_const : refusal_of<State>.where;

template <problem One, problem Other>
inline constexpr bool is_not = One != Other;

/// The walk function of a state whose parts can all be saved, and also loaded if `Loads`. For others one of these
/// assertions fails; the last two arguments are there for its message.
template <class State, bool Loads, problem Problem = problem_in<State, Loads>, auto Part = in_pieces<part_in<State>>()>
consteval walk_function checked_walk() {
  static_assert(
      is_not<Problem, problem::unknown_type>,
      "cairn: this type cannot be saved as it is: make it an aggregate, or give it a public line `static auto "
      "cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, or specialise cairn::adapter<T>, or use another "
      "type, such as std::string for a string_view. If it is not state (a mutex, a thread, a function, a cache): "
      "cairn::skip<T>, or list the other members");
  static_assert(
      is_not<Problem, problem::raw_pointer>,
      "cairn: a raw pointer does not say how much it points to, nor who owns it: use std::vector, unique_ptr, "
      "shared_ptr, span or cairn::tensor_view, or specialise cairn::adapter for its class. If it is not state: "
      "cairn::skip<T>, or list the other members");
  static_assert(
      is_not<Problem, problem::function_pointer>,
      "cairn: a pointer to a function cannot be saved: save which function it is, for example by an enum or a name, "
      "and set the pointer after the load. To leave it out: cairn::skip<T>, or list the other members");
  static_assert(
      is_not<Problem, problem::pointee>,
      "cairn: a pointer to an array, to void, to an incomplete type or to volatile cannot be saved: use std::vector, "
      "a pointer to a std::array or to the type, or std::variant; include the definition, or specialise "
      "cairn::adapter for the class that has the pointer; drop the volatile");
  static_assert(
      is_not<Problem, problem::polymorphic_without_list>,
      "cairn: a pointer to a polymorphic class needs the closed list of types that it may point to: `template <> "
      "struct cairn::polymorphic<Base> : cairn::one_of<A, B> {};`");
  static_assert(
      is_not<Problem, problem::polymorphic_list>,
      "cairn: cairn::polymorphic<Base> lists classes with their definitions, each once and none of them abstract, "
      "that are derived from Base publicly and once. Each has a name of its own, namespaces apart, or is given one "
      "that "
      "is not empty, `cairn::named<\"name\", class>`, as is each class that a template makes");
  static_assert(
      is_not<Problem, problem::list_without_rtti>,
      "cairn: a pointer to a polymorphic class needs RTTI, which tells the class of the object: compile without "
      "-fno-rtti, make the class final, or use std::variant");
  static_assert(
      is_not<Problem, problem::virtual_destructor>,
      "cairn: give the base class a virtual destructor: without virtual functions it does not tell the type of an "
      "object, and a unique_ptr deletes objects of derived classes through it");
  static_assert(is_not<Problem, problem::union_member>,
                "cairn: a union does not say which member is alive: use std::variant, or list the other members with "
                "cairn_fields");
  static_assert(
      is_not<Problem, problem::no_object>,
      "cairn: a load cannot write into a bit-field or a packed or volatile member, and a C array of more than 16 "
      "objects without a default constructor hides the number of members: use a member of a whole type, a std::atomic "
      "or a std::array, or list the other members with cairn_fields");
  static_assert(
      is_not<Problem, problem::unknown_fields>,
      "cairn: C++ does not tell all fields of this aggregate, as it has a base class with members or one that only it "
      "can make (enable_shared_from_this), a reference, more than 100 fields, or more than its std::tuple_size: list "
      "them with a public line `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, and all fields "
      "of a base class with `using cairn_bases = cairn::bases<Base>;`; save what a reference refers to by its owner");
  static_assert(
      is_not<Problem, problem::hidden_members>,
      "cairn: a class with the operations of a container, tensor, optional, pointer or the like may have members that "
      "these do not show: list its members with `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; "
      "}` (a base class with `using cairn_bases = cairn::bases<Base>;`), or specialise cairn::adapter<T>, or, if its "
      "elements, or its values and shape, are all that is to be saved, `template <> inline constexpr bool "
      "cairn::is_container<T> = true;`");
  static_assert(
      is_not<Problem, problem::own_members>,
      "cairn: a list for the base classes leaves out the members of the class itself: add them with a public line "
      "`static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, and all fields of a base class with "
      "`using cairn_bases = cairn::bases<Base>;`");
  static_assert(
      is_not<Problem, problem::line_form>,
      "cairn: a line of this class is private or of another form than `static auto cairn_fields() { return "
      "cairn::fields<&T::a, &T::b>{}; }` (members that are not static), `using cairn_bases = cairn::bases<Base>;` "
      "(direct, public base classes), `using cairn_skip = cairn::names<\"a\">;`, `using cairn_changes = "
      "cairn::changes<...>;`, `static constexpr unsigned cairn_version = 1;` and, with a version and a default "
      "constructor, `void cairn_migrate(cairn::stored_parts& old)`");
  static_assert(
      is_not<Problem, problem::skip_list>,
      "cairn: cairn_skip has each name once, as the struct that contains it has it, and is not for a class with "
      "cairn_fields, whose list leaves out the members that are not state. If a base class of this struct has the "
      "same cairn_skip or cairn_changes, move the line to the struct whose members it names");
  static_assert(
      is_not<Problem, problem::changes>,
      "cairn: cairn_changes is made of cairn::renamed, added, since, removed and resizable, with names as in the "
      "paths of a checkpoint: `removed` names no member of the class, the others do; a former name is not that of "
      "another member; `since<N, ...>` needs a cairn_version of at least N. A cairn_version is that of this class, "
      "not of one in cairn_bases");
  static_assert(
      is_not<Problem, problem::path>,
      "cairn: two members of this class and of the base classes in cairn_bases have the same path in a checkpoint, or "
      "one has the reserved path __metadata__: rename it, or leave it out of the list. A path omits a trailing "
      "underscore, and the content of a base class such as a container is the part `base`");
  static_assert(
      is_not<Problem, problem::const_part>,
      "cairn: what is const can be saved but not loaded into: drop the const, also of the elements of a span, view or "
      "tuple, or list the members to load with cairn_fields; use cairn::state in place of cairn::const_state; in an "
      "adapter pass a part that is not const, or write `get` and `set`");
  static_assert(
      is_not<Problem, problem::const_content>,
      "cairn: a load assigns the content of an optional, a variant or a container, and replaces an object behind a "
      "pointer to const: drop its const, and that of its members; give its type an operator=, or, behind a pointer "
      "without a deleter of yours, a default constructor");
  static_assert(is_not<Problem, problem::no_default_constructor>,
                "cairn: a load makes the elements of a container: give their type a default constructor");
  static_assert(
      is_not<Problem, problem::keys>,
      "cairn: a save and a load order and copy keys: give the keys of an unordered container an operator<, and use "
      "values in place of pointers, whose order is known only after the load, and of what cannot be copied; or save "
      "the elements in a std::vector");
  static_assert(
      is_not<Problem, problem::element_type>,
      "cairn: a span or valarray has elements of fixed layout, and a tensor numbers of up to 64 bits or complex "
      "numbers of these: save the container that owns the elements, or use std::vector, or specialise "
      "cairn::adapter<T>");
  static_assert(
      is_not<Problem, problem::device_tensor>,
      "cairn: a tensor that may be on a device: specialise cairn::adapter<T> with a view that has copy functions "
      "(cairn::any_tensor_view, cairn::device_copies), also if it is always on the host");
  static_assert(
      is_not<Problem, problem::adapter_header>,
      "cairn: include the adapter for this type: cairn/adapters/armadillo.hpp, boost_multi_array.hpp or eigen.hpp, or "
      "of Eigen's other modules eigen/geometry.hpp, eigen/sparse.hpp or eigen/tensor.hpp; for other types of these "
      "libraries save what they are made from, or specialise cairn::adapter<T>");
  static_assert(
      is_not<Problem, problem::adapter_form>,
      "cairn: a cairn::adapter has `view(object)`, which returns a cairn::tensor_view, or `get(object)` and "
      "`set(object, value)`, or `fields(object, field)`; all are static, and what `get` returns contains no T again");
  static_assert(
      is_not<Problem, problem::lacks_operations>,
      "cairn: cairn::is_container<T> is true, but the class lacks an operation that a save or a load calls: give it "
      "those of the corresponding standard type, including the const ones (a sequence: value_type, begin, end, size, "
      "resize; a tensor: data, shape), or specialise cairn::adapter<T>");
  static_assert(
      is_not<Problem, problem::lossy>,
      "cairn: what this type shows is not all that a load needs: of a piecewise distribution save the intervals and "
      "weights; for a sparse sequence, or a sequenced or random_access index of a multi_index_container, specialise "
      "cairn::adapter<T>, with a map from index to value, or a std::vector in that order, as the copy");
  static_assert(
      is_not<Problem, problem::cereal_functions>,
      "cairn: this class needs a cereal function of its own that saves it, and one that loads it (load_and_construct "
      "is not called). Of several choose with CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES. Those of a base class leave out its "
      "own members; if it has none, `template <> inline constexpr bool cairn::use_bridge<T> = true;`");
  static_assert(
      is_not<Problem, problem::cereal_constructor>,  // one that is private to cereal::access cannot be found
      "cairn: a load through cereal functions is tried on a new object first, and load_and_construct is not called: "
      "give this class a default constructor; or, if it has one that is private to cereal::access, `template <> "
      "inline constexpr bool cairn::use_bridge<T> = true;`");
  static_assert(
      is_not<Problem, problem::enum_list>,
      "cairn: cairn::by_name lists values of the enum, each once and with a name of its own: `template <> struct "
      "cairn::by_name<kind> : cairn::enumerators<kind::a, kind::b> {};`. A value without a name in C++ gets one by "
      "`cairn::enumerator<\"name\", value>`");
  if constexpr (Problem == problem::none)
    return walk<State>;
  else
    return nullptr;
}

/// The text that names a part by its type.
template <class T>
inline constexpr part_text type_text = [] {
  part_text text;
  text.add(type_name_view<T>());
  return text;
}();

template <class T>
consteval walk_function checked_part_walk() {
  if constexpr (std::is_const_v<T>) {
    return checked_walk<T, true, problem::const_part, in_pieces<type_text<T>>()>();
  } else {
    return checked_walk<T, true>();
  }
}

template <class T, bool Loads>
consteval walk_function checked_reference_walk() {
  return checked_walk<T, Loads>();
}

}  // namespace cairn::inline v0_1::detail

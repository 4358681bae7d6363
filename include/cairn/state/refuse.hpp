// SPDX-License-Identifier: MIT
// Refuses a state that cannot be saved or loaded: one static_assert names the first such part of its type.
#pragma once

#include <type_traits>

#include "cairn/state/member_name.hpp"
#include "cairn/state/refuse_lines.hpp"
#include "cairn/state/type_search.hpp"
#include "cairn/state/walk_object.hpp"

namespace cairn::inline v0_1::detail {

/// The walk function of a state whose parts can all be saved, and also loaded if `Loads`. For others one of these
/// assertions fails; the last two arguments are there for its message. refuse_lines.hpp has further ones.
template <class State, bool Loads, problem Problem = problem_in<State, Loads>, auto Part = in_pieces<part_in<State>>()>
requires(!is_of_lines(Problem))
consteval walk_function checked_walk() {
  static_assert(
      is_not<Problem, problem::unknown_type>,
      "cairn: this type cannot be saved as it is: make it an aggregate, or give it a public line `static auto "
      "cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, or specialise cairn::adapter<T>. If it is not "
      "state (a mutex, a thread, a function, a cache): cairn::skip<T>, or list the other members");
  static_assert(
      is_not<Problem, problem::raw_pointer>,
      "cairn: a raw pointer does not say how much it points to, nor who owns it: use std::vector, unique_ptr, "
      "shared_ptr, span or cairn::tensor_view, or specialise cairn::adapter for its class. If it is not state: "
      "cairn::skip<T>, or list the other members");
  static_assert(
      is_not<Problem, problem::function_pointer>,
      "cairn: a pointer to a function cannot be saved: save which function it is, for example by an enum or a "
      "name, and set the pointer after the load. To leave it out: cairn::skip<T>, or list the other members");
  static_assert(is_not<Problem, problem::pointer_to_array>,
                "cairn: a pointer to an array does not say how long it is: use std::vector, or for a fixed length a "
                "pointer to a std::array");
  static_assert(is_not<Problem, problem::pointer_to_void>,
                "cairn: a pointer to void does not say what it points to: use a pointer to the type, or std::variant");
  static_assert(
      is_not<Problem, problem::pointer_to_incomplete>,
      "cairn: a pointer to an incomplete type: include its definition where the state is saved and loaded, or "
      "specialise cairn::adapter for the class that has the pointer");
  static_assert(is_not<Problem, problem::polymorphic_without_list>,
                "cairn: a pointer to a polymorphic class needs the closed list of types that it may point to: "
                "`template <> struct cairn::polymorphic<Base> : cairn::one_of<A, B> {};`");
  static_assert(
      is_not<Problem, problem::list_without_rtti>,
      "cairn: a pointer to a polymorphic class needs RTTI, which tells the class of the object: compile without "
      "-fno-rtti, make the class final, or use std::variant");
  static_assert(is_not<Problem, problem::pointer_to_volatile>,
                "cairn: an object behind a pointer to volatile cannot be saved: drop the volatile");
  static_assert(is_not<Problem, problem::listed_types_none>, "cairn: cairn::polymorphic<Base> lists no class");
  static_assert(is_not<Problem, problem::listed_type_incomplete>,
                "cairn: cairn::polymorphic<Base> lists a class that is only declared here: include its definition");
  static_assert(is_not<Problem, problem::listed_type_without_name>,
                "cairn: cairn::polymorphic<Base> gives a class a name or a former name without characters: "
                "`cairn::named<\"name\", class>`");
  static_assert(is_not<Problem, problem::listed_type_not_derived>,
                "cairn: cairn::polymorphic<Base> lists a type that is not derived from Base, or not publicly, or more "
                "than once");
  static_assert(is_not<Problem, problem::listed_type_abstract>,
                "cairn: cairn::polymorphic<Base> lists an abstract class, of which no object can exist: list the "
                "classes derived from it");
  static_assert(is_not<Problem, problem::base_without_virtual_functions>,
                "cairn: a base class without virtual functions does not tell the type of an object: give it a virtual "
                "destructor");
  static_assert(is_not<Problem, problem::listed_type_twice>, "cairn: cairn::polymorphic<Base> lists a class twice");
  static_assert(is_not<Problem, problem::listed_types_of_one_name>,
                "cairn: cairn::polymorphic<Base> lists two classes of the same name: give them others, "
                "`cairn::named<\"name\", class>`");
  static_assert(is_not<Problem, problem::listed_type_without_portable_name>,
                "cairn: cairn::polymorphic<Base> lists a class whose C++ name differs from compiler to compiler: give "
                "it one, `cairn::named<\"name\", class>`");
  static_assert(is_not<Problem, problem::base_without_virtual_destructor>,
                "cairn: objects of derived classes are deleted through this pointer: give the base class a virtual "
                "destructor");
  static_assert(is_not<Problem, problem::const_pointee_with_deleter>,
                "cairn: a load replaces an object behind a pointer to const, and must not make one for a deleter of "
                "yours: drop the const");
  static_assert(is_not<Problem, problem::const_pointee_without_constructor>,
                "cairn: a load replaces an object behind a pointer to const, so its type needs a default constructor: "
                "give it one, or drop the const");
  static_assert(is_not<Problem, problem::union_member>,
                "cairn: a union does not say which member is alive: use std::variant, or list the other members with "
                "cairn_fields");
  static_assert(is_not<Problem, problem::piecewise_distribution>,
                "cairn: a piecewise distribution cannot be read back exactly: it draws nothing of its own, so save the "
                "intervals and weights that you make it from");
  static_assert(
      is_not<Problem, problem::eigen_type>,
      "cairn: for the types of Eigen include cairn/adapters/eigen.hpp, or geometry.hpp, sparse.hpp or tensor.hpp of "
      "cairn/adapters/eigen/; for its other types save what they are made from, or specialise cairn::adapter<T>");
  static_assert(
      is_not<Problem, problem::uncounted>,
      "cairn: the fields of this aggregate cannot be counted, as with a reference member, or with a base class such "
      "as enable_shared_from_this that only it can make: list the members with a public line `static auto "
      "cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`");
  static_assert(is_not<Problem, problem::base_class>,
                "cairn: an aggregate with a base class that has members: add the public lines `using cairn_bases = "
                "cairn::bases<Base>;` and, for its own members, `static auto cairn_fields() { return "
                "cairn::fields<&T::a, &T::b>{}; }`");
  static_assert(
      is_not<Problem, problem::too_many_fields>,
      "cairn: an aggregate of more than 100 fields: group some into a nested struct, or give the type a public "
      "line `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`");
  static_assert(
      is_not<Problem, problem::no_address>,
      "cairn: a bit-field or a packed member has no address of its own, and a C array of more than 16 objects without "
      "a default constructor hides the number of members: use a member of a whole type or a std::array, or "
      "cairn_fields");
  static_assert(
      is_not<Problem, problem::skip_list>,
      "cairn: cairn_skip has a name that no member of this struct has, or has one twice: write each name as in "
      "the struct");
  static_assert(
      is_not<Problem, problem::reference_member>,
      "cairn: a reference member cannot be made by a load: save the object that it refers to by its owner, and "
      "list the other members with cairn_fields");
  static_assert(is_not<Problem, problem::volatile_part>,
                "cairn: a volatile object cannot be saved or loaded as a whole: use std::atomic, or list the other "
                "members with cairn_fields");
  static_assert(is_not<Problem, problem::const_part>,
                "cairn: a const member cannot be loaded into, only saved, nor can a cairn::const_state: drop the "
                "const, also of the elements of a span, view or tuple, or list the members to load with cairn_fields");
  static_assert(
      is_not<Problem, problem::const_adapter_part>,
      "cairn: a part that an adapter passes must not be const: `fields` is called for saves and loads; pass a "
      "member that is not const, or write `get` and `set`");
  static_assert(is_not<Problem, problem::const_content>,
                "cairn: a load makes and assigns the content of an optional, a variant or a container: drop its const");
  static_assert(
      is_not<Problem, problem::inherited_list>,
      "cairn: a class inherits the field list of a base class, without its own members: give it a list of its "
      "own, `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, and for all fields of the "
      "base class `using cairn_bases = cairn::bases<Base>;`");
  static_assert(
      is_not<Problem, problem::unlisted_members>,
      "cairn: a class with a list of base classes and members of its own lists these, too, with a public line "
      "`static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`");
  static_assert(
      is_not<Problem, problem::inaccessible>,
      "cairn: cairn_bases and cairn_fields name direct, public and unambiguous base classes and their members");
  static_assert(
      is_not<Problem, problem::hidden_members>,
      "cairn: a class with the operations of a container, tensor, optional, pointer or the like may have members that "
      "these do not show: list its members with `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }` "
      "(a base class with `using cairn_bases = cairn::bases<Base>;`), or specialise cairn::adapter<T>, or, if its "
      "elements, or its values and shape, are all that is to be saved, `template <> inline constexpr bool "
      "cairn::is_container<T> = true;`");
  static_assert(
      is_not<Problem, problem::tuple_size>,
      "cairn: std::tuple_size of this class is less than the number of its members, so some would be lost: list them "
      "with `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`");
  static_assert(is_not<Problem, problem::no_default_constructor>,
                "cairn: a load makes the elements of a container: give their type a default constructor");
  static_assert(is_not<Problem, problem::keys_without_order>,
                "cairn: keys without an order: the keys of an unordered container need operator<, since it is saved in "
                "their order");
  static_assert(
      is_not<Problem, problem::pointer_keys>,
      "cairn: pointers as keys: their order or that of their objects is known only after the load, or they cannot be "
      "copied; use values as keys, or save the pointers in a std::vector");
  static_assert(
      is_not<Problem, problem::keys_not_copied>,
      "cairn: keys that cannot be copied, as a save or a load does: use values as keys, or save the elements in "
      "a std::vector");
  static_assert(is_not<Problem, problem::span_of_objects>,
                "cairn: a span of elements that are not of fixed layout: save the container that owns them");
  static_assert(is_not<Problem, problem::array_of_objects>,
                "cairn: a valarray of elements that are not of fixed layout: use std::vector");
  static_assert(
      is_not<Problem, problem::device_tensor>,
      "cairn: a tensor that may be on a device: specialise cairn::adapter<T> with a view that has copy functions "
      "(cairn::any_tensor_view, cairn::device_copies), also if it is always on the host");
  static_assert(is_not<Problem, problem::tensor_of_objects>,
                "cairn: a tensor whose elements have no dtype, as numbers of up to 64 bits and complex numbers of "
                "these have: save "
                "its elements in a std::vector, or specialise cairn::adapter<T>");
  static_assert(is_not<Problem, problem::adapter_form>,
                "cairn: a cairn::adapter has `view(object)`, which returns a cairn::tensor_view, or `get(object)` and "
                "`set(object, value)`, or `fields(object, field)`; all are static");
  static_assert(is_not<Problem, problem::cereal_several>,
                "cairn: this class has several cereal functions of one kind, perhaps inherited ones: say which one to "
                "use with CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES");
  static_assert(is_not<Problem, problem::cereal_not_saved>,
                "cairn: this class has a cereal function that loads it, but none that saves it");
  static_assert(is_not<Problem, problem::cereal_not_loaded>,
                "cairn: this class has a cereal function that saves it, but none that loads it");
  static_assert(is_not<Problem, problem::cereal_inherited>,
                "cairn: this class has only the cereal functions of a base class, which leave out its own members: "
                "write functions for it, or, if it has no members of its own, "
                "`template <> inline constexpr bool cairn::use_bridge<T> = true;`");
  static_assert(
      is_not<Problem, problem::cereal_no_default_constructor>,  // one that is private to cereal::access cannot be found
      "cairn: a load through cereal functions is tried on a new object first, so this class needs a default "
      "constructor: write one; or, if it has one that is private to cereal::access, "
      "`template <> inline constexpr bool cairn::use_bridge<T> = true;`");
  static_assert(is_not<Problem, problem::cereal_load_and_construct>,
                "cairn: load_and_construct is not called, as a load fills objects in place: give this class a default "
                "constructor, and a cereal function that loads it");
  static_assert(
      is_not<Problem, problem::change_of_no_member>,
      "cairn: cairn_changes names a member that the class does not have, removes one that it has, or is not "
      "made of cairn::renamed, added, since, removed and resizable: write each name as in a path of a checkpoint");
  static_assert(is_not<Problem, problem::former_name_in_use>,
                "cairn: cairn_changes gives a member a former name that another member has: give the class a "
                "cairn_version, and set the member in cairn_migrate");
  static_assert(is_not<Problem, problem::version_too_small>,
                "cairn: cairn::since<N, ...> is for a class with a cairn_version of at least N");
  static_assert(is_not<Problem, problem::version_type>,
                "cairn: a version is a public line `static constexpr unsigned cairn_version = 1;`");
  static_assert(is_not<Problem, problem::versioned_base>,
                "cairn: a class in cairn_bases has a cairn_version: give the version to the derived class instead, "
                "which saves the same members");
  static_assert(is_not<Problem, problem::migration>,
                "cairn: cairn_migrate is a public member `void cairn_migrate(cairn::stored_parts& old)` of a class "
                "with a cairn_version and a default constructor");
  static_assert(
      is_not<Problem, problem::enum_names>,
      "cairn: cairn::by_name lists a value or a name twice, a value of another type, or one without a name in "
      "C++: give it one, `cairn::enumerator<\"name\", value>`");
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
    return checked_walk<T, true, problem::const_adapter_part, in_pieces<type_text<T>>()>();
  } else {
    return checked_walk<T, true>();
  }
}

template <class T, bool Loads>
consteval walk_function checked_reference_walk() {
  return checked_walk<T, Loads>();
}

}  // namespace cairn::inline v0_1::detail

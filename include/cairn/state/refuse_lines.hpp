// SPDX-License-Identifier: MIT
// Refuses a state because of a line that one of its classes has for Cairn, or because of a type of another library.
// refuse.hpp has the other reasons: a function template would be too long with all of them.
#pragma once

#include "cairn/state/operations.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/type_search.hpp"

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

/// The same as the function in refuse.hpp, for problems of which one of these assertions fails. A function that it
/// calls would make the message longer.
template <class State, bool Loads, problem Problem = problem_in<State, Loads>, auto Part = in_pieces<part_in<State>>()>
requires(is_of_lines(Problem))
consteval walk_function checked_walk() {
  static_assert(is_not<Problem, problem::fields_line>,
                "cairn: cairn_fields is a public line `static auto cairn_fields() { return cairn::fields<&T::a, "
                "&T::b>{}; }`: this class has one that is private or of another form");
  static_assert(is_not<Problem, problem::bases_line>,
                "cairn: cairn_bases is a public line `using cairn_bases = cairn::bases<Base>;`: this class has one "
                "that is private or of another form");
  static_assert(
      is_not<Problem, problem::skip_line>,
      "cairn: cairn_skip is a public line `using cairn_skip = cairn::names<\"cache\", \"lock\">;`: this class "
      "has one that is private or of another form");
  static_assert(is_not<Problem, problem::changes_line>,
                "cairn: cairn_changes is a public line `using cairn_changes = cairn::changes<...>;`: this class has "
                "one that is private or of another form");
  static_assert(is_not<Problem, problem::skip_beside_fields>,
                "cairn: a class with cairn_fields has no cairn_skip: its list leaves out the members that are not "
                "state");
  static_assert(is_not<Problem, problem::lines_of_base>,
                "cairn: cairn_skip and cairn_changes belong to the class that contains them, and a base class of this "
                "struct has the same: move the line from the base class to the struct whose members it names");
  static_assert(is_not<Problem, problem::no_member>,
                "cairn: cairn_fields lists only the addresses of members that each object has, such as `&T::a`: no "
                "static members, functions or values");
  static_assert(is_not<Problem, problem::enum_list>,
                "cairn: cairn::by_name lists the values of the enum: `template <> struct cairn::by_name<kind> : "
                "cairn::enumerators<kind::a, kind::b> {};`");
  static_assert(is_not<Problem, problem::equal_paths>,
                "cairn: two members of this class, or a member and one of a base class in cairn_bases, have the same "
                "path in a checkpoint: rename one of them, or leave it out of cairn_fields or cairn_bases. A trailing "
                "underscore is no part of a path, and the content of a base class such as a container is the part "
                "`base`");
  static_assert(is_not<Problem, problem::reserved_path>,
                "cairn: the path __metadata__ is reserved by the format of the files: rename the member");
  static_assert(is_not<Problem, problem::sparse_sequence>,
                "cairn: a sparse sequence goes over some of its elements only, so the others, and the places of all, "
                "would be lost: specialise cairn::adapter<T>, with a map from index to value as the copy");
  static_assert(is_not<Problem, problem::multi_index>,
                "cairn: a sequenced or random_access index of a multi_index_container has an order of its own, which a "
                "load would lose: specialise cairn::adapter<T>, with a std::vector of the elements in that order as "
                "the copy");
  static_assert(is_not<Problem, problem::multi_array_without_adapter>,
                "cairn: for a multi_array of Boost include cairn/adapters/boost_multi_array.hpp");
  static_assert(is_not<Problem, problem::armadillo_type>,
                "cairn: for Mat, Col, Row, Cube and SpMat of Armadillo include cairn/adapters/armadillo.hpp; for its "
                "other types save what they are made from, or specialise cairn::adapter<T>");
  static_assert(
      is_not<Problem, problem::lacks_operations>,
      "cairn: cairn::is_container<T> is true, but the class lacks an operation that a save or a load calls: "
      "give it those of the corresponding standard type, including the const ones (a sequence: value_type, begin, end, "
      "size, resize; a tensor: data, shape), or specialise cairn::adapter<T>");
  static_assert(is_not<Problem, problem::adapter_of_itself>,
                "cairn: what `get` of a cairn::adapter<T> returns contains a T again, so that a save would have no "
                "end: return the parts of the T");
  static_assert(is_not<Problem, problem::not_assigned>,
                "cairn: a load assigns the elements of this container, which their operator= does not allow: give it "
                "one (a const or reference member takes it away: drop its const, or make it a value)");
  static_assert(is_not<Problem, problem::foreign_type>,
                "cairn: this type of the standard library or of the compiler cannot be saved: use another type, such "
                "as std::string for a string_view, or specialise cairn::adapter<T>. If it is not state (a mutex, a "
                "thread, a function, a cache): cairn::skip<T>, or list the other members");
  return nullptr;
}

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// What is known at compile time about a type: why it cannot be saved, and the types of its parts.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "cairn/state/copies.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/member_problem.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/skipped_fields.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/type_problem.hpp"

namespace cairn::inline v0_1::detail {

struct type_node;

struct type_part {
  std::string_view name;
  type_node (*node)() = nullptr;
  problem own = problem::none;  ///< const_part or volatile_part
  std::size_t bucket = 0;       ///< some number that depends on the type
  bool is_number = false;
};

/// What a search needs to know about a type. It calls functions that give nodes, so that a type can contain itself.
struct type_node {
  problem own = problem::none;
  std::string_view type_name;  ///< only where there is a problem, or the search needs it
  std::string_view member;     ///< name or number of the member that is the problem; empty: the type is, or unknown
  std::span<const type_part> parts;  ///< a problem of one of them comes before `own`
};

template <class T>
constexpr type_node node_of();

template <int>
constexpr void compared_function() {}

/// Whether the compiler compares the addresses of functions at compile time. g++ 12 does not with -fsanitize=undefined.
inline constexpr bool compares_functions = __builtin_constant_p(static_cast<void (*)()>(compared_function<0>) ==
                                                                static_cast<void (*)()>(compared_function<1>));

template <class T>
using plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T>
inline constexpr problem problem_of_part =
    std::is_volatile_v<std::remove_reference_t<T>>                                         ? problem::volatile_part
    : std::is_const_v<std::remove_reference_t<T>> || std::is_same_v<plain<T>, const_state> ? problem::const_part
                                                                                           : problem::none;

// An expression, not a function: clang must evaluate it for a type that contains itself, before functions are complete.
#define CAIRN_PART(name, ...)                                                                             \
  type_part {                                                                                             \
    name, node_of<plain<__VA_ARGS__>>, problem_of_part<__VA_ARGS__>, sizeof(plain<__VA_ARGS__>) / 8 % 32, \
        scalar_type<plain<__VA_ARGS__>> && !names_its_values<plain<__VA_ARGS__>>                          \
  }

/// The name of an element of a tuple; "*" from the tenth on.
constexpr std::string_view index_name(std::size_t i) {
  return i < 10 ? std::string_view("0123456789").substr(i, 1) : "*";
}

/// The type of field I; a number for one that is not state.
template <class Record, std::size_t I, class Field>
using searched_field = std::conditional_t<is_skipped_field<Record, I, Field>(), char, Field>;

/// The types of the parts of T, with the names that a message gives them.
template <class T>
constexpr auto find_parts() {
  constexpr auto kind = category_of<T>();
  if constexpr (kind == category::record) {
    return []<class... Types, std::size_t... I>(type_list<Types...>, std::index_sequence<I...>) {
      return std::array<type_part, sizeof...(I)>{
          CAIRN_PART((stored_field_name<T, I>.view()), searched_field<T, I, Types>)...};
    }(field_types<T>{}, std::make_index_sequence<arity<T>>{});
  } else if constexpr (kind == category::listed) {
    return []<auto... Members, class... Bases>(fields<Members...>, bases<Bases...>) {
      return std::array<type_part, sizeof...(Members) + sizeof...(Bases)>{
          CAIRN_PART(listed_name<Members>(), type_of<Members>)..., CAIRN_PART("", Bases)...};
    }(own_fields<T>{}, base_list<T>{});
  } else if constexpr (kind == category::tuple) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<type_part, sizeof...(I)>{CAIRN_PART(index_name(I), std::tuple_element_t<I, T>)...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (kind == category::fixed_array) {
    return std::array{CAIRN_PART("*", decltype(std::declval<T&>()[0]))};
  } else if constexpr (kind == category::variant) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<type_part, sizeof...(I)>{CAIRN_PART("", std::variant_alternative_t<I, T>)...};
    }(std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (kind == category::tensor) {
    return std::array{CAIRN_PART("", decltype(*detail::data_of(std::declval<T&>())))};
  } else if constexpr (has_tensor_view_adapter<T>) {
    return std::array{CAIRN_PART("", typename view_of_adapter<T>::value_type)};
  } else if constexpr (kind == category::span) {
    return std::array{CAIRN_PART("*", typename T::element_type)};
  } else if constexpr (kind == category::sequence || kind == category::set || kind == category::valarray) {
    return std::array{CAIRN_PART("*", typename T::value_type)};
  } else if constexpr (kind == category::map) {
    return std::array{CAIRN_PART("(key)", typename T::key_type), CAIRN_PART("*", typename T::mapped_type)};
  } else if constexpr (kind == category::container_adaptor) {
    return std::array{CAIRN_PART("", typename T::container_type)};
  } else if constexpr (kind == category::optional) {
    return std::array{CAIRN_PART("", std::remove_reference_t<decltype(*std::declval<T&>())>)};
  } else if constexpr (kind == category::unique_pointer || kind == category::shared_pointer ||
                       kind == category::weak_pointer) {
    using object = std::remove_cv_t<typename T::element_type>;
    if constexpr (has_type_list<object>)
      return []<class... Listed>(const one_of<Listed...>*) {
        return std::array<type_part, sizeof...(Listed)>{CAIRN_PART("", typename listing<Listed>::type)...};
      }(static_cast<const polymorphic<object>*>(nullptr));
    else
      return std::array{CAIRN_PART("", object)};
  } else if constexpr (has_copy_adapter<T> || kind == category::atomic) {
    return std::array{CAIRN_PART("", copy_type<T>)};
  } else if constexpr (is_per_rank<T>) {
    return std::array{CAIRN_PART("", decltype(T::value))};
  } else {
    return std::array<type_part, 0>{};
  }
}

template <class T>
inline constexpr auto parts_of = find_parts<T>();

template <class T>
constexpr type_node node_of() {
  constexpr problem own = problem_of<T>();
  if constexpr (own == problem::none && compares_functions)
    return {own, {}, {}, parts_of<T>};
  else if constexpr (own == problem::none)
    return {own, type_name_view<T>(), {}, parts_of<T>};
  else if constexpr (is_of_content(own))
    return {own, type_name_view<T>(), {}, parts_of<T>};
  else if constexpr (own == problem::equal_paths)
    return {own, type_name_view<T>(), name_of_two<T>(), {}};
  else
    return {own, type_name_view<T>(), refused_member<T, own>(), {}};
}

template <class T>
constexpr type_part part_as(std::string_view name) {
  return CAIRN_PART(name, T);
}

#undef CAIRN_PART

}  // namespace cairn::inline v0_1::detail

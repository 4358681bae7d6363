// SPDX-License-Identifier: MIT
// Why a cairn::adapter cannot be used.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/listed.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/record.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
using view_of_adapter = decltype(adapter<T>::view(std::declval<T&>()));

/// An adapter whose view says the type of the elements.
template <class T>
concept has_tensor_view_adapter =
    has_view_adapter<T> && std::is_same_v<view_of_adapter<T>, tensor_view<typename view_of_adapter<T>::value_type>>;

template <class Element>
concept tensor_element = scalar_type<Element> || (complex_type<Element> && scalar_type<typename Element::value_type>);

struct fields_name {
  int fields;
};
/// The name is ambiguous in it if the adapter has it.
template <class Adapter>
struct with_fields_name : Adapter, fields_name {};

/// Whether the adapter has a member `fields`, which may be a template.
template <class Adapter>
concept names_fields = !std::is_final_v<Adapter> && !requires { &with_fields_name<Adapter>::fields; };

template <class Record>
consteval auto record_types() {
  if constexpr (std::is_same_v<field_types<Record>, no_address>)
    return type_list<>{};
  else
    return field_types<Record>{};
}

/// Whether each object of type Part has a T in it, so that a T which is saved as a Part has no end. Looks through 16 types.
template <class Part, class T, int Depth = 0>
consteval bool always_has() {
  if constexpr (std::is_same_v<Part, T>)
    return true;
  else if constexpr (Depth == 16)
    return false;
  else if constexpr (has_copy_adapter<Part>)
    return always_has<copy_type<Part>, T, Depth + 1>();
  else if constexpr (category_of<Part>() == category::tuple)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (always_has<std::remove_cvref_t<std::tuple_element_t<I, Part>>, T, Depth + 1>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<Part>>{});
  else if constexpr (category_of<Part>() == category::record)
    return []<class... Types>(type_list<Types...>) {
      return (always_has<std::remove_cv_t<Types>, T, Depth + 1>() || ...);
    }(record_types<Part>());
  else if constexpr (category_of<Part>() == category::listed)
    return []<auto... Members, class... Bases>(fields<Members...>, bases<Bases...>) {
      return (always_has<std::remove_cv_t<type_of<Members>>, T, Depth + 1>() || ...) ||
             (always_has<Bases, T, Depth + 1>() || ...);
    }(own_fields<Part>{}, base_list<Part>{});
  else
    return false;
}

template <class T>
consteval problem problem_of_adapter() {
  if constexpr (has_view_adapter<T>) {
    if constexpr (has_tensor_view_adapter<T>)
      return tensor_element<std::remove_cv_t<typename view_of_adapter<T>::value_type>> ? problem::none
                                                                                       : problem::tensor_of_objects;
    else
      return std::is_convertible_v<view_of_adapter<T>, any_tensor_view> ? problem::none : problem::adapter_form;
  } else if constexpr (has_copy_adapter<T>) {
    if constexpr (always_has<copy_type<T>, T>())
      return problem::adapter_of_itself;
    else
      return requires(T& object, copy_type<T> copy) {
        adapter<T>::set(object, std::move(copy));
      } ? problem::none : problem::adapter_form;
  } else {
    return names_fields<adapter<T>> ? problem::none : problem::adapter_form;
  }
}

}  // namespace cairn::inline v0_1::detail

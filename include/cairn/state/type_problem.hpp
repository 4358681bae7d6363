// SPDX-License-Identifier: MIT
// Why a type cannot be saved or loaded, its parts apart.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "cairn/state/adapter_problem.hpp"
#include "cairn/state/column_copy.hpp"
#include "cairn/state/container_copies.hpp"
#include "cairn/state/derived.hpp"
#include "cairn/state/enum_table.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/path_problem.hpp"
#include "cairn/state/pointer_problem.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/refused_member.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/user_lines.hpp"

namespace cairn::inline v0_1::detail {

/// What is wrong with elements that a load assigns, those of containers that are saved as columns.
template <class T>
consteval problem problem_of_assignment() {
  if constexpr (std::is_const_v<T>)
    return problem::const_content;
  else
    return std::is_move_assignable_v<T> || !flat<T> ? problem::none : problem::not_assigned;
}

/// A set, or a map that is saved as entries, makes a copy of each key.
template <class T>
consteval bool copies_keys() {
  if constexpr (category_of<T>() == category::set)
    return !columnar<typename T::value_type>;
  else
    return !columnar_map<T> && !keyed_map<T>;
}

/// What is wrong with the keys of a set or a map.
template <class T>
consteval problem problem_of_keys() {
  using key = typename T::key_type;
  constexpr auto kind = category_of<key>();
  if constexpr (kind == category::unique_pointer || kind == category::shared_pointer || kind == category::weak_pointer)
    return problem::pointer_keys;
  else if constexpr (!requires { typename T::key_compare; } && !has_key_order<key>())
    return problem::keys_without_order;
  else if constexpr (copies_keys<T>() && !std::is_copy_constructible_v<key>)
    return problem::keys_not_copied;
  else
    return problem::none;
}

template <class T>
consteval problem problem_of_container() {
  using element = typename T::value_type;
  if constexpr (category_of<T>() == category::map) {
    using key = typename T::key_type;
    using mapped = typename T::mapped_type;
    if constexpr (problem_of_assignment<key>() != problem::none)
      return problem_of_assignment<key>();
    else if constexpr (problem_of_assignment<mapped>() != problem::none)
      return problem_of_assignment<mapped>();
    else if constexpr (!default_made<key> || (columnar<mapped> && !makeable<mapped>))
      return problem::no_default_constructor;
    else
      return problem_of_keys<T>();
  } else if constexpr (category_of<T>() == category::set) {
    if constexpr (problem_of_assignment<element>() != problem::none)
      return problem_of_assignment<element>();
    else if constexpr (!makeable<element>)
      return problem::no_default_constructor;
    else
      return problem_of_keys<T>();
  } else if constexpr (category_of<T>() == category::valarray && !flat<element>) {
    return problem::array_of_objects;
  } else if constexpr (problem_of_assignment<element>() != problem::none && !contiguous<T>) {
    return problem_of_assignment<element>();
  } else {
    return columnar<element> && !makeable<element> ? problem::no_default_constructor : problem::none;
  }
}

/// A sequence that goes over a part of its elements only, such as the sparse vectors of Boost.uBLAS.
template <class T>
concept sparse_sequence = requires(const T& t) { t.nnz(); };

/// Of a container of Boost that does not show in its operations how it differs from others.
consteval problem problem_of_boost_type(std::string_view type) {
  if (!type.starts_with("boost::multi")) return problem::none;
  if (type.starts_with("boost::multi_array")) return problem::multi_array_without_adapter;
  const auto has = [&](std::string_view index) { return type.find(index) != std::string_view::npos; };
  return has("boost::multi_index::sequenced<") || has("boost::multi_index::random_access<") ? problem::multi_index
                                                                                            : problem::none;
}

/// Whether a class like a tuple is larger than the elements of the tuple with all padding that they may need.
template <class T, std::size_t... I>
consteval bool is_larger_than_elements(std::index_sequence<I...>) {
  constexpr std::size_t unit = alignof(T);
  const auto needs = [](std::size_t size) { return (size + unit - 1) / unit * unit; };
  return sizeof(T) > ((std::is_polymorphic_v<T> ? sizeof(void*) : 0) + ... + needs(sizeof(std::tuple_element_t<I, T>)));
}

template <class T>
consteval problem problem_of_tuple() {
  constexpr std::size_t size = std::tuple_size_v<T>;
  if constexpr (std::is_aggregate_v<T>) {
    if constexpr (arity<T> > size) return problem::tuple_size;
  } else if constexpr (size > 0 && !is_of_known_library(type_name_view<T>())) {
    if constexpr (is_larger_than_elements<T>(std::make_index_sequence<size>{})) return problem::tuple_size;
  }
  return problem::none;
}

/// The header that has an adapter for a type of Eigen, if one has.
consteval eigen_header eigen_header_of(std::string_view type) {
  if (type.starts_with("Eigen::Sparse")) return eigen_header::sparse;
  if (type.starts_with("Eigen::Tensor")) return eigen_header::tensor;
  for (const std::string_view each : {"Quaternion<", "Rotation2D<", "UniformScaling<", "AngleAxis<", "Translation<",
                                      "Transform<", "AlignedBox<", "Hyperplane<", "ParametrizedLine<"})
    if (type.find(each) != std::string_view::npos) return eigen_header::geometry;
  return eigen_header::dense;
}

template <class T>
concept eigen_header_is_included = requires { sizeof(eigen_adapters<eigen_header_of(type_name_view<T>())>); };

/// Whether a user cannot add lines to the type: it is of the standard library, built in, or of a lambda expression.
template <class T>
consteval bool is_of_compiler() {
  constexpr std::string_view name = type_name_view<T>();
  return !std::is_class_v<T> || name.starts_with("std::") || name.find("<lambda(") != std::string_view::npos ||
         name.find("(lambda at ") != std::string_view::npos;
}

template <class T>
consteval problem problem_of_unsupported() {
  if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T>)
    return problem::raw_pointer;
  else if constexpr (std::is_union_v<T>)
    return problem::union_member;
  else if constexpr (piecewise_type<T>)
    return problem::piecewise_distribution;
  else if constexpr (type_name_view<T>().starts_with("Eigen::"))
    return eigen_header_is_included<T> ? problem::eigen_type : problem::eigen_without_adapter;
  else if constexpr (is_of_compiler<T>())
    return problem::foreign_type;
  else
    return names_cairn_fields<T> ? problem::fields_line : problem::unknown_type;
}

template <class T>
auto data_of(T& tensor) {
  if constexpr (mdspan_type<T>)
    return tensor.data_handle();
  else
    return tensor.data();
}

template <class T>
concept says_its_device = requires(T& t) { t.is_cuda(); } || requires(T& t) { t.device(); };

template <class T>
consteval problem problem_of_tensor() {
  using element = std::remove_cvref_t<decltype(*detail::data_of(std::declval<T&>()))>;
  if (!mdspan_type<T> && says_its_device<T>) return problem::device_tensor;
  return tensor_element<element> ? problem::none : problem::tensor_of_objects;
}

template <class T>
consteval bool has_const_alternative() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return (std::is_const_v<std::variant_alternative_t<I, T>> || ...);
  }(std::make_index_sequence<std::variant_size_v<T>>{});
}

/// Categories of classes that have them by their operations, which may come from a base class.
consteval bool is_by_operations(category kind) {
  switch (kind) {
    case category::calendar:
    case category::tensor:
    case category::span:
    case category::bits:
    case category::valarray:
    case category::path:
    case category::sequence:
    case category::map:
    case category::set:
    case category::container_adaptor:
    case category::optional:
    case category::unique_pointer:
    case category::shared_pointer:
    case category::weak_pointer:
    case category::atomic:
    case category::random:
      return true;
    default:
      return false;
  }
}

template <class T>
consteval problem problem_of_fields() {
  constexpr problem own = problem_of_record<T>();
  if constexpr (own == problem::uncounted)
    return refused_member<T, problem::reference_member>().empty() ? own : problem::reference_member;
  else if constexpr (own == problem::none && has_skip_list<T>)
    return is_list_of_fields<T>() ? own : problem::skip_list;
  else
    return own;
}

/// Of a record or a listed class.
template <class T>
consteval problem problem_of_class() {
  constexpr problem found = [] {
    if constexpr (constexpr problem of_lines = problem_of_lines<T>(); of_lines != problem::none)
      return of_lines;
    else if constexpr (category_of<T>() == category::record)
      return problem_of_fields<T>();
    else if constexpr (problem_of_lists<T>() != problem::none)
      return problem_of_lists<T>();
    else
      return name_of_two<T>().empty() ? problem::none : problem::equal_paths;
  }();
  if constexpr (found == problem::none && (has_changes<T> || declares_version<T> || declares_migration<T>))
    return problem_of_changes<T>();
  else
    return found;
}

/// Why a T cannot be saved or loaded, whatever its parts are. T is neither const nor volatile nor a reference.
template <class T>
consteval problem problem_of() {
  constexpr auto kind = category_of<T>();
  if constexpr (is_by_operations(kind)) {
    if constexpr (may_lose_members<T>()) return problem::derived_class;
  }
  if constexpr (kind == category::unsupported)
    return problem_of_unsupported<T>();
  else if constexpr (kind == category::record || kind == category::listed)
    return problem_of_class<T>();
  else if constexpr (kind == category::bridged && requires { bridge<T>::problem(); })
    return bridge<T>::problem();
  else if constexpr (has_enum_names<T>)
    return has_distinct_names<T>() ? problem::none : problem::enum_names;
  else if constexpr (names_its_values<T>)
    return problem::enum_list;
  else if constexpr (kind == category::unique_pointer || kind == category::shared_pointer ||
                     kind == category::weak_pointer)
    return find_pointer_problem<T>();
  else if constexpr (kind == category::sequence && sparse_sequence<T>)
    return problem::sparse_sequence;
  else if constexpr ((kind == category::sequence || kind == category::set) &&
                     problem_of_boost_type(type_name_view<T>()) != problem::none)
    return problem_of_boost_type(type_name_view<T>());
  else if constexpr (kind == category::sequence || kind == category::set || kind == category::map ||
                     kind == category::valarray)
    return problem_of_container<T>();
  else if constexpr (kind == category::tuple)
    return problem_of_tuple<T>();
  else if constexpr (kind == category::tensor)
    return problem_of_tensor<T>();
  else if constexpr (kind == category::adapted)
    return problem_of_adapter<T>();
  else if constexpr (kind == category::span)
    return flat<std::remove_cv_t<typename T::element_type>> ? problem::none : problem::span_of_objects;
  else if constexpr (kind == category::optional)
    return std::is_const_v<std::remove_reference_t<decltype(*std::declval<T&>())>> ? problem::const_content
                                                                                   : problem::none;
  else if constexpr (kind == category::variant)
    return has_const_alternative<T>() ? problem::const_content : problem::none;
  else
    return problem::none;
}

}  // namespace cairn::inline v0_1::detail

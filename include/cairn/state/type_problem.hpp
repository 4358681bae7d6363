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

#include "cairn/state/column_copy.hpp"
#include "cairn/state/container_copies.hpp"
#include "cairn/state/enum_table.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/member_problem.hpp"
#include "cairn/state/pointer_problem.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/problem.hpp"
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

/// Whether an aggregate has more fields than elements as a tuple.
template <class T>
consteval bool loses_elements() {
  if constexpr (std::is_aggregate_v<T>)
    return arity<T> > std::tuple_size_v<T>;
  else
    return false;
}

/// Whether a user cannot add lines to the type: it is of the standard library, built in, or of a lambda expression.
template <class T>
consteval bool is_of_compiler() {
  constexpr std::string_view name = type_name_view<T>();
  return !std::is_class_v<T> || name.starts_with("std::") || name.find("<lambda(") != std::string_view::npos ||
         name.find("(lambda at ") != std::string_view::npos;
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
consteval problem problem_of_unsupported() {
  if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T>)
    return std::is_function_v<std::remove_pointer_t<T>> || std::is_member_function_pointer_v<T>
               ? problem::function_pointer
               : problem::raw_pointer;
  else if constexpr (std::is_union_v<T>)
    return problem::union_member;
  else if constexpr (piecewise_type<T>)
    return problem::piecewise_distribution;
  else if constexpr (type_name_view<T>().starts_with("Eigen::"))
    return problem::eigen_type;
  else if constexpr (type_name_view<T>().starts_with("arma::"))
    return problem::armadillo_type;
  else if constexpr (is_of_compiler<T>())
    return problem::foreign_type;
  else if constexpr (names_cairn_fields<T>)
    return problem::fields_line;
  else if constexpr (tensor_type<T> && !mdspan_type<T> && says_its_device<T>)
    return problem::device_tensor;
  else
    return category_of_operations<T>() == category::unsupported ? problem::unknown_type : problem::hidden_members;
}

template <class T>
consteval bool has_const_alternative() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return (std::is_const_v<std::variant_alternative_t<I, T>> || ...);
  }(std::make_index_sequence<std::variant_size_v<T>>{});
}

/// The container in an adaptor is a protected member.
template <class T>
struct inside_adaptor : T {
  static consteval bool has_container() {
    return requires(inside_adaptor& adaptor) { static_cast<typename T::container_type&>(adaptor.c); };
  }
};

/// Whether a class has the operations that a save or a load calls, beside those by which it has its category.
template <class T>
consteval bool has_needed_operations() {
  constexpr auto kind = category_of<T>();
  if constexpr (kind == category::unsupported || kind == category::record)
    return false;
  else if constexpr (kind == category::sequence)
    return requires(T& t, const T& c) {
      c.begin() == c.end();
      t.resize(c.size());
    };
  else if constexpr (kind == category::span || kind == category::valarray)
    return requires(const T& c) { c[c.size()]; };
  else if constexpr (kind == category::bits)
    return requires(T& t, const T& c) { t[0] = static_cast<bool>(c[c.size()]); };
  else if constexpr (kind == category::set)
    return has_key_operations<T> && requires(T& t, typename T::value_type each) { t.insert(t.end(), std::move(each)); };
  else if constexpr (kind == category::map)
    return has_key_operations<T> && requires(T& t, const typename T::key_type& key) {
      t.emplace_hint(t.end(), std::piecewise_construct, std::forward_as_tuple(key), std::tuple<>());
    };
  else if constexpr (kind == category::container_adaptor && !std::is_final_v<T>)
    return inside_adaptor<T>::has_container();
  else if constexpr (kind == category::optional)
    return requires(T& t) { t.emplace(); };
  else if constexpr (kind == category::unique_pointer)
    return requires(T& t) {
      !t;
      *t;
      t.reset();
    };
  else if constexpr (kind == category::shared_pointer)
    return std::is_constructible_v<std::shared_ptr<void>, const T&, void*>;
  else if constexpr (kind == category::path)
    return requires(T& t, const T& c) { t.assign(std::string(c.string())); };
  else
    return kind != category::container_adaptor && kind != category::weak_pointer;
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
  if constexpr (is_container<T> && kind != category::adapted && kind != category::listed && !has_needed_operations<T>())
    return problem::lacks_operations;
  else if constexpr (kind == category::unsupported)
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
    return loses_elements<T>() ? problem::tuple_size : problem::none;
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

// SPDX-License-Identifier: MIT
// Why a type cannot be saved or loaded, its parts apart.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/container_copies.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/parts.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/tensor_view.hpp"

namespace cairn::inline v0_1::detail {

/// One for each thing that a user can do about it.
enum class problem : unsigned char {
  none,
  unknown_type,
  raw_pointer,
  function_pointer,
  pointee,  // of a smart pointer: an array, void, incomplete or volatile
  polymorphic_without_list,
  polymorphic_list,
  list_without_rtti,
  virtual_destructor,
  union_member,
  no_object,       // a bit-field, or a packed or volatile member
  unknown_fields,  // of an aggregate
  hidden_members,  // of a class with the operations of a container or the like
  own_members,     // that the lines of the class leave out
  line_form,
  skip_list,
  changes,
  path,
  const_part,     // for a load only
  const_content,  // of what a load assigns or makes as a whole
  no_default_constructor,
  keys,
  element_type,  // of a span, valarray or tensor
  device_tensor,
  adapter_header,
  adapter_form,
  lacks_operations,  // though it is said to be a container
  lossy,             // its operations do not show all
  cereal_functions,
  cereal_constructor,
  enum_list
};

// Classes that are saved by their members.

template <class Record, class... Types>
consteval bool has_no_object(type_list<Types...>) {
  return ((alignof(Types) > alignof(Record) || std::is_volatile_v<Types>) || ...);
}

template <class Record>
consteval problem problem_of_record() {
  if constexpr (counted_fields<Record>.has_union)
    return problem::union_member;
  else if constexpr (!is_bindable<Record>)
    return problem::unknown_fields;
  else if constexpr (!parts_of<Record>::are_known)
    return problem::no_object;
  else if constexpr (detail::has_no_object<Record>(field_types<Record>{}))
    return problem::no_object;
  else if constexpr (has_reference_member<Record>())
    return problem::unknown_fields;
  else if constexpr (has_skip_list<Record>)
    return is_list_of_fields<Record>() ? problem::none : problem::skip_list;
  else
    return problem::none;
}

/// The names of all parts of a record or listed class in a checkpoint, with those of base classes. Empty: not state.
template <class T>
consteval auto part_names() {
  constexpr bool is_refused = [] {
    if constexpr (category_of<T>() == category::record)
      return problem_of_record<T>() != problem::none;
    else
      return false;
  }();
  if constexpr (is_refused)
    return std::array<std::string_view, 0>{};
  else
    return []<class... Parts, std::size_t... I>(type_list<Parts...>, std::index_sequence<I...>) {
      [[maybe_unused]] const auto names_at = []<std::size_t At, class Part>(std::type_identity<Part>) {
        if constexpr (At < parts_of<T>::base_count && has_member_names<Part>)
          return part_names<Part>();
        else
          return std::array{parts_of<T>::names[At]};
      };
      return join_arrays<std::string_view>(names_at.template operator()<I>(std::type_identity<Parts>{})...);
    }(typename parts_of<T>::types{}, std::make_index_sequence<parts_of<T>::count>{});
}

/// The name that two parts of a listed class have; empty: each has its own.
template <class T>
consteval std::string_view name_of_two() {
  constexpr auto names = part_names<T>();
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!names[i].empty() && names[i] == names[j]) return names[i];
  return {};
}

/// Whether a class with a field list has a `cairn_skip`, and not that of a class whose members it lists.
template <class T, auto... Members, class... Bases>
consteval bool skips_beside_list(fields<Members...>, bases<Bases...>) {
  return has_skip_list<T> && !(has_skip_list<Bases> || ...) && (std::is_same_v<class_of<Members>, T> && ...);
}

template <class T, auto... Members, class... Bases>
consteval bool can_access(fields<Members...>, bases<Bases...>) {
  return (requires(T& object) { object.*Members; } && ...) &&
         ((std::is_base_of_v<Bases, T> && !std::is_same_v<Bases, T> && std::is_convertible_v<T*, Bases*>) && ...);
}

/// Whether the aggregate has these direct base classes, in this order, and nothing else.
template <class T, class... Bases>
consteval bool has_only(bases<Bases...>) {
  if constexpr (std::is_aggregate_v<T>)
    return counted_fields<T>.known && counted_fields<T>.fields == sizeof...(Bases) &&
           requires { T{exactly<Bases>{}...}; };
  else
    return false;
}

/// What is wrong with the field list and the list of base classes.
template <class T>
consteval problem problem_of_lists() {
  if constexpr (!lists_members<T>() || !detail::can_access<T>(own_fields<T>{}, base_list<T>{}))
    return problem::line_form;
  else if constexpr (!has_own_list<T>() && !(has_base_list<T> && detail::has_only<T>(base_list<T>{})))
    return problem::own_members;
  else
    return name_of_two<T>().empty() ? problem::none : problem::path;
}

template <class T>
consteval bool is_usable_change(const change& each) {
  if (has_member_named<T>(each.name) == (each.what == change::kind::removed)) return false;
  if (each.what == change::kind::renamed && has_member_named<T>(each.former)) return false;
  if constexpr (has_version<T>)
    return each.what != change::kind::since || each.version <= T::cairn_version;
  else
    return each.what != change::kind::since;
}

template <class T>
consteval bool has_usable_changes() {
  if constexpr (changed<T>) {
    using list = change_rows<typename T::cairn_changes>;
    for (const change& each : list::all)
      if (!is_usable_change<T>(each)) return false;
    return list::known;
  } else {
    return true;
  }
}

/// What is wrong with the changes, the version and the migration of a class that can be saved without them.
template <class T>
consteval problem problem_of_changes() {
  constexpr bool has_versioned_base = []<class... Bases>(bases<Bases...>) {
    return (has_version<Bases> || ...);
  }(base_list<T>{});
  if constexpr (has_versioned_base || !has_usable_changes<T>()) {
    return problem::changes;
  } else if constexpr (has_version<T>) {
    return std::is_same_v<decltype(T::cairn_version), const unsigned> &&
                   (!declares_migration<T> || (has_migration<T> && default_made<T>))
               ? problem::none
               : problem::line_form;
  } else {
    return declares_migration<T> && !declares_version<T> ? problem::line_form : problem::none;
  }
}

/// Of a record or a listed class.
template <class T>
consteval problem problem_of_class() {
  constexpr problem found = [] {
    if constexpr (has_unusable_line<T>())
      return problem::line_form;
    else if constexpr (category_of<T>() == category::record)
      return problem_of_record<T>();
    else
      return detail::skips_beside_list<T>(own_fields<T>{}, base_list<T>{}) ? problem::skip_list : problem_of_lists<T>();
  }();
  if constexpr (found == problem::none && (has_changes<T> || declares_version<T> || declares_migration<T>))
    return problem_of_changes<T>();
  else
    return found;
}

// Pointers, and the lists of types that they may point to.

template <class Pointer>
consteval bool has_default_delete() {
  if constexpr (requires { typename Pointer::deleter_type; })
    return is_default_delete<typename Pointer::deleter_type>;
  else
    return true;  // what a load makes for a shared pointer has its own deleter
}

template <class Listed>
constexpr bool is_called(std::string_view name) {
  for (const auto each : listing<Listed>::names)
    if (each == name) return true;
  return false;
}

/// Whether the names of the class are good for a checkpoint, and no other class of the list has one of them.
template <class Listed, class... All>
consteval bool has_own_names() {
  for (const auto each : listing<Listed>::names)
    if (each.empty() || (std::size_t{is_called<All>(each)} + ...) != 1) return false;
  return true;
}

template <class Type, class... All>
inline constexpr bool is_once_among = (std::size_t{std::is_same_v<Type, typename listing<All>::type>} + ...) == 1;

/// Whether objects behind a pointer to Base can be of the types in the list.
template <class Base, class... Listed>
consteval bool is_usable_list(const one_of<Listed...>*) {
  if constexpr (sizeof...(Listed) == 0 || !(requires { sizeof(typename listing<Listed>::type); } && ...))
    return false;
  else if constexpr (!(std::is_convertible_v<typename listing<Listed>::type*, Base*> && ...))
    return false;
  else
    return ((!std::is_abstract_v<typename listing<Listed>::type> &&
             is_once_among<typename listing<Listed>::type, Listed...> && has_own_names<Listed, Listed...>()) &&
            ...);
}

template <class Base, class... Listed>
consteval bool lists_only(const one_of<Listed...>*) {
  return (std::is_same_v<typename listing<Listed>::type, Base> && ...);
}

template <class... Listed>
consteval bool are_makeable(const one_of<Listed...>*) {
  return (makeable<typename listing<Listed>::type> && ...);
}

/// What is wrong with the list of types, if Base has one.
template <class Pointer, class Base>
consteval problem problem_of_type_list() {
  if constexpr (!has_type_list<Base>)
    return problem::none;
  else if constexpr (!detail::is_usable_list<Base>(type_list_of<Base>))
    return problem::polymorphic_list;
  else if constexpr (detail::lists_only<Base>(type_list_of<Base>))
    return problem::none;
  else if constexpr (requires { typename Pointer::deleter_type; } && has_default_delete<Pointer>())
    return std::has_virtual_destructor_v<Base> ? problem::none : problem::virtual_destructor;
  else
    return std::is_polymorphic_v<Base> ? problem::none : problem::virtual_destructor;
}

template <class Base>
consteval bool can_make_pointee() {
  if constexpr (has_type_list<Base>)
    return detail::are_makeable(type_list_of<Base>);
  else
    return makeable<Base>;
}

/// For a unique, shared or weak pointer. What the object consists of is not looked at.
template <class Pointer>
consteval problem problem_of_pointer() {
  using element = typename Pointer::element_type;
  using base = std::remove_cv_t<element>;
  if constexpr (std::is_void_v<base> || std::is_volatile_v<element> || !requires { sizeof(base); })
    return problem::pointee;
  else if constexpr (!requires(Pointer& pointer) { *pointer; } && !requires(Pointer& pointer) { *pointer.lock(); })
    return problem::pointee;  // an array
  else if constexpr (!has_rtti && (has_type_list<base> || (std::is_polymorphic_v<base> && !std::is_final_v<base>)))
    return problem::list_without_rtti;
  else if constexpr ((std::is_polymorphic_v<base> || names_its_types<base>) && !std::is_final_v<base> &&
                     !has_type_list<base>)
    return problem::polymorphic_without_list;
  else if constexpr (problem_of_type_list<Pointer, base>() != problem::none)
    return problem_of_type_list<Pointer, base>();
  else if constexpr (std::is_const_v<element> && !(has_default_delete<Pointer>() && can_make_pointee<base>()))
    return problem::const_content;
  else
    return problem::none;
}

// Containers, tensors and adapters.

/// Whether a load can assign the element; it assigns those of containers that are saved as columns.
template <class T>
consteval bool can_be_assigned() {
  return !std::is_const_v<T> && (std::is_move_assignable_v<T> || !flat<T>);
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
    return problem::keys;
  else if constexpr (!requires { typename T::key_compare; } && !has_key_order<key>())
    return problem::keys;
  else
    return copies_keys<T>() && !std::is_copy_constructible_v<key> ? problem::keys : problem::none;
}

template <class T>
consteval problem problem_of_container() {
  using element = typename T::value_type;
  if constexpr (category_of<T>() == category::map) {
    using key = typename T::key_type;
    using mapped = typename T::mapped_type;
    if constexpr (!can_be_assigned<key>() || !can_be_assigned<mapped>())
      return problem::const_content;
    else if constexpr (!default_made<key> || (columnar<mapped> && !makeable<mapped>))
      return problem::no_default_constructor;
    else
      return problem_of_keys<T>();
  } else if constexpr (category_of<T>() == category::set) {
    if constexpr (!can_be_assigned<element>())
      return problem::const_content;
    else if constexpr (!makeable<element>)
      return problem::no_default_constructor;
    else
      return problem_of_keys<T>();
  } else if constexpr (category_of<T>() == category::valarray && !flat<element>) {
    return problem::element_type;
  } else if constexpr (!contiguous<T> && !can_be_assigned<element>()) {
    return problem::const_content;
  } else {
    return columnar<element> && !makeable<element> ? problem::no_default_constructor : problem::none;
  }
}

/// What the operations of a container of Boost do not show.
consteval problem problem_of_boost_type(std::string_view type) {
  const auto has = [&](std::string_view part) { return type.find(part) != std::string_view::npos; };
  if (type.starts_with("boost::multi_array")) return problem::adapter_header;
  return type.starts_with("boost::multi_index") &&
                 (has("boost::multi_index::sequenced<") || has("boost::multi_index::random_access<"))
             ? problem::lossy
             : problem::none;
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

template <class Element>
concept tensor_element = scalar_type<Element> || complex_type<Element>;

template <class T>
consteval problem problem_of_tensor() {
  using element = std::remove_cvref_t<decltype(*detail::data_of(std::declval<T&>()))>;
  if (!mdspan_type<T> && says_its_device<T>) return problem::device_tensor;
  return tensor_element<element> ? problem::none : problem::element_type;
}

template <class T>
using view_of_adapter = decltype(adapter<T>::view(std::declval<T&>()));

/// An adapter whose view says the type of the elements.
template <class T>
concept has_tensor_view_adapter =
    has_view_adapter<T> && std::is_same_v<view_of_adapter<T>, tensor_view<typename view_of_adapter<T>::value_type>>;

struct fields_name {
  int fields;
};
/// The name is ambiguous in it if the adapter has it.
template <class Adapter>
struct with_fields_name : Adapter, fields_name {};

/// Whether the adapter has a member `fields`, which may be a template.
template <class Adapter>
concept names_fields = !std::is_final_v<Adapter> && !requires { &with_fields_name<Adapter>::fields; };

/// Whether each object of type Part has a T in it, so that a T saved as a Part has no end. Looks through 16 types.
template <class Part, class T, int Depth = 0>
consteval bool always_has() {
  if constexpr (std::is_same_v<Part, T>)
    return true;
  else if constexpr (Depth == 16)
    return false;
  else if constexpr (has_copy_adapter<Part>)
    return always_has<copy_type<Part>, T, Depth + 1>();
  else if constexpr (has_parts<Part>)
    return []<class... Types>(type_list<Types...>) {
      return (always_has<std::remove_cvref_t<Types>, T, Depth + 1>() || ...);
    }(typename parts_of<Part>::types{});
  else
    return false;
}

template <class T>
concept has_set_adapter = requires(T& object, copy_type<T> copy) { adapter<T>::set(object, std::move(copy)); };

template <class T>
consteval problem problem_of_adapter() {
  if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)  // the library has compiled vectors of these
    return problem::adapter_form;
  else if constexpr (has_tensor_view_adapter<T>)
    return tensor_element<std::remove_cv_t<typename view_of_adapter<T>::value_type>> ? problem::none
                                                                                     : problem::element_type;
  else if constexpr (has_view_adapter<T>)
    return std::is_convertible_v<view_of_adapter<T>, any_tensor_view> ? problem::none : problem::adapter_form;
  else if constexpr (has_copy_adapter<T>)
    return always_has<copy_type<T>, T>() || !has_set_adapter<T> ? problem::adapter_form : problem::none;
  else
    return names_fields<adapter<T>> ? problem::none : problem::adapter_form;
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
    return problem::lossy;
  else if constexpr (type_name_view<T>().starts_with("Eigen::") || type_name_view<T>().starts_with("arma::"))
    return problem::adapter_header;
  else if constexpr (!std::is_class_v<T> || type_name_view<T>().starts_with("std::"))
    return problem::unknown_type;
  else if constexpr (has_unusable_line<T>())
    return problem::line_form;
  else if constexpr (tensor_type<T> && !mdspan_type<T> && says_its_device<T>)
    return problem::device_tensor;
  else
    return category_of_operations<T>() == category::unsupported ? problem::unknown_type : problem::hidden_members;
}

/// What a load makes and assigns as a whole.
template <class T>
consteval bool has_const_content() {
  if constexpr (category_of<T>() == category::optional)
    return std::is_const_v<std::remove_reference_t<decltype(*std::declval<T&>())>>;
  else
    return []<class... Types>(type_list<Types...>) { return (std::is_const_v<Types> || ...); }(alternatives_of<T>{});
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

/// Why a T cannot be saved or loaded. T is neither const nor volatile nor a reference.
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
    return has_distinct_names<T>() ? problem::none : problem::enum_list;
  else if constexpr (names_its_values<T>)
    return problem::enum_list;
  else if constexpr (kind == category::unique_pointer || kind == category::shared_pointer ||
                     kind == category::weak_pointer)
    return problem_of_pointer<T>();
  else if constexpr (kind == category::sequence && requires(const T& t) { t.nnz(); })
    return problem::lossy;  // goes over a part of its elements only, such as the sparse vectors of Boost.uBLAS
  else if constexpr ((kind == category::sequence || kind == category::set) &&
                     problem_of_boost_type(type_name_view<T>()) != problem::none)
    return problem_of_boost_type(type_name_view<T>());
  else if constexpr (kind == category::sequence || kind == category::set || kind == category::map ||
                     kind == category::valarray)
    return problem_of_container<T>();
  else if constexpr (kind == category::tensor)
    return problem_of_tensor<T>();
  else if constexpr (kind == category::adapted)
    return problem_of_adapter<T>();
  else if constexpr (kind == category::span)
    return flat<std::remove_cv_t<typename T::element_type>> ? problem::none : problem::element_type;
  else if constexpr (kind == category::optional || kind == category::variant)
    return has_const_content<T>() ? problem::const_content : problem::none;
  else
    return problem::none;
}

}  // namespace cairn::inline v0_1::detail

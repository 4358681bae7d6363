// SPDX-License-Identifier: MIT
// Which types are saved through their cereal functions, and which of these functions would leave out members.
#pragma once

#include <cereal/details/traits.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/adapters/cereal/archives.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/aggregate.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
concept has_cereal_functions = cereal::traits::detail::count_output_serializers<T, cereal_output>::value > 0 ||
                               cereal::traits::detail::count_input_serializers<T, cereal_input>::value > 0;

/// False for a record that Cairn refuses itself, with base classes, or with such a field.
template <class T>
consteval bool record_suffices();

template <class Field>
consteval bool field_suffices() {
  if constexpr (std::is_const_v<Field> || category_of<Field>() == category::unsupported)
    return false;
  else if constexpr (category_of<Field>() == category::fixed_array)
    return field_suffices<std::remove_reference_t<decltype(std::declval<Field&>()[0])>>();
  else if constexpr (category_of<Field>() == category::record)
    return record_suffices<Field>();
  else
    return true;
}

template <class T>
consteval bool record_suffices() {
  if constexpr (std::is_empty_v<T>)
    return true;
  else if constexpr (std::is_same_v<field_types<T>, no_address> || counted_fields<T>.bases > 0)
    return false;
  else
    return []<class... Fields>(type_list<Fields...>) {
      return sizeof...(Fields) > 0 && (field_suffices<Fields>() && ...);
    }(field_types<T>{});  // not parts_of: the category of T is not known yet
}

/// Not std::string_view::find, which g++ does not evaluate here with -fsanitize=undefined.
constexpr bool names_namespace(std::string_view text, std::string_view part) noexcept {
  for (std::size_t begin = 0; begin + part.size() <= text.size(); ++begin) {
    std::size_t same = 0;
    while (same < part.size() && text[begin + same] == part[same]) ++same;
    if (same == part.size()) return true;
  }
  return false;
}

/// Types with cereal functions, except those of the standard library and records, which Cairn saves better without. To
/// look for functions for a type of Cairn, or a template of one, finds `cairn::save` too, which asks for the category
/// of the type: such a type needs `use_bridge`.
template <class T>
consteval bool needs_cereal() {
  if constexpr (!std::is_class_v<T> || type_name<T>().starts_with("std::") ||
                names_namespace(type_name<T>(), "cairn::"))
    return false;
  else if constexpr (!has_cereal_functions<T>)
    return false;
  else if constexpr (std::is_aggregate_v<T> && !std::is_polymorphic_v<T>)
    return !record_suffices<T>();
  else
    return true;
}

template <class T>
concept cereal_class = use_bridge<T> || needs_cereal<T>();

/// The functions below compete with those that cereal finds for a T. They win against functions for a base class of T.
namespace inherited {

struct marker {};

struct output : cereal_output {
  using cereal_output::cereal_output;
};
struct input : cereal_input {
  using cereal_input::cereal_input;
};

template <class Archive, class T>
marker CEREAL_SERIALIZE_FUNCTION_NAME(Archive& to, T& object);
template <class Archive, class T>
marker CEREAL_SERIALIZE_FUNCTION_NAME(Archive& to, T& object, std::uint32_t version);
template <class Archive, class T>
marker CEREAL_SAVE_FUNCTION_NAME(Archive& to, const T& object);
template <class Archive, class T>
marker CEREAL_SAVE_FUNCTION_NAME(Archive& to, const T& object, std::uint32_t version);
template <class Archive, class T>
marker CEREAL_LOAD_FUNCTION_NAME(Archive& to, T& object);
template <class Archive, class T>
marker CEREAL_LOAD_FUNCTION_NAME(Archive& to, T& object, std::uint32_t version);
template <class Archive, class T>
marker CEREAL_SAVE_MINIMAL_FUNCTION_NAME(const Archive& to, const T& object);
template <class Archive, class T>
marker CEREAL_SAVE_MINIMAL_FUNCTION_NAME(const Archive& to, const T& object, std::uint32_t version);

template <class Function, class Class>
std::type_identity<Class> class_of(Function Class::*);

/// False also for member functions that only `cereal::access` can name: whose they are cannot be found out.
template <class T, class Class>
concept is_other_class = !std::same_as<Class, std::type_identity<T>>;

template <class T, class... Version>
concept free_serialize = requires(output& to, T& object, Version... version) {
  { CEREAL_SERIALIZE_FUNCTION_NAME(to, object, version...) } -> std::same_as<marker>;
};
template <class T, class... Version>
concept free_save = requires(output& to, const T& object, Version... version) {
  { CEREAL_SAVE_FUNCTION_NAME(to, object, version...) } -> std::same_as<marker>;
};
template <class T, class... Version>
concept free_load = requires(input& from, T& object, Version... version) {
  { CEREAL_LOAD_FUNCTION_NAME(from, object, version...) } -> std::same_as<marker>;
};
template <class T, class... Version>
concept free_save_minimal = requires(const output& to, const T& object, Version... version) {
  { CEREAL_SAVE_MINIMAL_FUNCTION_NAME(to, object, version...) } -> std::same_as<marker>;
};

template <class T>
concept member_serialize =
    is_other_class<T, decltype(class_of(&T::template CEREAL_SERIALIZE_FUNCTION_NAME<cereal_output>))>;
template <class T>
concept member_save = is_other_class<T, decltype(class_of(&T::template CEREAL_SAVE_FUNCTION_NAME<cereal_output>))>;
template <class T>
concept member_load = is_other_class<T, decltype(class_of(&T::template CEREAL_LOAD_FUNCTION_NAME<cereal_input>))>;
template <class T>
concept member_save_minimal =
    is_other_class<T, decltype(class_of(&T::template CEREAL_SAVE_MINIMAL_FUNCTION_NAME<cereal_output>))>;

}  // namespace inherited

/// Whether cereal selects this kind of function for T.
template <class T, class Archive, template <class, class> class Has, template <class, class> class Specialized>
inline constexpr bool uses =
    Has<T, Archive>::value && (Specialized<T, Archive>::value || !cereal::traits::is_specialized<T, Archive>::value);

/// Which of the minimal functions of T cereal selects. cereal's own trait does not look at cereal::specialize.
template <class T>
struct minimal_functions {
  template <template <class, class> class Has, template <class, class> class Specialized>
  static constexpr bool are = uses<T, cereal_output, Has, Specialized>;
  static constexpr bool member =
      are<cereal::traits::has_member_save_minimal, cereal::traits::is_specialized_member_save_minimal>;
  static constexpr bool versioned_member =
      are<cereal::traits::has_member_versioned_save_minimal, cereal::traits::is_specialized_member_save_minimal>;
  static constexpr bool free =
      are<cereal::traits::has_non_member_save_minimal, cereal::traits::is_specialized_non_member_save_minimal>;
  static constexpr bool versioned_free = are<cereal::traits::has_non_member_versioned_save_minimal,
                                             cereal::traits::is_specialized_non_member_save_minimal>;
  static constexpr bool any = member || versioned_member || free || versioned_free;
};

/// True if a function that cereal selects for T is one of a base class of T, which does not know the members of T.
template <class T>
consteval bool inherits_cereal_functions() {
  namespace traits = cereal::traits;
  using version = std::uint32_t;
  using out = cereal_output;
  using in = cereal_input;
  bool found = false;
  if constexpr (uses<T, out, traits::has_member_serialize, traits::is_specialized_member_serialize> ||
                uses<T, out, traits::has_member_versioned_serialize, traits::is_specialized_member_serialize>)
    found = found || inherited::member_serialize<T>;
  if constexpr (uses<T, out, traits::has_member_save, traits::is_specialized_member_save> ||
                uses<T, out, traits::has_member_versioned_save, traits::is_specialized_member_save>)
    found = found || inherited::member_save<T>;
  if constexpr (uses<T, in, traits::has_member_load, traits::is_specialized_member_load> ||
                uses<T, in, traits::has_member_versioned_load, traits::is_specialized_member_load>)
    found = found || inherited::member_load<T>;
  if constexpr (minimal_functions<T>::member || minimal_functions<T>::versioned_member)
    found = found || inherited::member_save_minimal<T>;
  if constexpr (uses<T, out, traits::has_non_member_serialize, traits::is_specialized_non_member_serialize>)
    found = found || inherited::free_serialize<T>;
  if constexpr (uses<T, out, traits::has_non_member_versioned_serialize, traits::is_specialized_non_member_serialize>)
    found = found || inherited::free_serialize<T, version>;
  if constexpr (uses<T, out, traits::has_non_member_save, traits::is_specialized_non_member_save>)
    found = found || inherited::free_save<T>;
  if constexpr (uses<T, out, traits::has_non_member_versioned_save, traits::is_specialized_non_member_save>)
    found = found || inherited::free_save<T, version>;
  if constexpr (uses<T, in, traits::has_non_member_load, traits::is_specialized_non_member_load>)
    found = found || inherited::free_load<T>;
  if constexpr (uses<T, in, traits::has_non_member_versioned_load, traits::is_specialized_non_member_load>)
    found = found || inherited::free_load<T, version>;
  if constexpr (minimal_functions<T>::free) found = found || inherited::free_save_minimal<T>;
  if constexpr (minimal_functions<T>::versioned_free) found = found || inherited::free_save_minimal<T, version>;
  return found;
}

}  // namespace cairn::inline v0_1::detail

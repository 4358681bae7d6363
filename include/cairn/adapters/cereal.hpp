// SPDX-License-Identifier: MIT
// States of types that have cereal functions: `serialize`, `save` and `load`, or `save_minimal` and `load_minimal`.
// Cairn calls these with archives of its own, which walk the values that they get as parts of the object.
#pragma once

#include <cereal/access.hpp>
#include <cereal/cereal.hpp>
#include <cereal/types/base_class.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/aggregate.hpp"
#include "cairn/state/archived.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// Whether a T is this wrapper of cereal around a value, as cereal::NameValuePair<int> is.
template <class T, template <class> class Wrapper>
inline constexpr bool is_wrapped = false;
template <class Value, template <class> class Wrapper>
inline constexpr bool is_wrapped<Wrapper<Value>, Wrapper> = true;

template <class Archive, class T>
void pass_to(archived_values& to, std::string_view name, T& value);

}  // namespace detail

// Its own namespace: where cereal looks for functions with these archives, it finds no `save` and `load` of Cairn.
namespace archives {

/// What both archives do. `Base`: the class of cereal from which an archive is derived.
template <class Archive, class Base>
class passing_archive : public Base {
 public:
  explicit passing_archive(Archive* archive, detail::archived_values* values = nullptr)
      : Base(archive), values_(values) {}

  Archive& operator()(auto&&... values) {
    (detail::pass_to<Archive>(*values_, {}, values), ...);
    return *static_cast<Archive*>(this);
  }
  Archive& operator&(auto&& value) { return (*this)(value); }

  /// Does nothing: Cairn walks deferred data with all other, since it saves each shared object once.
  void serializeDeferments() {}

  /// Calls the function of the object's type, which cereal selects.
  void call(auto& object) { Base::operator()(object); }

 private:
  detail::archived_values* values_;
};

/// What a cereal function saves to. Made by Cairn only.
class cereal_output : public passing_archive<cereal_output, cereal::OutputArchive<cereal_output>> {
 public:
  cereal_output() : passing_archive(this) {}
  explicit cereal_output(detail::archived_values& values) : passing_archive(this, &values) {}

  cereal_output& operator<<(auto&& value) { return (*this)(value); }
};

/// What a cereal function loads from. Made by Cairn only.
class cereal_input : public passing_archive<cereal_input, cereal::InputArchive<cereal_input>> {
 public:
  cereal_input() : passing_archive(this) {}
  explicit cereal_input(detail::archived_values& values) : passing_archive(this, &values) {}

  cereal_input& operator>>(auto&& value) { return (*this)(value); }
};

// What cereal and the functions of other types ask for before they pass a value: these types can be saved and loaded.

template <class T>
concept cereal_value = std::is_arithmetic_v<T> || detail::is_wrapped<T, cereal::NameValuePair> ||
                       detail::is_wrapped<T, cereal::SizeTag> || detail::is_wrapped<T, cereal::BinaryData>;

void CEREAL_SAVE_FUNCTION_NAME(cereal_output& to, const cereal_value auto& value) { to(value); }
void CEREAL_LOAD_FUNCTION_NAME(cereal_input& from, cereal_value auto& value) { from(value); }

}  // namespace archives
}  // namespace cairn::inline v0_1

CEREAL_SETUP_ARCHIVE_TRAITS(cairn::archives::cereal_input, cairn::archives::cereal_output)

namespace cairn::inline v0_1::detail {

using archives::cereal_input;
using archives::cereal_output;

// Which types are saved through their functions.

/// Whether Cairn saves a T of this category without functions, and whole: it is not const, no type that Cairn refuses,
/// and no record with base classes or a field for which that is not so.
template <class T, category Category = category_of<T>()>
consteval bool suffices() {
  if constexpr (std::is_const_v<T> || Category == category::unsupported)
    return false;
  else if constexpr (Category == category::fixed_array)
    return suffices<std::remove_reference_t<decltype(std::declval<T&>()[0])>>();
  else if constexpr (Category != category::record || std::is_empty_v<T>)
    return true;
  else if constexpr (std::is_same_v<field_types<T>, no_address> || counted_fields<T>.bases > 0)
    return false;
  else
    return []<class... Fields>(type_list<Fields...>) {
      return sizeof...(Fields) > 0 && (suffices<Fields>() && ...);
    }(field_types<T>{});  // not parts_of: the category of T is not known yet
}

/// How many functions of T cereal finds.
template <class T>
inline constexpr int saving_functions = cereal::traits::detail::count_output_serializers<T, cereal_output>::value;
template <class T>
inline constexpr int loading_functions = cereal::traits::detail::count_input_serializers<T, cereal_input>::value;

/// Not std::string_view::find, which g++ does not evaluate here with -fsanitize=undefined.
constexpr bool names_namespace(std::string_view text, std::string_view part) noexcept {
  for (; !text.empty(); text.remove_prefix(1))
    if (text.starts_with(part)) return true;
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
  else if constexpr (saving_functions<T> == 0 && loading_functions<T> == 0)
    return false;
  else if constexpr (std::is_aggregate_v<T> && !std::is_polymorphic_v<T>)
    return !suffices<T, category::record>();
  else
    return true;
}

template <class T>
concept cereal_class = use_bridge<T> || needs_cereal<T>();

// Which of its functions cereal selects for a type, and whether they know its members.

/// Whether cereal selects this kind of function for T.
template <class T, class Archive, template <class, class> class Has, template <class, class> class Specialized>
concept uses =
    Has<T, Archive>::value && (Specialized<T, Archive>::value || !cereal::traits::is_specialized<T, Archive>::value);

template <class Value>
struct versioned_minimal {
  std::uint32_t cereal_class_version = 0;
  Value value0{};
};

/// Which of the minimal functions of T cereal selects, and calls of these. cereal's own trait does not look at
/// cereal::specialize. The archive is there only to choose a function by its type.
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
  static constexpr bool are_members = member || versioned_member;
  static constexpr bool are_versioned = versioned_member || versioned_free;
  static constexpr bool any = are_members || free || versioned_free;

  template <class... Version>
  static auto save(const T& object, Version... version) {
    const cereal_output archive;
    if constexpr (are_members)
      return cereal::access::member_save_minimal(archive, object, version...);
    else
      return CEREAL_SAVE_MINIMAL_FUNCTION_NAME(archive, object, version...);
  }
  template <class Value, class... Version>
  static void load(T& object, const Value& value, Version... version) {
    const cereal_input archive;
    if constexpr (are_members)
      cereal::access::member_load_minimal(archive, object, value, version...);
    else
      CEREAL_LOAD_MINIMAL_FUNCTION_NAME(archive, object, value, version...);
  }

  /// What a T is saved as.
  static auto take(const T& object) {
    if constexpr (are_versioned) {
      const std::uint32_t version = cereal::detail::Version<T>::version;
      return versioned_minimal<decltype(save(object, version))>{version, save(object, version)};
    } else {
      return save(object);
    }
  }
};

/// The functions below compete with those that cereal finds for a T. They win against functions for a base class of T,
/// and lose against those for T. `Version`: std::uint32_t or nothing.
namespace inherited {

struct marker {};

struct output : cereal_output {};
struct input : cereal_input {};

template <class Archive, class T, class... Version>
marker CEREAL_SERIALIZE_FUNCTION_NAME(Archive& to, T& object, Version... version);
template <class Archive, class T, class... Version>
marker CEREAL_SAVE_FUNCTION_NAME(Archive& to, const T& object, Version... version);
template <class Archive, class T, class... Version>
marker CEREAL_LOAD_FUNCTION_NAME(Archive& to, T& object, Version... version);
template <class Archive, class T, class... Version>
marker CEREAL_SAVE_MINIMAL_FUNCTION_NAME(const Archive& to, const T& object, Version... version);

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

template <class Function, class Class>
std::type_identity<Class> class_of(Function Class::*);

/// False also for member functions that only `cereal::access` can name: whose they are cannot be found out.
template <class T, class Class>
concept is_other_class = !std::same_as<Class, std::type_identity<T>>;

namespace traits = cereal::traits;

/// Of the member functions that cereal selects for T, one is of a base class.
template <class T>
concept members =
    ((uses<T, cereal_output, traits::has_member_serialize, traits::is_specialized_member_serialize> ||
      uses<T, cereal_output, traits::has_member_versioned_serialize, traits::is_specialized_member_serialize>) &&
     is_other_class<T, decltype(class_of(&T::template CEREAL_SERIALIZE_FUNCTION_NAME<cereal_output>))>) ||
    ((uses<T, cereal_output, traits::has_member_save, traits::is_specialized_member_save> ||
      uses<T, cereal_output, traits::has_member_versioned_save, traits::is_specialized_member_save>) &&
     is_other_class<T, decltype(class_of(&T::template CEREAL_SAVE_FUNCTION_NAME<cereal_output>))>) ||
    ((uses<T, cereal_input, traits::has_member_load, traits::is_specialized_member_load> ||
      uses<T, cereal_input, traits::has_member_versioned_load, traits::is_specialized_member_load>) &&
     is_other_class<T, decltype(class_of(&T::template CEREAL_LOAD_FUNCTION_NAME<cereal_input>))>) ||
    (minimal_functions<T>::are_members &&
     is_other_class<T, decltype(class_of(&T::template CEREAL_SAVE_MINIMAL_FUNCTION_NAME<cereal_output>))>);

/// The same of free functions.
template <class T>
concept free_functions =
    (uses<T, cereal_output, traits::has_non_member_serialize, traits::is_specialized_non_member_serialize> &&
     free_serialize<T>) ||
    (uses<T, cereal_output, traits::has_non_member_versioned_serialize, traits::is_specialized_non_member_serialize> &&
     free_serialize<T, std::uint32_t>) ||
    (uses<T, cereal_output, traits::has_non_member_save, traits::is_specialized_non_member_save> && free_save<T>) ||
    (uses<T, cereal_output, traits::has_non_member_versioned_save, traits::is_specialized_non_member_save> &&
     free_save<T, std::uint32_t>) ||
    (uses<T, cereal_input, traits::has_non_member_load, traits::is_specialized_non_member_load> && free_load<T>) ||
    (uses<T, cereal_input, traits::has_non_member_versioned_load, traits::is_specialized_non_member_load> &&
     free_load<T, std::uint32_t>) ||
    (minimal_functions<T>::free && free_save_minimal<T>) ||
    (minimal_functions<T>::versioned_free && free_save_minimal<T, std::uint32_t>);

}  // namespace inherited

/// True if a function that cereal selects for T is one of a base class of T, which does not know the members of T.
template <class T>
concept inherits_cereal_functions = inherited::members<T> || inherited::free_functions<T>;

/// Why a T cannot be saved or loaded through its functions. `Makes`: a load makes another T.
template <class T, bool Makes>
consteval problem problem_of_cereal_class() {
  if constexpr (saving_functions<T> != 1 || loading_functions<T> != 1)
    return problem::cereal_functions;
  else if constexpr (!use_bridge<T> && inherits_cereal_functions<T>)
    return problem::cereal_functions;
  else if constexpr (Makes && !default_made<T> && (minimal_functions<T>::any || !use_bridge<T>))
    return problem::cereal_constructor;
  else
    return problem::none;
}

/// An error with advice if the functions of T are not complete, else true.
template <class T>
consteval bool check_cereal_part() {
  constexpr problem what = problem_of_cereal_class<T, false>();
  if constexpr (what != problem::none) checked_walk<T, true, what, in_pieces<type_text<T>>()>();
  return what == problem::none;
}

// What the functions pass.

/// The functions of T. Those of a part do not make one, so that T may be an abstract base class, or have references.
template <class T>
struct cereal_functions {
  static void save(archived_values& to, void* object) {
    if constexpr (check_cereal_part<T>()) cereal_output(to).call(*static_cast<T*>(object));
  }
  static void load(archived_values& from, void* object) {
    if constexpr (check_cereal_part<T>()) cereal_input(from).call(*static_cast<T*>(object));
  }

  static void* make() { return cereal::access::construct<T>(); }

  static constexpr archived_operations part{sizeof(T), save, load, nullptr, nullptr};
  static constexpr archived_operations whole{sizeof(T), save, load, make, destroy<T>};

  static void walk_part(walker& w, void* object) { walk_archived_part(w, object, part); }
};

/// Whether an object of T is walked by its functions.
template <class T>
concept walked_by_cereal = category_of<T>() == category::bridged && !copied<T>;

template <class T>
void pass_object(archived_values& to, std::string_view name, T& object) {
  if constexpr (scalar_type<T>)
    to.number(name, dtype_of<T>(), std::addressof(object));
  else if constexpr (walked_by_cereal<T>)
    to.part(name, std::addressof(object), cereal_functions<T>::walk_part);
  else
    to.part(name, std::addressof(object), checked_part_walk<T>());
}

/// A base class has the name of the class, as "layer" for `nn::layer<float>`.
template <class Base>
void pass_base(archived_values& to, std::string_view name, Base& object) {
  if (name.empty()) name = last_identifier(type_name<Base>().substr(0, type_name<Base>().find('<')));
  if constexpr (walked_by_cereal<Base>)
    to.base(name, std::addressof(object), cereal_functions<Base>::part);
  else
    detail::pass_object(to, name, object);
}

template <class Archive, class Number>
void pass_size(archived_values& to, std::string_view name, Number& size) {
  std::uint64_t count = 0;
  if constexpr (Archive::is_saving::value) {
    count = static_cast<std::uint64_t>(size);
    to.size(name, count);
  } else {
    to.size(name, count);
    if (!std::in_range<Number>(count)) fail(errc::mismatch, {"a size of ", count, " does not fit its type"});
    size = static_cast<Number>(count);
  }
}

template <class Archive, class Pointer>
void pass_binary(archived_values& to, std::string_view name, const cereal::BinaryData<Pointer>& block) {
  static_assert(Archive::is_saving::value || std::same_as<decltype(block.data), void*>,
                "cairn: a cereal function loads into something const: drop the const");
  using element = std::remove_cv_t<std::remove_pointer_t<std::decay_t<Pointer>>>;
  void* const memory = const_cast<void*>(block.data);
  if constexpr (scalar_type<element>) {
    if (block.size % sizeof(element) == 0)
      return to.array(name, dtype_of<element>(), memory, block.size / sizeof(element));
  }
  to.array(name, dtype::u8, memory, block.size);
}

/// Passes what a cereal function has passed to its archive: a value, or one of cereal's wrappers of a value.
template <class Archive, class T>
void pass_to(archived_values& to, std::string_view name, T& value) {
  using type = std::remove_cv_t<T>;
  constexpr bool is_pair = is_wrapped<type, cereal::NameValuePair>, is_later = is_wrapped<type, cereal::DeferredData>;
  static_assert(Archive::is_saving::value || !std::is_const_v<T> || is_pair || is_later,
                "cairn: a cereal function loads into something const: drop the const");
  auto& object = const_cast<type&>(value);  // a save changes nothing
  if constexpr (is_pair)
    detail::pass_to<Archive>(to, name.empty() && value.name ? std::string_view(value.name) : name, object.value);
  else if constexpr (is_later)
    detail::pass_to<Archive>(to, name, object.value);
  else if constexpr (is_wrapped<type, cereal::SizeTag>)
    detail::pass_size<Archive>(to, name, object.size);
  else if constexpr (is_wrapped<type, cereal::BinaryData>)
    detail::pass_binary<Archive>(to, name, object);
  else if constexpr (is_wrapped<type, cereal::base_class>)
    detail::pass_base(to, name, *object.base_ptr);
  else if constexpr (is_wrapped<type, cereal::virtual_base_class>) {
    using base = std::remove_reference_t<decltype(*object.base_ptr)>;
    if (to.is_new_base(type_id_of<base>, object.base_ptr)) detail::pass_base(to, name, *object.base_ptr);
  } else {
    detail::pass_object(to, name, object);
  }
}

// How an object of a state is saved and loaded.

template <class T>
concept cereal_minimal_class = cereal_class<T> && category_of<T>() == category::bridged && minimal_functions<T>::any;

/// A type with minimal functions is saved as the value that these give and take.
template <cereal_minimal_class T>
struct copy_traits<T> {
  using functions = minimal_functions<T>;
  using type = decltype(functions::take(std::declval<const T&>()));

  static type take(const T& object) {
    return with_errors("its save_minimal function failed", [&] { return functions::take(object); });
  }
  static void put(T& object, const type& stored) {
    with_errors("its load_minimal function failed", [&] {
      if constexpr (functions::are_versioned)
        functions::load(object, stored.value0, stored.cereal_class_version);
      else
        functions::load(object, stored);
    });
  }
};

/// A type with other functions is walked by them.
template <cereal_class T>
struct bridge<T> {
  static consteval detail::problem problem() { return problem_of_cereal_class<T, true>(); }
  static void walk(walker& w, T& object) { walk_archived(w, std::addressof(object), cereal_functions<T>::whole); }
};

}  // namespace cairn::inline v0_1::detail

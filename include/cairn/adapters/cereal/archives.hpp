// SPDX-License-Identifier: MIT
// The archives to which cereal functions pass the values of an object, so that these are walked as its parts.
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
#include "cairn/state/archived.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

namespace detail {

template <class T>
inline constexpr bool is_cereal_pair = false;
template <class T>
inline constexpr bool is_cereal_pair<cereal::NameValuePair<T>> = true;

template <class T>
inline constexpr bool is_cereal_deferred = false;
template <class T>
inline constexpr bool is_cereal_deferred<cereal::DeferredData<T>> = true;

template <class T>
inline constexpr bool is_cereal_size = false;
template <class T>
inline constexpr bool is_cereal_size<cereal::SizeTag<T>> = true;

/// The type of the elements of binary data, without const; void for anything else.
template <class T>
struct cereal_binary {
  using element = void;
};
template <class T>
struct cereal_binary<cereal::BinaryData<T>> {
  using pointee = std::remove_cv_t<std::remove_pointer_t<std::decay_t<T>>>;
  using element = std::conditional_t<std::is_void_v<pointee>, std::byte, pointee>;
};

/// The base class that a T stands for; void if it does not stand for one.
template <class T>
struct cereal_base {
  using type = void;
};
template <class T>
struct cereal_base<cereal::base_class<T>> {
  using type = T;
  static constexpr bool is_virtual = false;
};
template <class T>
struct cereal_base<cereal::virtual_base_class<T>> {
  using type = T;
  static constexpr bool is_virtual = true;
};

/// "layer" for `nn::layer<float>`: the name of a class, without its namespaces and template arguments.
template <class T>
constexpr std::string_view class_name() noexcept {
  const std::string_view full = type_name<T>();
  return last_identifier(full.substr(0, full.find('<')));
}

template <class Archive, class T>
void pass_to(archived_values& to, std::string_view name, T& value);

}  // namespace detail

// Its own namespace: where cereal looks for functions with these archives, it finds no `save` and `load` of Cairn.
namespace archives {

/// What a cereal function saves to. Made by Cairn only.
class cereal_output : public cereal::OutputArchive<cereal_output> {
 public:
  cereal_output() : OutputArchive(this) {}
  explicit cereal_output(detail::archived_values& to) : OutputArchive(this), to_(&to) {}

  template <class... Types>
  cereal_output& operator()(Types&&... values) {
    (detail::pass_to<cereal_output>(*to_, {}, values), ...);
    return *this;
  }
  template <class T>
  cereal_output& operator&(T&& value) {
    return (*this)(value);
  }
  template <class T>
  cereal_output& operator<<(T&& value) {
    return (*this)(value);
  }

  /// Does nothing: Cairn saves deferred data with all other, since it saves each shared object once.
  void serializeDeferments() {}

  /// Calls the function of the object's type, which cereal selects.
  template <class T>
  void call(T& object) {
    OutputArchive::operator()(object);
  }

 private:
  detail::archived_values* to_ = nullptr;
};

/// What a cereal function loads from. Made by Cairn only.
class cereal_input : public cereal::InputArchive<cereal_input> {
 public:
  cereal_input() : InputArchive(this) {}
  explicit cereal_input(detail::archived_values& from) : InputArchive(this), from_(&from) {}

  template <class... Types>
  cereal_input& operator()(Types&&... values) {
    (detail::pass_to<cereal_input>(*from_, {}, values), ...);
    return *this;
  }
  template <class T>
  cereal_input& operator&(T&& value) {
    return (*this)(value);
  }
  template <class T>
  cereal_input& operator>>(T&& value) {
    return (*this)(value);
  }

  void serializeDeferments() {}

  template <class T>
  void call(T& object) {
    InputArchive::operator()(object);
  }

 private:
  detail::archived_values* from_ = nullptr;
};

// What cereal and the functions of other types ask for before they pass a value: these types can be saved and loaded.

template <class T>
concept cereal_value = std::is_arithmetic_v<T> || detail::is_cereal_pair<T> || detail::is_cereal_size<T> ||
                       !std::is_void_v<typename detail::cereal_binary<T>::element>;

template <cereal_value T>
void CEREAL_SAVE_FUNCTION_NAME(cereal_output& to, const T& value) {
  to(value);
}
template <cereal_value T>
void CEREAL_LOAD_FUNCTION_NAME(cereal_input& from, T& value) {
  from(value);
}

}  // namespace archives

namespace detail {

using archives::cereal_input;
using archives::cereal_output;

/// An error with advice if the functions of T are not complete, else true. Defined in cereal.hpp.
template <class T>
consteval bool check_cereal_part();

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

template <class T>
void pass_object(archived_values& to, std::string_view name, T& object) {
  if constexpr (scalar_type<T>)
    to.number(name, dtype_of<T>(), std::addressof(object));
  else if constexpr (category_of<T>() == category::bridged && !copied<T>)
    to.part(name, std::addressof(object), cereal_functions<T>::walk_part);
  else
    to.part(name, std::addressof(object), checked_part_walk<T>());
}

template <class Base>
void pass_base(archived_values& to, std::string_view name, Base& object) {
  if (name.empty()) name = class_name<Base>();
  if constexpr (category_of<Base>() == category::bridged && !copied<Base>)
    to.base(name, std::addressof(object), cereal_functions<Base>::part);
  else
    detail::pass_object(to, name, object);
}

template <class Archive, class T>
void pass_size(archived_values& to, std::string_view name, T& tag) {
  auto& size = tag.size;
  std::uint64_t count = 0;
  if constexpr (Archive::is_saving::value) {
    count = static_cast<std::uint64_t>(size);
    to.size(name, count);
  } else {
    using number = std::remove_cvref_t<decltype(size)>;
    to.size(name, count);
    if (!std::in_range<number>(count)) fail(errc::mismatch, {"a size of ", count, " does not fit its type"});
    size = static_cast<number>(count);
  }
}

template <class Archive, class T>
void pass_binary(archived_values& to, std::string_view name, T& block) {
  static_assert(Archive::is_saving::value || std::same_as<decltype(block.data), void*>,
                "cairn: a cereal function loads into something const: drop the const");
  using element = typename cereal_binary<T>::element;
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
  static_assert(Archive::is_saving::value || !std::is_const_v<T> || is_cereal_pair<type> || is_cereal_deferred<type>,
                "cairn: a cereal function loads into something const: drop the const");
  auto& object = const_cast<type&>(value);  // a save changes nothing
  if constexpr (is_cereal_pair<type>)
    detail::pass_to<Archive>(to, name.empty() && value.name ? std::string_view(value.name) : name, object.value);
  else if constexpr (is_cereal_deferred<type>)
    detail::pass_to<Archive>(to, name, object.value);
  else if constexpr (is_cereal_size<type>)
    detail::pass_size<Archive>(to, name, object);
  else if constexpr (!std::is_void_v<typename cereal_binary<type>::element>)
    detail::pass_binary<Archive>(to, name, object);
  else if constexpr (!std::is_void_v<typename cereal_base<type>::type>) {
    if constexpr (cereal_base<type>::is_virtual) {
      if (!to.is_new_base(type_id_of<typename cereal_base<type>::type>, object.base_ptr)) return;
    }
    detail::pass_base(to, name, *object.base_ptr);
  } else {
    detail::pass_object(to, name, object);
  }
}

}  // namespace detail
}  // namespace cairn::inline v0_1

CEREAL_SETUP_ARCHIVE_TRAITS(cairn::archives::cereal_input, cairn::archives::cereal_output)

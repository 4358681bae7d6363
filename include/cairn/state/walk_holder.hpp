// SPDX-License-Identifier: MIT
// Walks what holds an object or none: optionals, variants, and owning pointers (unique, shared, weak) to one type or to
// one of a closed list of types.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "cairn/state/adapter.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/parts.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

void walk_optional(walker& w, void* object, const optional_operations& how);
void walk_variant(walker& w, void* object, const variant_operations& how);

template <class T>
struct optional_of {
  using value = std::remove_cvref_t<decltype(*std::declval<T&>())>;

  static void* at(void* optional, access what) {
    T& object = *static_cast<T*>(optional);
    if (what == access::remove) object.reset();
    if (what == access::make) {
      if constexpr (has_make_adapter<value>)
        object.emplace(adapter<value>::make());
      else if constexpr (makeable<value> && requires { object.emplace(); })
        object.emplace();
      else if constexpr (makeable<value>)  // clang, for a class in that of the state: see `default_made`
        object.emplace(value());
    }
    return object.has_value() ? std::addressof(*object) : nullptr;
  }

  static constexpr optional_operations operations{at, content_operations_of<value>};
};

template <class T>
struct variant_of {
  template <std::size_t I, class Type>
  static void* at(void* variant, access what) {
    T& object = *static_cast<T*>(variant);
    if (what == access::make) {
      if constexpr (has_make_adapter<Type>)
        object.template emplace<I>(adapter<Type>::make());
      else if constexpr (has_default<Type> && requires { object.template emplace<I>(); })
        object.template emplace<I>();
      else if constexpr (has_default<Type>)
        object.template emplace<I>(Type());
    }
    return get_if<I>(std::addressof(object));  // found in the namespace of the variant
  }
  static std::size_t index(const void* variant) { return static_cast<const T*>(variant)->index(); }

  template <class... Types, std::size_t... I>
  static constexpr auto list_alternatives(type_list<Types...>, std::index_sequence<I...>) {
    return std::array{alternative_operations{at<I, Types>, content_operations_of<Types>}...};
  }
  static constexpr auto alternatives =
      list_alternatives(alternatives_of<T>{}, std::make_index_sequence<count_of(alternatives_of<T>{})>{});
  static constexpr variant_operations operations{index, alternatives};
};

void walk_unique(walker& w, void* pointer, const unique_operations& how);
/// `owner`: the pointer in the state. For a weak pointer, `pointer` is a temporary shared pointer that was made of it.
void walk_shared(walker& w, void* pointer, const void* owner, const shared_operations& how);

template <class Pointer>
using pointee = std::remove_cv_t<typename Pointer::element_type>;

template <class T>
found_object found_behind(const T& pointer) {
  found_object found{&pointer_type_of<typename T::element_type>, nullptr, nullptr};
  if (!pointer) return found;
  if constexpr (has_type_list<pointee<T>>) {
    const auto [address, type] = detail::whole_object<pointee<T>>(*pointer);
    const listed_type* const listed = found.by->list().find(*type);
    found.address = address;
    found.type = listed ? listed->type : &unlisted_type;
    if (!listed) found.unlisted = type;
  } else {
    found.address = std::addressof(*pointer);
    found.type = found.by->base;
  }
  return found;
}

/// `entry<Object>` for each type that a pointer to `Base` may point to.
template <class Base, class Entry>
consteval auto for_types_behind(Entry entry) {
  if constexpr (has_type_list<Base>)
    return [&]<class... Listed>(const one_of<Listed...>*) {
      return std::array { entry.template operator()<typename listing<Listed>::type>()... };
    }(static_cast<const polymorphic<Base>*>(nullptr));
  else
    return std::array { entry.template operator()<Base>() };
}

template <class T>
struct unique_of {
  static constexpr bool deletes = is_default_delete<typename T::deleter_type>;

  static found_object found(void* pointer) { return detail::found_behind(*static_cast<const T*>(pointer)); }
  template <class Object>
  static void reset(void* pointer, [[maybe_unused]] void* object) {
    if constexpr (deletes)
      static_cast<T*>(pointer)->reset(static_cast<Object*>(object));
    else
      static_cast<T*>(pointer)->reset();
  }

  static constexpr auto types = for_types_behind<pointee<T>>(
      []<class Object>() { return unique_type{&type_id_of<Object>, content_operations_of<Object>, reset<Object>}; });
  static constexpr unique_operations operations{found, types, deletes};
};

template <class T>
struct shared_of {
  static found_object found(void* pointer, std::shared_ptr<void>& object) {
    const T& from = *static_cast<const T*>(pointer);
    const found_object found = detail::found_behind(from);
    object = std::shared_ptr<void>(from, const_cast<void*>(found.address));
    return found;
  }
  template <class Object>
  static std::shared_ptr<void> make() {
    if constexpr (has_make_adapter<Object>)
      return std::make_shared<Object>(adapter<Object>::make());
    else
      return std::make_shared<Object>();
  }
  template <class Object>
  static void set(void* pointer, const std::shared_ptr<void>& object) {
    *static_cast<T*>(pointer) = std::static_pointer_cast<Object>(object);
  }

  static constexpr auto types = for_types_behind<pointee<T>>([]<class Object>() {
    shared_type one{&type_id_of<Object>, content_operations_of<Object>, nullptr, set<Object>};
    if constexpr (makeable<Object>) one.make = make<Object>;
    return one;
  });
  static constexpr shared_operations operations{found, types};
};

template <class T>
void walk_shared(walker& w, T& pointer, const void* owner = nullptr) {
  detail::walk_shared(w, std::addressof(pointer), owner ? owner : std::addressof(pointer), shared_of<T>::operations);
}

template <class T>
void walk_weak(walker& w, T& pointer) {
  auto strong = pointer.lock();
  const auto before = strong;
  detail::walk_shared(w, strong, std::addressof(pointer));
  if (strong != before) pointer = strong;
}

}  // namespace cairn::inline v0_1::detail

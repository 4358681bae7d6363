// Walks owning pointers: unique, shared and weak, to one type or to one of a closed list of types.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "cairn/state/walk.hpp"

namespace cairn::detail {

template <class Pointer>
using pointee = std::remove_cv_t<typename Pointer::element_type>;

template <class Base>
consteval void check_pointee() {
  if constexpr (std::is_class_v<Base>)
    static_assert(!std::is_polymorphic_v<Base> || std::is_final_v<Base> || has_type_list<Base>,
                  "cairn: a pointer to a polymorphic class needs the closed list of types that it may point to: "
                  "`template <> struct cairn::polymorphic<Base> : cairn::one_of<A, B> {};`");
}

/// Calls `action` with a null pointer of each listed type until a call returns true. Returns false if none does.
template <class... Types, class Action>
bool for_some_type(const one_of<Types...>&, const Action& action) {
  return (action(static_cast<Types*>(nullptr)) || ...);
}

/// The name of the object's type; empty if the type is not listed.
template <class Base>
std::string_view listed_type(const Base* object) {
  std::string_view name;
  if (object)
    for_some_type(polymorphic<Base>{}, [&]<class Derived>(Derived*) {
      if (typeid(*object) == typeid(Derived)) name = type_name<Derived>();
      return !name.empty();
    });
  return name;
}

/// Walks the object behind a pointer, or the one that it will point to. `made<Derived>()` returns a new object.
template <class Base, class Make>
void walk_pointee(walker& w, Base* object, presence what, std::string_view type, const Make& made) {
  const auto walk_as = [&]<class Derived>(Derived*) {
    if constexpr (makeable<Derived>) {
      if (what == presence::make) return walk<Derived>(w, made.template operator()<Derived>());
    }
    if (what == presence::walk)
      walk<Derived>(w, static_cast<Derived*>(object));
    else
      walk_prototype<Derived>(w);
  };
  if constexpr (has_type_list<Base>) {
    if (!for_some_type(polymorphic<Base>{}, [&]<class Derived>(Derived* derived) {
          if (type == type_name<Derived>()) walk_as(derived);
          return type == type_name<Derived>();
        }))
      w.reject("is a '" + std::string(type) + "' in the checkpoint, which is not a listed type");
  } else {
    walk_as(object);
  }
}

/// The object behind the pointer, or null.
template <class T>
pointee<T>* object_of(const T& pointer) noexcept {
  return pointer ? const_cast<pointee<T>*>(std::addressof(*pointer)) : nullptr;
}

template <class T>
void walk_unique(walker& w, T& pointer) {
  using base = pointee<T>;
  check_pointee<base>();
  pointee_answer answer;
  if constexpr (has_type_list<base>)
    answer = w.polymorphic(pointer != nullptr, listed_type<base>(object_of(pointer)), type_name<base>());
  else
    answer.what = w.optional(pointer != nullptr);
  if (answer.what == presence::keep) return;
  if (answer.what == presence::clear) return pointer.reset();
  walk_pointee(w, object_of(pointer), answer.what, answer.type, [&]<class Object>() {
    auto* const object = new_object<Object>();
    pointer.reset(object);
    return object;
  });
}

template <class T>
void walk_shared(walker& w, T& pointer) {
  using base = pointee<T>;
  check_pointee<base>();
  std::string_view type, listed_base;
  if constexpr (has_type_list<base>) {
    type = listed_type<base>(object_of(pointer));
    listed_base = type_name<base>();
  }
  const auto answer = w.shared(std::const_pointer_cast<base>(pointer), typeid(base), type, listed_base);
  if (answer.same) pointer = std::static_pointer_cast<base>(answer.same);
  if (answer.what == presence::keep) return;
  if (answer.what == presence::clear) return pointer.reset();
  std::shared_ptr<base> fresh;
  walk_pointee(w, object_of(pointer), answer.what, answer.type, [&]<class Object>() {
    std::shared_ptr<Object> object;
    if constexpr (has_make_adapter<Object>)
      object = std::make_shared<Object>(adapter<Object>::make());
    else
      object = std::make_shared<Object>();
    fresh = object;
    w.shared_made(fresh, typeid(base));
    return object.get();
  });
  if (fresh) pointer = std::move(fresh);
}

template <class T>
void walk_weak(walker& w, T& pointer) {
  auto strong = pointer.lock();
  const auto before = strong;
  walk_shared(w, strong);
  if (strong != before) pointer = strong;
}

}  // namespace cairn::detail

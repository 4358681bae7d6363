// Walks owning pointers: unique, shared and weak, to one type or to one of a closed list of types.
#pragma once

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "cairn/state/pointer_type.hpp"
#include "cairn/state/walk.hpp"
#include "cairn/state/walkable_pointer.hpp"

namespace cairn::detail {

template <class Pointer>
using pointee = std::remove_cv_t<typename Pointer::element_type>;

/// Calls `action` with a null pointer of each listed type until a call returns true. Returns false if none does.
template <class... Listed, class Action>
bool for_some_type(const one_of<Listed...>&, const Action& action) {
  return (action(static_cast<typename listing<Listed>::type*>(nullptr)) || ...);
}

/// The object as what it is: `Derived`.
template <class Derived, class Base>
Derived* derived_cast(Base* object) {
  if constexpr (requires { static_cast<Derived*>(object); })
    return static_cast<Derived*>(object);
  else
    return dynamic_cast<Derived*>(object);  // a virtual base class
}

/// Walks the object behind a pointer, or the one that it will point to. `made<Derived>()` returns a new object, and exists only if the
/// load may make it.
template <class Base, class Make>
void walk_pointee(walker& w, Base* object, presence what, const std::type_info* type, const Make& made) {
  const auto walk_as = [&]<class Derived>(Derived*) {
    if constexpr (requires { made.template operator()<Derived>(); }) {
      if (what == presence::make) return detail::walk_held<Derived>(w, made.template operator()<Derived>());
    }
    if (what == presence::walk)
      detail::walk_held<Derived>(w, detail::derived_cast<Derived>(object));
    else
      detail::walk_held_prototype<Derived>(w);
  };
  if constexpr (has_type_list<Base>) {
    detail::for_some_type(polymorphic<Base>{}, [&]<class Derived>(Derived* derived) {
      if (*type != typeid(Derived)) return false;
      walk_as(derived);
      return true;
    });
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
found_object found_behind(const T& pointer) {
  const pointee<T>* const object = detail::object_of(pointer);
  found_object found{&pointer_type_of<typename T::element_type>, object, nullptr};
  if (object) found.type = &typeid(*object);
  if constexpr (std::is_polymorphic_v<pointee<T>>) found.address = dynamic_cast<const void*>(object);
  return found;
}

template <class T>
void walk_unique(walker& w, T& pointer) {
  if constexpr (is_walkable_pointer<T>) {
    constexpr bool deletes = is_default_delete<typename T::deleter_type>;
    const auto answer = w.pointee(detail::found_behind(pointer));
    if (answer.what == presence::keep) return;
    if (answer.what == presence::clear) return pointer.reset();
    if (!deletes && answer.what != presence::walk)
      return w.reject("has to be made by the load but its pointer has a deleter of its own; make it before the load");
    const auto left_out = w.left_out();
    const bool replaces = answer.what != presence::walk && pointer;
    detail::walk_pointee(w, detail::object_of(pointer), answer.what, answer.type,
                         [&]<class Object>()
                         requires(deletes && makeable<Object>)
                         {
                           auto* const object = new_object<Object>();
                           pointer.reset(object);
                           return object;
                         });
    if (std::is_const_v<typename T::element_type> && replaces) w.require_whole(left_out);
  }
}

/// A pointer to an object of type `type`, which `Base` takes.
template <class Base>
std::shared_ptr<Base> shared_as(const std::shared_ptr<void>& object, const std::type_info& type) {
  if constexpr (has_type_list<Base>) {
    std::shared_ptr<Base> found;
    detail::for_some_type(polymorphic<Base>{}, [&]<class Derived>(Derived*) {
      if (type == typeid(Derived)) found = std::static_pointer_cast<Derived>(object);
      return found != nullptr;
    });
    return found;
  } else {
    return std::static_pointer_cast<Base>(object);
  }
}

template <class T>
void walk_shared(walker& w, T& pointer) {
  if constexpr (is_walkable_pointer<T>) {
    using base = pointee<T>;
    const auto found = detail::found_behind(pointer);
    const auto answer = w.shared(found, std::shared_ptr<void>(pointer, const_cast<void*>(found.address)));
    if (answer.same) pointer = detail::shared_as<base>(answer.same, *answer.type);
    if (answer.what == presence::keep) return;
    if (answer.what == presence::clear) return pointer.reset();
    const auto left_out = w.left_out();
    const bool replaces = answer.what != presence::walk && pointer;
    std::shared_ptr<base> fresh;
    detail::walk_pointee(w, detail::object_of(pointer), answer.what, answer.type,
                         [&]<class Object>()
                         requires(makeable<Object>)
                         {
                           std::shared_ptr<Object> object;
                           if constexpr (has_make_adapter<Object>)
                             object = std::make_shared<Object>(adapter<Object>::make());
                           else
                             object = std::make_shared<Object>();
                           fresh = object;
                           w.shared_made(object, typeid(Object));
                           return object.get();
                         });
    w.shared_end();
    if (fresh) pointer = std::move(fresh);
    if (std::is_const_v<typename T::element_type> && replaces) w.require_whole(left_out);
  }
}

template <class T>
void walk_weak(walker& w, T& pointer) {
  if constexpr (is_walkable_pointer<T>) {
    auto strong = pointer.lock();
    const auto before = strong;
    detail::walk_shared(w, strong);
    if (strong != before) pointer = strong;
  }
}

}  // namespace cairn::detail

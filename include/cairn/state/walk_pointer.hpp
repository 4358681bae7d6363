// Walks owning pointers: null or not, shared or not, to one type or to one of a closed list.
#pragma once

#include <typeinfo>

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

/// Calls `action` with a null pointer of each listed type until one call returns true; false when none does.
template <class... Types, class Action>
bool for_some_type(const one_of<Types...>&, const Action& action) {
  return (action(static_cast<Types*>(nullptr)) || ...);
}

/// States the fact of a pointer that is not null, and walks what it points to.
template <class Base>
void describe_pointee(walker& w, Base& object) {
  if constexpr (has_type_list<Base>) {
    const bool listed = for_some_type(polymorphic<Base>{}, [&]<class Derived>(Derived*) {
      if (typeid(object) != typeid(Derived)) return false;
      w.state({.what = fact::kind::type, .text = std::string(type_name<Derived>())});
      walk(w, static_cast<Derived&>(object));
      return true;
    });
    if (!listed)
      fail(errc::invalid,
           {w.path(), " points to a type that cairn::polymorphic<", type_name<Base>(), "> does not list"});
  } else {
    w.state(fact::kind::engaged, 1);
    walk(w, object);
  }
}

/// Walks the object behind `pointer` against a checkpoint in which it is not null; `make<Derived>()` replaces
/// the object where it has to be another one.
template <class Pointer, class Make>
void match_pointee(walker& w, Pointer& pointer, const fact& stored, const Make& make) {
  using base = pointee<Pointer>;
  if constexpr (has_type_list<base>) {
    const bool listed = for_some_type(polymorphic<base>{}, [&]<class Derived>(Derived*) {
      if (stored.text != type_name<Derived>()) return false;
      bool fits = false;
      if (pointer) {
        auto& object = *pointer;
        fits = typeid(object) == typeid(Derived);
      }
      make.template operator()<Derived>(fits);
      if (fits || w.is_writing())
        walk(w, static_cast<Derived&>(*pointer));
      else
        walk_prototype<Derived>(w);
      return true;
    });
    if (listed) return;
    w.refuse("is a '" + stored.text + "' in the checkpoint, which is not a listed type");
  } else {
    if constexpr (std::is_default_constructible_v<base>) make.template operator()<base>(pointer != nullptr);
    if (pointer)
      walk(w, *pointer);
    else
      walk_prototype<base>(w);
  }
}

template <class Base>
constexpr fact::kind pointer_fact = has_type_list<Base> ? fact::kind::type : fact::kind::engaged;

inline bool is_null(const fact& stored) { return stored.what == fact::kind::engaged && stored.number == 0; }

template <class T>
void walk_unique(walker& w, T& pointer) {
  check_pointee<pointee<T>>();
  if (w.is_filtered()) return;
  if (w.is_describing()) {
    if (pointer) return describe_pointee(w, *pointer);
    return w.state(fact::kind::engaged, 0);
  }
  const fact* stored = w.stored(pointer_fact<pointee<T>>);
  if (!stored) {
    if constexpr (!has_type_list<pointee<T>>) {
      if (pointer) walk(w, *pointer);
    }
    return;
  }
  if (is_null(*stored)) {
    if (w.is_writing()) pointer.reset();
    return;
  }
  match_pointee(w, pointer, *stored, [&]<class Object>(bool fits) {
    if (!fits && w.is_writing()) pointer.reset(new Object());
  });
}

/// The first path that leads to a shared object describes it; all others say that it is the same.
template <class T>
void describe_shared(walker& w, const T& pointer) {
  if (!pointer) return w.state(fact::kind::engaged, 0);
  using object = pointee<T>;
  if (const auto* first = w.description().met_before(pointer.get(), typeid(object), w.path()))
    return w.state({.what = fact::kind::same, .text = *first});
  describe_pointee(w, const_cast<object&>(*pointer));
}

/// Takes the object that an earlier path has loaded.
template <class T>
void match_same(walker& w, T& pointer, const fact& stored) {
  using object = pointee<T>;
  const auto at = w.match().objects.find(stored.text);
  if (at == w.match().objects.end() || at->second.first != std::type_index(typeid(object))) {
    w.refuse("shares the object at " + stored.text + ", which is not loaded" +
             (at == w.match().objects.end() ? "" : " as the same type"));
    return;
  }
  if (w.is_writing()) pointer = std::static_pointer_cast<typename T::element_type>(at->second.second);
}

template <class T>
void walk_shared(walker& w, T& pointer) {
  using object = pointee<T>;
  check_pointee<object>();
  if (w.is_filtered()) return;
  if (w.is_describing()) return describe_shared(w, pointer);
  auto& match = w.match();
  const fact* stored = w.stored(pointer_fact<object>);
  if (!stored) {
    if constexpr (!has_type_list<object>) {
      if (pointer && match.filled_objects.insert(pointer.get()).second) walk(w, const_cast<object&>(*pointer));
    }
    return;
  }
  if (stored->what == fact::kind::same) return match_same(w, pointer, *stored);
  if (is_null(*stored)) {
    if (w.is_writing()) pointer.reset();
    return;
  }
  const auto path = match.stored_path(w.path());
  std::shared_ptr<object> loaded = std::const_pointer_cast<object>(pointer);
  // An object that another path has filled is not this path's: in the checkpoint the two are distinct.
  if (match.filled_objects.contains(loaded.get())) loaded.reset();
  match_pointee(w, loaded, *stored, [&]<class Object>(bool fits) {
    if (!fits && w.is_writing()) loaded = std::make_shared<Object>();
    if (loaded) match.filled_objects.insert(loaded.get());
    match.objects.insert_or_assign(path, std::pair{std::type_index(typeid(object)), std::shared_ptr<void>(loaded)});
  });
  if (w.is_writing()) pointer = loaded;
}

template <class T>
void walk_weak(walker& w, T& pointer) {
  auto strong = pointer.lock();
  walk_shared(w, strong);
  if (!w.is_describing() && w.is_writing()) pointer = strong;
}

}  // namespace cairn::detail

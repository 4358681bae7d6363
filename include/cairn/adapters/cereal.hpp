// States of types that have cereal functions: `serialize`, `save` and `load`, or `save_minimal` and `load_minimal`.
#pragma once

#include <cereal/access.hpp>
#include <cereal/cereal.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "cairn/adapters/cereal/archives.hpp"
#include "cairn/adapters/cereal/checks.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/archived.hpp"
#include "cairn/state/column_copy.hpp"

namespace cairn::detail {

template <class T, bool Whole>
consteval bool check_cereal_class() {
  constexpr int saves = cereal::traits::detail::count_output_serializers<T, cereal_output>::value;
  constexpr int loads = cereal::traits::detail::count_input_serializers<T, cereal_input>::value;
  if constexpr (saves > 1 || loads > 1) {
    static_assert(
        always_false<T>,
        "cairn: this class has several cereal functions of one kind, perhaps inherited ones: say which one to "
        "use with CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES");
    return false;
  } else if constexpr (saves == 0) {
    static_assert(always_false<T>, "cairn: this class has a cereal function that loads it, but none that saves it");
    return false;
  } else if constexpr (loads == 0) {
    static_assert(always_false<T>, "cairn: this class has a cereal function that saves it, but none that loads it");
    return false;
  } else if constexpr (!use_bridge<T> && inherits_cereal_functions<T>()) {
    static_assert(always_false<T>,
                  "cairn: this class has only the cereal functions of a base class, which leave out its own members: "
                  "write functions for it, or, if it has no members of its own, "
                  "`template <> inline constexpr bool cairn::use_bridge<T> = true;`");
    return false;
  } else if constexpr (Whole && !use_bridge<T> && !std::is_default_constructible_v<T>) {
    static_assert(
        always_false<T>,  // one that is private to cereal::access cannot be found
        "cairn: a load through cereal functions is tried on a new object first, so this class needs a default "
        "constructor: write one; or, if it has one that is private to cereal::access, "
        "`template <> inline constexpr bool cairn::use_bridge<T> = true;`");
    return false;
  } else {
    return true;
  }
}

template <class T>
concept cereal_minimal_class = cereal_class<T> && category_of<T>() == category::bridged &&
                               cereal::traits::has_minimal_output_serialization<T, cereal_output>::value;

template <class Value>
struct versioned_minimal {
  std::uint32_t cereal_class_version = 0;
  Value value0{};
};

/// Calls `save_minimal` and `load_minimal` of T. The archive is there only to choose a function by its type.
template <class T>
struct cereal_minimal {
  template <template <class, class> class Has>
  static constexpr bool has = Has<T, cereal_output>::value;
  static constexpr bool is_member =
      has<cereal::traits::has_member_save_minimal> || has<cereal::traits::has_member_versioned_save_minimal>;
  static constexpr bool is_versioned = has<cereal::traits::has_member_versioned_save_minimal> ||
                                       has<cereal::traits::has_non_member_versioned_save_minimal>;

  template <class... Version>
  static auto save(const T& object, Version... version) {
    const cereal_output archive;
    if constexpr (is_member)
      return cereal::access::member_save_minimal(archive, object, version...);
    else
      return CEREAL_SAVE_MINIMAL_FUNCTION_NAME(archive, object, version...);
  }
  template <class Value, class... Version>
  static void load(T& object, const Value& value, Version... version) {
    const cereal_input archive;
    if constexpr (is_member)
      cereal::access::member_load_minimal(archive, object, value, version...);
    else
      CEREAL_LOAD_MINIMAL_FUNCTION_NAME(archive, object, value, version...);
  }

  /// What a T is saved as.
  static auto take(const T& object) {
    static_assert(check_cereal_class<T, false>());
    if constexpr (is_versioned) {
      const std::uint32_t version = cereal::detail::Version<T>::version;
      return versioned_minimal<decltype(save(object, version))>{version, save(object, version)};
    } else {
      return save(object);
    }
  }
};

/// A type with minimal functions is saved as the value that these give and take.
template <cereal_minimal_class T>
struct copy_traits<T> {
  using type = decltype(cereal_minimal<T>::take(std::declval<const T&>()));

  static type take(const T& object) {
    static_assert(std::is_default_constructible_v<T>,
                  "cairn: a load through cereal functions is tried on a new object first, so this class needs a "
                  "default constructor");
    return with_errors("its save_minimal function failed", [&] { return cereal_minimal<T>::take(object); });
  }
  static void put(T& object, const type& stored) {
    with_errors("its load_minimal function failed", [&] {
      if constexpr (cereal_minimal<T>::is_versioned)
        cereal_minimal<T>::load(object, stored.value0, stored.cereal_class_version);
      else
        cereal_minimal<T>::load(object, stored);
    });
  }
};

/// A type with other functions is walked by them.
template <cereal_class T>
struct bridge<T> {
  static void walk(walker& w, T& object) {
    if constexpr (check_cereal_class<T, true>()) walk_archived(w, std::addressof(object), cereal_functions<T>::whole);
  }
};

}  // namespace cairn::detail

// SPDX-License-Identifier: MIT
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
#include "cairn/state/copies.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1::detail {

/// Why a T cannot be saved or loaded through its functions. `Makes`: a load makes another T.
template <class T, bool Makes>
consteval problem problem_of_cereal_class() {
  constexpr int saves = cereal::traits::detail::count_output_serializers<T, cereal_output>::value;
  constexpr int loads = cereal::traits::detail::count_input_serializers<T, cereal_input>::value;
  if constexpr (saves != 1 || loads != 1)
    return problem::cereal_functions;
  else if constexpr (!use_bridge<T> && inherits_cereal_functions<T>())
    return problem::cereal_functions;
  else if constexpr (Makes && !default_made<T> && (minimal_functions<T>::any || !use_bridge<T>))
    return problem::cereal_constructor;
  else
    return problem::none;
}

template <class T>
consteval bool check_cereal_part() {
  constexpr problem what = problem_of_cereal_class<T, false>();
  if constexpr (what != problem::none) checked_walk<T, true, what, in_pieces<type_text<T>>()>();
  return what == problem::none;
}

template <class T>
concept cereal_minimal_class = cereal_class<T> && category_of<T>() == category::bridged && minimal_functions<T>::any;

template <class Value>
struct versioned_minimal {
  std::uint32_t cereal_class_version = 0;
  Value value0{};
};

/// Calls `save_minimal` and `load_minimal` of T. The archive is there only to choose a function by its type.
template <class T>
struct cereal_minimal {
  using functions = minimal_functions<T>;
  static constexpr bool is_member = functions::member || functions::versioned_member;
  static constexpr bool is_versioned = functions::versioned_member || functions::versioned_free;

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
  static consteval detail::problem problem() { return problem_of_cereal_class<T, true>(); }
  static void walk(walker& w, T& object) { walk_archived(w, std::addressof(object), cereal_functions<T>::whole); }
};

}  // namespace cairn::inline v0_1::detail

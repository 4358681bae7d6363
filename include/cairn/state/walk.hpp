// SPDX-License-Identifier: MIT
// Defines `walk<T>`, which calls the walk function of the category of T.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/state/adapter.hpp"
#include "cairn/state/sharded.hpp"
#include "cairn/state/category.hpp"
#include "cairn/state/container_copies.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/changes.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/refuse.hpp"  // IWYU pragma: export
#include "cairn/state/state.hpp"
#include "cairn/state/walk_holder.hpp"
#include "cairn/state/walk_record.hpp"
#include "cairn/state/walk_container.hpp"
#include "cairn/state/walk_object.hpp"
#include "cairn/state/walk_tensor.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

template <class T>
inline constexpr bool always_false = false;

template <class T>
struct copied_object {
  using copy = copy_type<T>;
  static constexpr bool is_sized = category_of<T>() != category::adapted && (range_type<T> || bitset_type<T>) &&
                                   requires(const T& object) { object.size(); };

  static constexpr std::size_t bytes_per_element() {
    if constexpr (!is_sized || category_of<T>() == category::bits)
      return 1;
    else if constexpr (requires { typename T::hasher; })
      return sizeof(typename T::value_type) + 3 * sizeof(void*);  // for the order of its keys
    else
      return sizeof(typename T::value_type);
  }
  static std::uint64_t bytes([[maybe_unused]] const void* object) {
    if constexpr (is_sized)
      return static_cast<const T*>(object)->size() * bytes_per_element();
    else
      return 0;
  }
  static void* take(const void* object) { return new copy(copy_traits<T>::take(*static_cast<const T*>(object))); }
  static void* make() { return new copy(); }
  static void put(void* object, void* stored) {
    copy_traits<T>::put(*static_cast<T*>(object), *static_cast<copy*>(stored));
  }
  static std::vector<std::string> check(const void* object, const void* stored) {
    [[maybe_unused]] const T& at = *static_cast<const T*>(object);
    [[maybe_unused]] const copy& value = *static_cast<const copy*>(stored);
    if constexpr (requires { copy_traits<T>::check(at, value); }) copy_traits<T>::check(at, value);
    if constexpr (requires { std::vector<std::string>(adapter<T>::check(at, value)); })
      return adapter<T>::check(at, value);
    else if constexpr (has_checked_adapter<T, copy>)
      adapter<T>::check(at, value);
    return {};
  }
  static void try_put(const void* object, void* stored) {
    const T& at = *static_cast<const T*>(object);
    copy& value = *static_cast<copy*>(stored);
    if constexpr (requires { copy_traits<T>::try_put(at, value); }) {
      copy_traits<T>::try_put(at, value);
    } else {
      const std::unique_ptr<T> trial(detail::new_prototype(at));
      if (trial) put(trial.get(), stored);
    }
  }

  static void for_each_freed(void* object, const void* stored, void* context,
                             void (*action)(void* context, const void* memory, std::size_t bytes)) {
    if constexpr (has_elements)
      copy_traits<T>::for_each_freed(*static_cast<T*>(object), static_cast<const copy*>(stored),
                                     [&](auto& element) { action(context, std::addressof(element), sizeof element); });
  }
  static constexpr bool has_elements =
      requires(T& object, const copy* stored) { copy_traits<T>::for_each_freed(object, stored, [](auto&) {}); };

  static constexpr copy_operations operations{walk<copy>,
                                              is_sized ? bytes : nullptr,
                                              take,
                                              make,
                                              number_array<T>,
                                              !has_copy_adapter<T>,
                                              destroy<copy>,
                                              put,
                                              check,
                                              try_put,
                                              has_elements ? for_each_freed : nullptr};
};

/// The part of a path that stands for the value of rank `rank`.
inline std::string rank_path(std::uint64_t rank) { return "rank" + std::to_string(rank); }

template <class T, class Redistribute>
void walk_per_rank(walker& w, per_rank<T, Redistribute>& object) {
  constexpr bool redistributes = !std::is_same_v<Redistribute, refuse_other_ranks>;
  const auto [rank, ranks] = w.here();
  const auto saved = w.saved_ranks(redistributes);
  if (saved == 0) return;
  if (saved == ranks) return w.part(rank_path(rank), &object.value, walk<T>);
  if constexpr (redistributes) {
    const auto values = std::make_shared<std::vector<T>>(saved);
    w.begin_copy();
    for (std::uint64_t r = 0; r < saved; ++r) w.part(rank_path(r), &(*values)[r], walk<T>);
    const auto answer = w.end_copy();
    if (answer == copy_answer::drop) return;
    T mine = Redistribute::redistribute(std::move(*values), rank, ranks);
    if (answer == copy_answer::put) object.value = std::move(mine);
  } else {
    w.reject("is per-rank state saved by " + std::to_string(saved) + " ranks, which cannot be loaded on " +
             std::to_string(ranks) + "; give cairn::per_rank a Redistribute that can");
  }
}

template <class T, category Kind>
void walk(walker& w, void* at) {
  [[maybe_unused]] T& object = *static_cast<T*>(at);
  if constexpr (copied<T>)
    w.copy(at, copied_object<T>::operations);
  else if constexpr (Kind == category::adapted)
    detail::walk_adapted(w, object);
  else if constexpr (Kind == category::per_rank)
    detail::walk_per_rank(w, object);
  else if constexpr (Kind == category::skipped)
    return;
  else if constexpr (Kind == category::references)
    walk_references(w, static_cast<named_references*>(&object));
  else if constexpr (has_enum_names<T>)
    w.enumerated(dtype_of<T>(), at, enum_table<T>);
  else if constexpr (Kind == category::scalar)
    w.element(dtype_of<T>(), at);
  else if constexpr (Kind == category::complex)
    w.array(dtype_of<typename T::value_type>(), 2, at, {});  // [complex.numbers]: an array of two, real part first
  else if constexpr (Kind == category::duration)
    w.element(dtype_of<typename T::rep>(), at);
  else if constexpr (Kind == category::fixed_array)
    detail::walk_fixed_array(w, object);
  else if constexpr (Kind == category::tuple)
    detail::walk_tuple(w, object);
  else if constexpr (has_member_names<T> && has_version<T>)
    w.versioned(at, version_of<T>::operations);
  else if constexpr (has_member_names<T>)
    detail::walk_members(w, object);
  else if constexpr (Kind == category::bridged)
    bridge<T>::walk(w, object);
  else if constexpr (Kind == category::tensor)
    detail::walk_tensor(w, at, operations_of_tensor<T>);
  else if constexpr (Kind == category::span)
    detail::walk_span(w, object);
  else if constexpr (Kind == category::valarray)
    contiguous_container<T>::walk_all(w, object);
  else if constexpr (Kind == category::sequence)
    detail::walk_sequence(w, object);
  else if constexpr (Kind == category::map)
    detail::walk_map(w, object);
  else if constexpr (Kind == category::container_adaptor)
    detail::walk_container_adaptor(w, object);
  else if constexpr (Kind == category::optional)
    detail::walk_optional(w, at, optional_of<T>::operations);
  else if constexpr (Kind == category::variant)
    detail::walk_variant(w, at, variant_of<T>::operations);
  else if constexpr (Kind == category::unique_pointer)
    detail::walk_unique(w, at, unique_of<T>::operations);
  else if constexpr (Kind == category::shared_pointer)
    detail::walk_shared(w, object);
  else if constexpr (Kind == category::weak_pointer)
    detail::walk_weak(w, object);
  else
    static_assert(always_false<T>, "cairn: a type that cannot be saved");  // refuse.hpp says why
}

// The library has the walks of common types, so that not each unit of a program compiles them: walk.ipp instantiates
// this list.
#define CAIRN_COMMON_WALKS(before)                                                           \
  before template void walk<bool, category::scalar>(walker&, void*);                         \
  before template void walk<char, category::scalar>(walker&, void*);                         \
  before template void walk<std::int8_t, category::scalar>(walker&, void*);                  \
  before template void walk<std::uint8_t, category::scalar>(walker&, void*);                 \
  before template void walk<std::int16_t, category::scalar>(walker&, void*);                 \
  before template void walk<std::uint16_t, category::scalar>(walker&, void*);                \
  before template void walk<std::int32_t, category::scalar>(walker&, void*);                 \
  before template void walk<std::uint32_t, category::scalar>(walker&, void*);                \
  before template void walk<std::int64_t, category::scalar>(walker&, void*);                 \
  before template void walk<std::uint64_t, category::scalar>(walker&, void*);                \
  before template void walk<float, category::scalar>(walker&, void*);                        \
  before template void walk<double, category::scalar>(walker&, void*);                       \
  before template void walk<std::string, category::sequence>(walker&, void*);                \
  before template void walk<text_column, category::record>(walker&, void*);                  \
  before template void walk<std::vector<std::uint8_t>, category::sequence>(walker&, void*);  \
  before template void walk<std::vector<std::int32_t>, category::sequence>(walker&, void*);  \
  before template void walk<std::vector<std::uint32_t>, category::sequence>(walker&, void*); \
  before template void walk<std::vector<std::int64_t>, category::sequence>(walker&, void*);  \
  before template void walk<std::vector<std::uint64_t>, category::sequence>(walker&, void*); \
  before template void walk<std::vector<float>, category::sequence>(walker&, void*);         \
  before template void walk<std::vector<double>, category::sequence>(walker&, void*);        \
  before template void walk<std::vector<std::string>, category::sequence>(walker&, void*);
CAIRN_COMMON_WALKS(extern)

}  // namespace cairn::inline v0_1::detail

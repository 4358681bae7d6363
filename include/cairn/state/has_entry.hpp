// Tells which types have an entry in the structure at the path of the object itself.
#pragma once

#include "cairn/state/category.hpp"
#include "cairn/state/column_copy.hpp"
#include "cairn/state/flat.hpp"

namespace cairn::detail {

template <class T>
consteval bool adds_entry() {
  if constexpr (copied<T>) {
    return adds_entry<copy_type<T>>();
  } else {
    constexpr auto kind = category_of<T>();
    if constexpr (kind == category::sequence)
      return !column_sequence<T>;
    else if constexpr (kind == category::container_adaptor)
      return adds_entry<typename T::container_type>();
    else
      return kind == category::map || kind == category::per_rank || kind == category::optional ||
             kind == category::variant || kind == category::unique_pointer || kind == category::shared_pointer ||
             kind == category::weak_pointer;
  }
}

/// True if `walk<T>` adds an entry (size, keys, engaged, index, type, same or ranks) at the path of the object itself. A path has at most
/// one entry, so a holder that has one walks such a content as a part: `walker::content`.
template <class T>
inline constexpr bool has_entry = adds_entry<T>();

}  // namespace cairn::detail

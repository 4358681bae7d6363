// SPDX-License-Identifier: MIT
// Which fields of a record are not state.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "cairn/state/record.hpp"
#include "cairn/state/skip.hpp"

namespace cairn::inline v0_1::detail {

/// For each field of the record, whether the record's list names it.
template <has_skip_list Record>
inline constexpr auto skip_list = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<bool, sizeof...(I)>{Record::cairn_skip::contains(stored_field_name<Record, I>.view())...};
}(std::make_index_sequence<arity<Record>>{});

/// Whether each name of the list is that of a field.
template <has_skip_list Record>
consteval bool is_list_of_fields() {
  std::size_t found = 0;
  for (const bool each : skip_list<Record>) found += each ? 1 : 0;
  return found == Record::cairn_skip::count;
}

/// Whether field I, a `Field`, is not state. One template per field: ask first if the record has a list or a `skip`.
template <class Record, std::size_t I, class Field>
consteval bool is_skipped_field() {
  if constexpr (is_skip<Field>)
    return true;
  else if constexpr (has_skip_list<Record>)
    return skip_list<Record>[I];
  else
    return false;
}

}  // namespace cairn::inline v0_1::detail

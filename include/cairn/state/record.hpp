// The fields of a plain aggregate, by reference, type and name. Rests on structured bindings and on the compiler's spelling
// of a pointer to a member of an object that is never defined.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cairn/state/arity.hpp"
#include "cairn/state/field_table.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::detail {

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

/// Calls `action` with references to all fields, and returns what it returns.
template <class Record, class Action>
constexpr decltype(auto) with_fields(Record& record, const Action& action) {
  return bind_fields<arity<std::remove_const_t<Record>>>(record, action);
}

/// A std::tuple of references to all fields.
template <class Record>
constexpr auto tie_fields(Record& record) noexcept {
  return with_fields(record, [](auto&... each) { return std::tie(each...); });
}

template <class... Types>
struct type_list {};

/// The types of the fields, const where a field is.
template <class Record>
using field_types = decltype(with_fields(
    std::declval<Record&>(), [](auto&... each) { return type_list<std::remove_reference_t<decltype(each)>...>{}; }));

template <class Record>
struct nameless {
  Record value;
};
template <class Record>
extern const nameless<Record> undefined_object;  // only the spelling of its address is used

template <class Pointer>
struct member_pointer {
  Pointer pointer;
};
template <class Pointer>
member_pointer(Pointer) -> member_pointer<Pointer>;

template <class Record>
inline constexpr auto field_pointers =
    with_fields(const_cast<Record&>(undefined_object<Record>.value),
                [](auto&... each) { return std::tuple{member_pointer{std::addressof(each)}...}; });

template <class Record, std::size_t I>
consteval std::string_view field_name_view() {
  return last_identifier(signature_of_value<std::get<I>(field_pointers<Record>)>());
}

template <class Record, std::size_t I>
inline constexpr short_name<field_name_view<Record, I>().size()> stored_field_name{field_name_view<Record, I>()};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace cairn::detail

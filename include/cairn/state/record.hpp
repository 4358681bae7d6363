// The fields of a plain aggregate, by reference, type and name. The references come from Boost.PFR, or from own structured
// bindings for records that PFR cannot read; the names from the compiler's spelling of a pointer to a member of an object that
// is never made.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>

#include "cairn/state/arity.hpp"
#include "cairn/state/field_table.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::detail {

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

/// True for a record of plain values, whose fields Boost.PFR reads. Others it may fail to compile, depending on its version and on the
/// compiler:
/// - it counts the elements of a C array one by one, and may not count fields of which one needs an initializer;
/// - while it counts, it copies fields whose type claims to be copyable, which is an error for `std::vector<std::unique_ptr<T>>`;
/// - before 1.87 it tries up to 8 initializers per byte of the record, and causes an internal error of g++ 12 where a default member
///   initializer makes an array of objects with destructors, as `std::vector<std::string> names = {"a", "b"}` does.
template <class Record>
inline constexpr bool is_read_by_pfr =
    std::is_trivially_destructible_v<Record> && std::is_trivially_copy_constructible_v<Record> &&
    std::is_nothrow_default_constructible_v<Record> && sizeof(Record) <= 4096 &&
    takes_flat<Record>(std::index_sequence<>{}) && arity<Record> <= max_fields &&
    arity<Record> == flat_length<Record>();

/// Calls `action` with references to all fields, and returns what it returns.
template <class Record, class Action>
constexpr decltype(auto) with_fields(Record& record, const Action& action) {
  using type = std::remove_const_t<Record>;
  if constexpr (is_read_by_pfr<type>)
    return std::apply(action, boost::pfr::structure_tie(record));
  else
    return bind_fields<arity<type>>(record, action);
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
union unmade {
  constexpr unmade() noexcept : nothing() {}
  constexpr ~unmade() {}
  char nothing;
  Record value;
};
template <class Record>
inline constexpr unmade<Record> unmade_object;  // a record that is never made: only the spelling of its address is used

/// A pointer to field I.
template <std::size_t I, class Pointer>
struct member_pointer {
  Pointer pointer;
};
/// Works like a std::tuple of the pointers, which takes longer to compile.
template <class... Pointers>
struct member_pointers : Pointers... {};

template <std::size_t I, class Pointer>
constexpr member_pointer<I, Pointer> pointer_at(member_pointer<I, Pointer> found) noexcept {
  return found;
}

template <class Record>
inline constexpr auto field_pointers =
    with_fields(const_cast<Record&>(unmade_object<Record>.value), []<class... Fields>(Fields&... each) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return member_pointers<member_pointer<I, Fields*>...>{{std::addressof(each)}...};
      }(std::index_sequence_for<Fields...>{});
    });

template <class Record, std::size_t I>
consteval std::string_view field_name_view() {
  return last_identifier(signature_of_value<detail::pointer_at<I>(field_pointers<Record>)>());
}

template <class Record, std::size_t I>
inline constexpr short_name<field_name_view<Record, I>().size()> stored_field_name{field_name_view<Record, I>()};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace cairn::detail

// SPDX-License-Identifier: MIT
// The fields of a plain aggregate, by reference, type and name. The references come from Boost.PFR, or from own
// structured bindings for records that PFR cannot read; the names from the compiler's spelling of a pointer to a member
// of an object that is never made.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>

#include "cairn/state/arity.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

inline constexpr std::size_t max_fields = 100;

/// What bind_fields returns if a field has no address: a bit-field, or, with g++, a member of a packed record.
struct no_address {};

struct take_references {
  template <class... Fields>
  static void take(Fields&...);
};

// One structured binding per number of fields: CAIRN_TEN_ROWS makes those for ten numbers of fields, `before` being the
// names of the tens before.
#define CAIRN_ROW(count, ...)                             \
  else if constexpr (Count == count) {                    \
    auto& [__VA_ARGS__] = record;                         \
    if constexpr (requires { Takes::take(__VA_ARGS__); }) \
      return action(__VA_ARGS__);                         \
    else                                                  \
      return no_address{};                                \
  }
#define CAIRN_NAMES(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9
#define CAIRN_TEN_ROWS(tens, n, ...)                                                             \
  else if constexpr (Count <= tens + 10) {                                                       \
    if constexpr (Count == 0) {                                                                  \
      return action();                                                                           \
    }                                                                                            \
    CAIRN_ROW(tens + 1, __VA_ARGS__ n##0)                                                        \
    CAIRN_ROW(tens + 2, __VA_ARGS__ n##0, n##1)                                                  \
    CAIRN_ROW(tens + 3, __VA_ARGS__ n##0, n##1, n##2)                                            \
    CAIRN_ROW(tens + 4, __VA_ARGS__ n##0, n##1, n##2, n##3)                                      \
    CAIRN_ROW(tens + 5, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4)                                \
    CAIRN_ROW(tens + 6, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5)                          \
    CAIRN_ROW(tens + 7, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5, n##6)                    \
    CAIRN_ROW(tens + 8, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7)              \
    CAIRN_ROW(tens + 9, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8)        \
    CAIRN_ROW(tens + 10, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9) \
  }

/// Calls `action` with references to all `Count` fields of the record, and returns what it returns. At most max_fields.
/// no_address, and no call, if `Takes::take` cannot take the fields.
template <std::size_t Count, class Takes = take_references, class Record, class Action>
constexpr decltype(auto) bind_fields(Record& record, const Action& action) {
  if constexpr (Count > max_fields) {
    static_assert(Count <= max_fields);
  }
  CAIRN_TEN_ROWS(0, a)
  CAIRN_TEN_ROWS(10, b, CAIRN_NAMES(a), )
  CAIRN_TEN_ROWS(20, c, CAIRN_NAMES(a), CAIRN_NAMES(b), )
  CAIRN_TEN_ROWS(30, d, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), )
  CAIRN_TEN_ROWS(40, e, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), )
  CAIRN_TEN_ROWS(50, f, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e), )
  CAIRN_TEN_ROWS(60, g, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e),
                 CAIRN_NAMES(f), )
  CAIRN_TEN_ROWS(70, h, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e), CAIRN_NAMES(f),
                 CAIRN_NAMES(g), )
  CAIRN_TEN_ROWS(80, i, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e), CAIRN_NAMES(f),
                 CAIRN_NAMES(g), CAIRN_NAMES(h), )
  CAIRN_TEN_ROWS(90, j, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e), CAIRN_NAMES(f),
                 CAIRN_NAMES(g), CAIRN_NAMES(h), CAIRN_NAMES(i), )
}

#undef CAIRN_TEN_ROWS
#undef CAIRN_NAMES
#undef CAIRN_ROW

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

/// Whether bind_fields can read the record: its fields are counted, and all of them are members of the record itself.
template <class Record>
inline constexpr bool is_bindable = counted_fields<Record>.known && counted_fields<Record>.bases_are_empty &&
                                    !counted_fields<Record>.has_union && arity<Record> <= max_fields;

/// True for a record of plain values, whose fields Boost.PFR reads. Others it may fail to compile, depending on its
/// version and on the compiler:
/// - it counts a C array's elements one by one, may not count fields if one needs an initializer, refuses base classes;
/// - while counting, it copies fields whose type claims to be copyable: an error for `std::vector<std::unique_ptr<T>>`;
/// - before 1.87 it tries up to 8 initializers per byte of the record, and causes an internal error of g++ 12 where a
///   default member initializer makes an array of objects with destructors, as `std::vector<std::string> names = {"a",
///   "b"}` does.
template <class Record>
consteval bool can_pfr_read() {
  if constexpr (std::is_trivially_destructible_v<Record> && std::is_trivially_copy_constructible_v<Record> &&
                std::is_nothrow_default_constructible_v<Record> && sizeof(Record) <= 4096)
    return is_bindable<Record> && braces<0>::template take<Record> && counted_fields<Record>.bases == 0 &&
           takes_values<Record, arity<Record>> && !takes_values<Record, arity<Record> + 1>;
  else
    return false;
}
template <class Record>
inline constexpr bool is_read_by_pfr = can_pfr_read<Record>();

/// Calls `action` with references to all fields, and returns what it returns.
template <class Record, class Action>
constexpr decltype(auto) with_fields(Record& record, const Action& action) {
  using type = std::remove_const_t<Record>;
  if constexpr (is_read_by_pfr<type>)
    return std::apply(action, boost::pfr::structure_tie(record));
  else
    return detail::bind_fields<arity<type>>(record, action);
}

/// A std::tuple of references to all fields.
template <class Record>
constexpr auto tie_fields(Record& record) noexcept {
  return detail::with_fields(record, [](auto&... each) { return std::tie(each...); });
}

template <class... Types>
struct type_list {};

struct make_type_list {
  template <class... Fields>
  constexpr type_list<Fields...> operator()(Fields&...) const noexcept {
    return {};
  }
};

template <class Record>
consteval auto find_field_types() {
  if constexpr (is_bindable<Record>)
    return std::type_identity<decltype(detail::bind_fields<arity<Record>>(std::declval<Record&>(),
                                                                          make_type_list{}))>{};
  else
    return std::type_identity<no_address>{};
}

/// The types of the fields, const where a field is. no_address if the fields cannot be read.
template <class Record>
using field_types = typename decltype(find_field_types<Record>())::type;

#if defined(__clang__) && __clang_major__ < 19  // which do not accept the union below as a literal type
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
template <class Record>
struct unmade {
  Record value;
};
template <class Record>
extern const unmade<Record> unmade_object;
#pragma clang diagnostic pop
#else
template <class Record>
union unmade {
  constexpr unmade() noexcept : nothing() {}
  constexpr ~unmade() {}
  char nothing;
  Record value;
};
template <class Record>
inline constexpr unmade<Record> unmade_object;  // a record that is never made: only the spelling of its address is used
#endif

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

struct make_pointers {
  template <class... Fields>
  constexpr auto operator()(Fields&... each) const noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return member_pointers<member_pointer<I, Fields*>...>{{std::addressof(each)}...};
    }(std::index_sequence_for<Fields...>{});
  }
};

template <class Record>
constexpr auto find_field_pointers() {
  return detail::bind_fields<arity<Record>>(const_cast<Record&>(unmade_object<Record>.value), make_pointers{});
}

template <class Record>
inline constexpr auto field_pointers = find_field_pointers<Record>();

/// Whether the fields of an object that is never made have addresses. A reference member refers to nothing then.
template <class Record>
concept has_field_pointers =
    requires { typename std::bool_constant<(static_cast<void>(find_field_pointers<Record>()), true)>; };

/// It is not looked for where a record can be assigned: Clang 16 cannot look in all of those.
template <class Record>
consteval bool find_reference_member() {
  if constexpr (std::is_move_assignable_v<Record>)
    return false;
  else
    return !has_field_pointers<Record>;
}

template <class Record>
inline constexpr bool has_reference_member = find_reference_member<Record>();

template <class Record, std::size_t I>
consteval std::string_view field_name_view() {
  return last_identifier(signature_of_value<detail::pointer_at<I>(field_pointers<Record>)>());
}

template <class Record, std::size_t I>
inline constexpr short_name<field_name_view<Record, I>().size()> stored_field_name{field_name_view<Record, I>()};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace cairn::inline v0_1::detail

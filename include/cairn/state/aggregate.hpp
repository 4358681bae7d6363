// SPDX-License-Identifier: MIT
// The fields of an aggregate: how many there are, references to them, their types and names. The references come from
// Boost.PFR, or from structured bindings of records that PFR cannot read; the names from the compiler's spelling of a
// pointer to a member of an object that is never made. Only parts.hpp asks for them.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>

#include "cairn/state/adapter.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/words.hpp"

namespace cairn::inline v0_1::detail {

inline constexpr std::size_t max_fields = 100;

/// What bind_fields returns if a field has no address: a bit-field, or, with g++, a member of a packed record.
struct no_address {};

struct take_references {
  template <class... Fields>
  static void take(Fields&...);
};

/// `takes<T, X...>`: whether `T{{}, {}, ..., X{}...}` is valid, with `Count` empty braces: one for a field, also for a
/// C array. `bind(record, action)` calls `action` with references to all of `Count` fields.
template <std::size_t Count>
struct row;

template <>
struct row<0> {
  template <class T, class... X>
  static constexpr bool takes = requires { T{X{}...}; };
  template <class Record, class Action>
  static constexpr decltype(auto) bind(Record& /*record*/, const Action& action) {
    return action();
  }
};

// clang-format off
#define CAIRN_ALL(...) __VA_ARGS__
#define CAIRN_ROW(count, braces, ...)                                              \
  template <>                                                                      \
  struct row<count> {                                                              \
    template <class T, class... X>                                                 \
    static constexpr bool takes = requires { T{CAIRN_ALL braces X{}...}; };        \
    template <class Record, class Action>                                          \
    static constexpr decltype(auto) bind(Record& record, const Action& action) {   \
      auto& [__VA_ARGS__] = record;                                                \
      if constexpr (requires { take_references::take(__VA_ARGS__); })              \
        return action(__VA_ARGS__);                                                \
      else                                                                         \
        return no_address{};                                                       \
    }                                                                              \
  };
// Ten rows, by the braces and the names of the rows before.
#define CAIRN_ROWS(tens, braces, n, ...)                                                                      \
  CAIRN_ROW(tens + 1, (CAIRN_ALL braces {},), __VA_ARGS__ n##0)                                               \
  CAIRN_ROW(tens + 2, (CAIRN_ALL braces {}, {},), __VA_ARGS__ n##0, n##1)                                     \
  CAIRN_ROW(tens + 3, (CAIRN_ALL braces {}, {}, {},), __VA_ARGS__ n##0, n##1, n##2)                           \
  CAIRN_ROW(tens + 4, (CAIRN_ALL braces {}, {}, {}, {},), __VA_ARGS__ n##0, n##1, n##2, n##3)                 \
  CAIRN_ROW(tens + 5, (CAIRN_ALL braces CAIRN_5), __VA_ARGS__ CAIRN_NAMES(n) n##4)                            \
  CAIRN_ROW(tens + 6, (CAIRN_ALL braces CAIRN_5 {},), __VA_ARGS__ CAIRN_NAMES(n) n##4, n##5)                  \
  CAIRN_ROW(tens + 7, (CAIRN_ALL braces CAIRN_5 {}, {},), __VA_ARGS__ CAIRN_NAMES(n) n##4, n##5, n##6)        \
  CAIRN_ROW(tens + 8, (CAIRN_ALL braces CAIRN_5 {}, {}, {},), __VA_ARGS__ CAIRN_NAMES(n) n##4, n##5, n##6, n##7) \
  CAIRN_ROW(tens + 9, (CAIRN_ALL braces CAIRN_5 {}, {}, {}, {},),                                             \
            __VA_ARGS__ CAIRN_NAMES(n) n##4, n##5, n##6, n##7, n##8)                                          \
  CAIRN_ROW(tens + 10, (CAIRN_ALL braces CAIRN_5 CAIRN_5),                                                    \
            __VA_ARGS__ CAIRN_NAMES(n) n##4, n##5, n##6, n##7, n##8, n##9)
#define CAIRN_5 {}, {}, {}, {}, {},
#define CAIRN_T CAIRN_5 CAIRN_5
#define CAIRN_NAMES(n) n##0, n##1, n##2, n##3,
#define CAIRN_N(n) CAIRN_NAMES(n) n##4, n##5, n##6, n##7, n##8, n##9,

CAIRN_ROWS(0, (), a)
CAIRN_ROWS(10, (CAIRN_T), b, CAIRN_N(a))
CAIRN_ROWS(20, (CAIRN_T CAIRN_T), c, CAIRN_N(a) CAIRN_N(b))
CAIRN_ROWS(30, (CAIRN_T CAIRN_T CAIRN_T), d, CAIRN_N(a) CAIRN_N(b) CAIRN_N(c))
CAIRN_ROWS(40, (CAIRN_T CAIRN_T CAIRN_T CAIRN_T), e, CAIRN_N(a) CAIRN_N(b) CAIRN_N(c) CAIRN_N(d))
CAIRN_ROWS(50, (CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T), f,
           CAIRN_N(a) CAIRN_N(b) CAIRN_N(c) CAIRN_N(d) CAIRN_N(e))
CAIRN_ROWS(60, (CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T), g,
           CAIRN_N(a) CAIRN_N(b) CAIRN_N(c) CAIRN_N(d) CAIRN_N(e) CAIRN_N(f))
CAIRN_ROWS(70, (CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T), h,
           CAIRN_N(a) CAIRN_N(b) CAIRN_N(c) CAIRN_N(d) CAIRN_N(e) CAIRN_N(f) CAIRN_N(g))
CAIRN_ROWS(80, (CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T), i,
           CAIRN_N(a) CAIRN_N(b) CAIRN_N(c) CAIRN_N(d) CAIRN_N(e) CAIRN_N(f) CAIRN_N(g) CAIRN_N(h))
CAIRN_ROWS(90, (CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T CAIRN_T), j,
           CAIRN_N(a) CAIRN_N(b) CAIRN_N(c) CAIRN_N(d) CAIRN_N(e) CAIRN_N(f) CAIRN_N(g) CAIRN_N(h) CAIRN_N(i))

#undef CAIRN_N
#undef CAIRN_NAMES
#undef CAIRN_T
#undef CAIRN_5
#undef CAIRN_ROWS
#undef CAIRN_ROW
#undef CAIRN_ALL
// clang-format on

// Initializers, not evaluated: what they convert to.

struct anything {
  template <class T>
  operator T() const noexcept;
};
struct any_reference {
  template <class T>
  operator T&() const noexcept;
};
struct nothing {};
template <class Derived, bool Empty>
struct any_base {
  template <class T>
  requires(std::is_base_of_v<T, Derived> && (!Empty || std::is_empty_v<T>))
  operator T() const noexcept;
};
template <class Type>
struct exactly {
  template <class T>
  requires(std::is_same_v<T, Type>)
  operator T() const noexcept;
};

/// Whether the name has a part like "<unnamed union>" or, of clang, "(anonymous union at x.cpp:1:1)". clang calls the
/// type of a member that has a name "(unnamed union at ...)".
consteval bool is_unnamed(std::string_view name) {
  constexpr std::string_view kinds[] = {"<unnamed union>", "(anonymous union at "};
  for (; !name.empty(); name.remove_prefix(1))
    for (const auto kind : kinds)
      if (name.starts_with(kind)) return true;
  return false;
}
/// A union without a name: it may be an anonymous one, whose members are members of the record.
template <class T>
concept unnamed_union = std::is_union_v<T> && !has_adapter<T> && is_unnamed(type_name_view<T>());
struct any_unnamed_union {
  template <unnamed_union T>
  operator T() const noexcept;
};

template <std::size_t>
using some = anything;

template <class T, std::size_t... Left, std::size_t... Right>
consteval bool takes_braces_between(std::index_sequence<Left...>, std::index_sequence<Right...>) {
  return requires { T{std::declval<some<Left>>()..., {}, std::declval<some<Right>>()...}; };
}

/// Whether `T{x, x, ...}` is valid with that many initializers. A C array takes one per element: braces may be absent.
// The initializers are no constants: with constants g++ compiles the constructors that they call, which for
// `std::optional<Eigen::MatrixXf>` is an error.
template <class T, std::size_t... I>
consteval bool takes_flat(std::index_sequence<I...>) {
  return requires { T{std::declval<some<I>>()...}; };
}
template <class T, std::size_t Count>
inline constexpr bool takes_values = takes_flat<T>(std::make_index_sequence<Count>{});

/// The largest number of empty braces that T takes, which takes `Low` of them and not `High`.
template <class T, std::size_t Low, std::size_t High>
consteval std::size_t bisect_braces() {
  constexpr std::size_t middle = (Low + High) / 2;
  if constexpr (middle == Low)
    return Low;
  else if constexpr (row<middle>::template takes<T>)
    return bisect_braces<T, middle, High>();
  else
    return bisect_braces<T, Low, middle>();
}
/// The same for a T that takes `Low` of them. At most max_fields.
template <class T, std::size_t Low = 0, std::size_t High = 4>
consteval std::size_t largest_braces() {
  if constexpr (High > max_fields)
    return bisect_braces<T, Low, max_fields + 1>();
  else if constexpr (row<High>::template takes<T>)
    return largest_braces<T, High, 2 * High>();
  else
    return bisect_braces<T, Low, High>();
}

// For an aggregate with a field that no empty braces initialize: its type has no default constructor, or an explicit
// one. A C array of such objects takes an initializer for each.

/// More initializers are not tried, and not more elements of such a C array.
inline constexpr std::size_t most_values = 128;
inline constexpr std::size_t most_elements = 16;

/// The smallest number of initializers from `Count` on that T takes, of `most` tried; 0 if it takes none of them.
template <class T, std::size_t Count, std::size_t Most>
consteval std::size_t next_values() {
  if constexpr (Most == 0 || Count > most_values)
    return 0;
  else if constexpr (takes_values<T, Count>)
    return Count;
  else
    return next_values<T, Count + 1, Most - 1>();
}

/// The largest number of initializers that T takes, which takes `Count` of them. 0: unknown.
template <class T, std::size_t Count>
consteval std::size_t largest_values() {
  if constexpr (Count == 0)
    return 0;
  else if constexpr (constexpr std::size_t next = next_values<T, Count + 1, most_elements>(); next == 0)
    return Count;
  else
    return largest_values<T, next>();
}

template <class T, std::size_t... Left, std::size_t... Inside, std::size_t... Right>
consteval bool takes_nested(std::index_sequence<Left...>, std::index_sequence<Inside...>,
                            std::index_sequence<Right...>) {
  return requires {
    T{std::declval<some<Left>>()..., {std::declval<some<Inside>>()...}, std::declval<some<Right>>()...};
  };
}

/// The number of initializers of a field that no `{}` initializes. A C array takes its initializers in braces, and then
/// just as many fewer after them; a field of a class may take some in braces, too, but then one fewer.
template <class T, std::size_t First, std::size_t Length, std::size_t Inside = 2>
consteval std::size_t initializers_of_array() {
  constexpr std::size_t left = Length - First;
  if constexpr (Inside > left)
    return 1;
  else if constexpr (takes_nested<T>(std::make_index_sequence<First>{}, std::make_index_sequence<Inside>{},
                                     std::make_index_sequence<left - Inside>{}) &&
                     !takes_nested<T>(std::make_index_sequence<First>{}, std::make_index_sequence<Inside>{},
                                      std::make_index_sequence<left - Inside + 1>{}))
    return Inside;
  else
    return initializers_of_array<T, First, Length, Inside + 1>();
}

/// Number of initializers used by the field at `First`. 1, except for a C array: then `{}` replaces all of them and
/// `Rest` initializers still fit after it.
template <class T, std::size_t First, std::size_t Length, std::size_t Rest = Length - First - 1>
consteval std::size_t initializers_at() {
  if constexpr (takes_braces_between<T>(std::make_index_sequence<First>{}, std::make_index_sequence<Rest>{}))
    return Length - First - Rest;
  else if constexpr (Rest == 0)
    return initializers_of_array<T, First, Length>();
  else
    return initializers_at<T, First, Length, Rest - 1>();
}

template <class T, std::size_t Length, std::size_t First = 0>
consteval std::size_t count_values() {
  if constexpr (First >= Length)
    return 0;
  else
    return 1 + count_values<T, Length, First + initializers_at<T, First, Length>()>();
}

// All aggregates.

/// The fields of an aggregate. A base class counts as one field, and so does a C array.
struct field_count {
  bool known = false;
  std::size_t fields = 0;
  std::size_t bases = 0;
  bool bases_are_empty = true;
  bool has_union = false;  ///< an anonymous one
};

/// How many of the first fields are initialized by a conversion of `Initializer`, and not by a constructor that takes
/// anything.
template <class T, class Initializer, std::size_t At = 0>
consteval std::size_t leading_fields() {
  if constexpr (At < max_fields)
    if constexpr (row<At>::template takes<T, Initializer> && !row<At>::template takes<T, nothing>)
      return leading_fields<T, Initializer, At + 1>();
  return At;
}

template <class T, std::size_t... I>
consteval bool takes_base_first(std::index_sequence<I...>) {
  return requires { T{any_base<T, false>{}, std::declval<some<I>>()...}; };
}

template <class T, std::size_t... I>
consteval bool takes_unnamed_union(std::index_sequence<I...>) {
  return ((row<I>::template takes<T, any_unnamed_union> && !row<I>::template takes<T, nothing>) || ...);
}

template <class T, std::size_t Fields, std::size_t... I>
consteval bool takes_more_by(std::index_sequence<I...>) {
  return (([]<std::size_t... J>(std::index_sequence<J...>) {
            return row<Fields>::template takes<T, some<J>...>;
          }(std::make_index_sequence<I + 1>{})) ||
          ...);
}
/// Whether T takes some initializers after `Fields` empty braces.
template <class T, std::size_t Fields>
inline constexpr bool takes_more = takes_more_by<T, Fields>(std::make_index_sequence<most_elements>{});

template <class T>
consteval field_count count_fields() {
  constexpr bool all_braces = row<0>::template takes<T>;
  constexpr std::size_t braces = all_braces ? largest_braces<T>() : 0;
  if constexpr (all_braces && !takes_more<T, braces>) {
    if constexpr (row<braces>::template takes<T, any_reference>) return {};  // a reference member with an initializer
    constexpr std::size_t bases = leading_fields<T, any_base<T, false>>();
    return {true, braces, bases, bases == 0 || bases == leading_fields<T, any_base<T, true>>(),
            takes_unnamed_union<T>(std::make_index_sequence<braces>{})};
  } else {
    constexpr std::size_t length = largest_values<T, next_values<T, 1, most_values>()>();
    if constexpr (length == 0)
      return {};
    else
      return {true, count_values<T, length>(), 0, !takes_base_first<T>(std::make_index_sequence<length - 1>{})};
  }
}

/// The fields are counted by trying initializers. O(log fields) of them, each as long as the record; more for a type
/// with a field that no empty braces initialize. A member of the type of an empty base class before it is counted as a
/// base class, which a structured binding then refuses.
template <class T>
inline constexpr field_count counted_fields = count_fields<T>();

/// The number of fields without base classes; a C array is one.
template <class T>
inline constexpr std::size_t arity = counted_fields<T>.fields - counted_fields<T>.bases;

/// Whether bind_fields can read the record: its fields are counted, and all of them are members of the record itself.
template <class Record>
inline constexpr bool is_bindable = counted_fields<Record>.known && counted_fields<Record>.bases_are_empty &&
                                    !counted_fields<Record>.has_union && arity<Record> <= max_fields;

/// Calls `action` with references to all fields of the record, and returns what it returns. no_address, and no call, if
/// not all have one.
template <std::size_t Count, class Record, class Action>
constexpr decltype(auto) bind_fields(Record& record, const Action& action) {
  return row<Count>::bind(record, action);
}

/// True for a small record of plain values, whose fields Boost.PFR reads. Others may not compile with it, by its
/// version and the compiler:
/// - it counts a C array's elements one by one, may not count fields if one needs an initializer, refuses base classes;
/// - while counting, it copies fields whose type claims to be copyable: an error for `std::vector<std::unique_ptr<T>>`;
/// - before 1.87 it tries up to 8 initializers per byte of the record, which takes long, and is an internal error of
///   g++ 12 where a default member initializer makes an array of objects with destructors.
template <class Record>
consteval bool can_pfr_read() {
  if constexpr (std::is_trivially_destructible_v<Record> && std::is_trivially_copy_constructible_v<Record> &&
                std::is_nothrow_default_constructible_v<Record> && sizeof(Record) <= 64)
    return is_bindable<Record> && row<0>::template takes<Record> && counted_fields<Record>.bases == 0 &&
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

struct make_type_list {
  template <class... Fields>
  constexpr type_list<Fields...> operator()(Fields&...) const noexcept {
    return {};
  }
};

template <class Record, bool = is_bindable<Record>>
struct find_field_types {
  using type = decltype(detail::bind_fields<arity<Record>>(std::declval<Record&>(), make_type_list{}));
};
template <class Record>
struct find_field_types<Record, false> {
  using type = no_address;
};

/// The types of the fields, const where a field is. no_address if the fields cannot be read.
template <class Record>
using field_types = typename find_field_types<Record>::type;

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

#if defined(__clang__) && __clang_major__ < 19  // which do not accept the union below as a literal type
template <class Record>
struct unmade {
  Record value;
};
template <class Record>
extern const unmade<Record> unmade_object;
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
consteval bool has_reference_member() {
  if constexpr (std::is_move_assignable_v<Record>)
    return false;
  else
    return !has_field_pointers<Record>;
}

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

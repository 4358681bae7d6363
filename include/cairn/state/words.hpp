// SPDX-License-Identifier: MIT
// The words by which a program says what of its types is state: `fields`, `bases`, `skip`, `per_rank`, `polymorphic`,
// `changes` and `by_name`.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

namespace detail {

template <std::size_t Size>
struct name_text {
  std::array<char, Size> chars{};

  consteval name_text(const char (&text)[Size]) noexcept {
    for (std::size_t i = 0; i < Size; ++i) chars[i] = text[i];
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {chars.data(), Size - 1}; }
};

template <class... Types>
struct type_list {};

/// The elements of all arrays, in their order.
template <class Element, std::size_t... Sizes>
constexpr std::array<Element, (0 + ... + Sizes)> join_arrays(const std::array<Element, Sizes>&... arrays) {
  std::array<Element, (0 + ... + Sizes)> joined{};
  [[maybe_unused]] auto at = joined.begin();
  [[maybe_unused]] const auto append = [&](const auto& array) {
    for (const Element& each : array) *at++ = each;
  };
  (append(arrays), ...);
  return joined;
}

}  // namespace detail

// What is saved of a class with private members, or with base classes.

/// Members to save, named as in the class; a trailing underscore is left out of the path:
/// `static auto cairn_fields() { return cairn::fields<&counter::hits_, &counter::seen_>{}; }` as a public
/// line of class `counter`. A derived class that has no such line of its own is refused, as its members would be lost.
template <auto... Members>
struct fields {};

/// Base classes to save, too: `using cairn_bases = cairn::bases<layer>;` as a public line of the derived class, in
/// which it lists its own members by `cairn_fields` if it has any. The fields of a base class have the same paths as in
/// an object of that class; a base class without fields, such as a container, is the part `base` (the first in the
/// list) or `base1`, `base2`, ...
template <class... Classes>
struct bases {};

namespace detail {

template <class T>
inline constexpr bool is_field_list = false;
template <auto... Members>
inline constexpr bool is_field_list<fields<Members...>> = true;

template <class T>
inline constexpr bool is_base_list = false;
template <class... Classes>
inline constexpr bool is_base_list<bases<Classes...>> = true;

/// The class, or one of its base classes, has a field list.
template <class T>
concept has_field_list = is_field_list<std::remove_cvref_t<decltype(T::cairn_fields())>>;

/// The class, or one of its base classes, has a list of base classes.
template <class T>
concept has_base_list = is_base_list<typename T::cairn_bases>;

}  // namespace detail

// Members that are not state: mutexes, caches, pointers to memory of others.

/// A member that is not state: no checkpoint has it; a load leaves it as it is. In an element that a load makes, it has
/// its default value. It acts as the `T`: `*member`, `member->x`, `member = value`, or `member` if a `T&` is needed.
template <class T>
struct skip {
  T value{};  ///< the member itself

  template <class Value>
  requires(std::assignable_from<T&, Value> && !std::same_as<std::remove_cvref_t<Value>, skip>)
  skip& operator=(Value&& from) {
    value = std::forward<Value>(from);
    return *this;
  }

  [[nodiscard]] T& operator*() noexcept { return value; }
  [[nodiscard]] const T& operator*() const noexcept { return value; }
  [[nodiscard]] T* operator->() noexcept { return &value; }
  [[nodiscard]] const T* operator->() const noexcept { return &value; }
  /// The member itself.
  [[nodiscard]] operator T&() noexcept { return value; }
  /// The member itself.
  [[nodiscard]] operator const T&() const noexcept { return value; }
};

/// Names of members. A public line `using cairn_skip = cairn::names<"cache", "lock">;` of a struct says that these
/// members are not state, as if each was a `cairn::skip`. A name that no member has is an error.
template <detail::name_text... Names>
struct names {
  /// How many names.
  static constexpr std::size_t count = sizeof...(Names);
  /// Whether `name` is one of them.
  [[nodiscard]] static constexpr bool contains(std::string_view name) noexcept {
    return ((Names.view() == name) || ...);
  }
};

namespace detail {

template <class T>
inline constexpr bool is_skip = false;
template <class T>
inline constexpr bool is_skip<skip<T>> = true;
template <class T>
inline constexpr bool is_skip<const skip<T>> = true;

/// A struct with a list of names of members to skip.
template <class T>
concept has_skip_list = requires { T::cairn_skip::contains(std::string_view{}); };

}  // namespace detail

// State that differs between ranks.

/// The default of `per_rank`: a checkpoint of another number of ranks does not load.
struct refuse_other_ranks {};

/// State of one rank alone: a random engine, a data cursor. Every rank of a group saves its own value and loads that
/// value again. The value of rank i is stored as `<path>.rank<i>`; a process without a group is rank 0 of 1.
///
/// On another number of ranks `Redistribute::redistribute(std::vector<T> saved, unsigned rank, unsigned ranks) -> T`
/// makes this rank's value from those of all ranks that saved; without one the load fails (errc::mismatch).
template <class T, class Redistribute = refuse_other_ranks>
struct per_rank {
  T value{};  ///< of this rank

  [[nodiscard]] T& operator*() noexcept { return value; }
  [[nodiscard]] const T& operator*() const noexcept { return value; }
  [[nodiscard]] T* operator->() noexcept { return &value; }
  [[nodiscard]] const T* operator->() const noexcept { return &value; }
};

namespace detail {

/// The rank of this process, and the number of processes that save together. The default is a single process.
struct rank_info {
  unsigned rank = 0;
  unsigned ranks = 1;
};

}  // namespace detail

// The closed list of types behind a pointer to a base class, and the names by which a checkpoint knows them.

/// The types that an object behind a pointer to a base class may have. Each is a class, or a `named` class.
template <class... Types>
struct one_of {};

/// A class in a list, and the name that checkpoints store for it. A load also accepts the `Former` names, and the name
/// that the class has in a list without `named`: `cairn::one_of<dense, cairn::named<"conv2d", convolution<float>,
/// "conv">>`. Name the classes of a list, so that you can rename and template them later. A class without a name is
/// stored under its C++ name without namespaces, which a class that a template makes does not have.
template <detail::name_text Name, class Type, detail::name_text... Former>
struct named {};

/// Specialise it for a base class: `template <> struct cairn::polymorphic<layer> : cairn::one_of<dense, conv> {};`
/// A checkpoint can name only one of these types, so that a file never selects other code to run.
template <class Base>
struct polymorphic;

namespace detail {

/// A class with a `polymorphic`, which may be of another form.
template <class Base>
concept names_its_types = requires { sizeof(polymorphic<Base>); };

template <class... Types>
void take_type_list(const one_of<Types...>*);

template <class Base>
concept has_type_list =
    names_its_types<Base> && requires(const polymorphic<Base>* list) { detail::take_type_list(list); };

}  // namespace detail

// How the members of a class have changed since older checkpoints.

/// A member that had other names: where a checkpoint does not have `Name`, it is loaded from the first of the `Former`
/// names that it has.
template <detail::name_text Name, detail::name_text... Former>
struct renamed {};

/// Members that a checkpoint may lack: they then keep their value.
template <detail::name_text... Names>
struct added {};

/// Members that are what they are since that version of the class: from a checkpoint of an older version they are not
/// loaded, but keep their value, unless `cairn_migrate` sets them. In newer checkpoints they must not be missing.
template <unsigned Version, detail::name_text... Names>
struct since {};

/// Names that the class has no more: what a checkpoint has there, and below, is ignored.
template <detail::name_text... Names>
struct removed {};

/// Members whose size is data, such as a replay buffer or a history: the arrays of numbers in them get the size of the
/// checkpoint. Without it, an array that is not empty has to have that size.
template <detail::name_text... Names>
struct resizable {};

/// How the members of a class have changed, as a public line: `using cairn_changes =
/// cairn::changes<cairn::renamed<"weight", "w">, cairn::added<"bias">>;`. Members are named as in the paths of a
/// checkpoint, so without a trailing underscore. A single change needs no `changes`.
///
/// Two more public lines of a class: `static constexpr unsigned cairn_version = 2;` is stored with each object. A
/// checkpoint of a newer version is refused; one that has no version has version 0. And `void
/// cairn_migrate(cairn::stored_parts& old)` is called after an object of an older version has been loaded: it sets the
/// members that are new `since` then. See `stored_parts`.
template <class... Changes>
struct changes {};

class stored_parts;

namespace detail {

template <class T>
concept has_changes = requires { typename T::cairn_changes; };

template <class T>
concept declares_version = requires { T::cairn_version; };

template <class T>
concept declares_migration = requires { &T::cairn_migrate; };

template <class T>
concept has_migration = requires(T& object, stored_parts& old) {
  { object.cairn_migrate(old) } -> std::same_as<void>;
};

}  // namespace detail

// Enums whose values checkpoints know by name.

namespace detail {

template <auto Value, name_text Name, name_text... Former>
struct named_enumerator {};

}  // namespace detail

/// A value in a list, and the name that checkpoints store for it. A load also accepts the `Former` names.
template <detail::name_text Name, auto Value, detail::name_text... Former>
inline constexpr detail::named_enumerator<Value, Name, Former...> enumerator{};

/// Values of an enum, each as it is, stored under its name in C++, or as an `enumerator`.
template <auto... Values>
struct enumerators {};

/// Specialise it for an enum whose values are to be known by name, so that their numbers may change: `template <>
/// struct cairn::by_name<kind> : cairn::enumerators<kind::relu, cairn::enumerator<"tanh", kind::tanh_, "th">> {};` A
/// checkpoint has the numbers, and beside them the names. A value that is not listed is known by its number.
/// Checkpoints that were saved without names are loaded by number.
template <class Enum>
struct by_name;

namespace detail {

/// An enum with a `by_name`, which may be of another form.
template <class T>
concept names_its_values = std::is_enum_v<T> && requires { sizeof(by_name<T>); };

template <auto... Values>
void take_enumerators(const enumerators<Values...>*);

template <class T>
concept has_enum_names = names_its_values<T> && requires(const by_name<T>* list) { detail::take_enumerators(list); };

}  // namespace detail

namespace detail {
class loader;
class walker;
struct type_id;
}  // namespace detail

/// The stored parts of the object that `cairn_migrate` changes. All members but those that are new `since` a later
/// version have been loaded before. A load calls `cairn_migrate` twice: first on a new object, before it changes the
/// state, and then on the object of the state. An exception is a mismatch, and leaves the state as it was.
class stored_parts {
 public:
  /// The version of the class that stored the object; 0: it had none.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  /// Whether the checkpoint has the part `name`, or parts of it.
  [[nodiscard]] bool has(std::string_view name) const;

  /// The stored part `name` as a `P`, of any type that Cairn can load. In a sequence of objects of fixed layout, a P of
  /// fixed layout. If the checkpoint does not have it, or has something else there, the load fails as for a member.
  template <class P>
  [[nodiscard]] P get(std::string_view name);

  /// The same into `part`.
  template <class P>
  void load(std::string_view name, P& part);

 private:
  friend class detail::loader;

  struct column {
    const detail::type_id* type;
    std::shared_ptr<void> rows;
  };

  stored_parts(detail::walker& w, std::uint64_t version, std::uint64_t rows, bool is_column) noexcept;

  template <class P>
  void load_as(std::string_view name, P& part, void (*walk)(detail::walker&, void*));
  /// Reads a part, or its column of elements of `width` bytes.
  void read(std::string_view name, void* part, void (*walk)(detail::walker&, void*), std::size_t width);
  /// The rows that an earlier call has read; null if none has.
  [[nodiscard]] void* find_column(std::string_view name, const detail::type_id* type) const;
  void add_column(std::string_view name, const detail::type_id* type, std::shared_ptr<void> rows);
  [[noreturn]] void fail_column(std::string_view name);

  detail::walker* walker_;
  std::uint64_t version_;
  std::uint64_t rows_;  // of the columns that the object is in
  bool is_column_;
  std::uint64_t row_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;
  std::map<std::string, column, std::less<>> columns_;
};

}  // namespace cairn::inline v0_1

// SPDX-License-Identifier: MIT
// Searches the types that a state consists of, at compile time, for a part that cannot be saved or loaded.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "cairn/state/category.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/enum_names.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/polymorphic.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/skipped_fields.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/type_problem.hpp"

namespace cairn::inline v0_1::detail {

struct type_node;

struct type_part {
  std::string_view name;
  type_node (*node)() = nullptr;
  problem own = problem::none;  ///< const_part, or no_object if volatile
  std::size_t bucket = 0;       ///< some number that depends on the type
  bool is_number = false;
};

/// What a search needs to know about a type. It calls functions that give nodes, so that a type can contain itself.
struct type_node {
  problem own = problem::none;
  std::string_view type_name;        ///< only where there is a problem, or the search needs it
  std::string_view member;           ///< its member with the problem; empty: the type has it as a whole
  std::span<const type_part> parts;  ///< a problem of one of them comes before `own`
};

template <class T>
constexpr type_node node_of();

template <int>
constexpr void compared_function() {}

/// Whether the compiler compares the addresses of functions at compile time. g++ 12 does not with -fsanitize=undefined.
inline constexpr bool compares_functions = __builtin_constant_p(static_cast<void (*)()>(compared_function<0>) ==
                                                                static_cast<void (*)()>(compared_function<1>));

template <class T>
using plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T>
inline constexpr problem problem_of_part =
    std::is_volatile_v<std::remove_reference_t<T>>                                         ? problem::no_object
    : std::is_const_v<std::remove_reference_t<T>> || std::is_same_v<plain<T>, const_state> ? problem::const_part
                                                                                           : problem::none;

// An expression, not a function: clang must evaluate it for a type that contains itself, before functions are complete.
#define CAIRN_PART(name, ...)                                                                             \
  type_part {                                                                                             \
    name, node_of<plain<__VA_ARGS__>>, problem_of_part<__VA_ARGS__>, sizeof(plain<__VA_ARGS__>) / 8 % 32, \
        scalar_type<plain<__VA_ARGS__>> && !names_its_values<plain<__VA_ARGS__>>                          \
  }

/// The name of an element of a tuple; "*" from the tenth on.
constexpr std::string_view index_name(std::size_t i) {
  return i < 10 ? std::string_view("0123456789").substr(i, 1) : "*";
}

/// The type of field I; a number for one that is not state.
template <class Record, std::size_t I, class Field>
using searched_field = std::conditional_t<is_skipped_field<Record, I, Field>(), char, Field>;

/// The types of the parts of T, with the names that a message gives them.
template <class T>
constexpr auto find_parts() {
  constexpr auto kind = category_of<T>();
  if constexpr (kind == category::record) {
    return []<class... Types, std::size_t... I>(type_list<Types...>, std::index_sequence<I...>) {
      return std::array<type_part, sizeof...(I)>{
          CAIRN_PART((stored_field_name<T, I>.view()), searched_field<T, I, Types>)...};
    }(field_types<T>{}, std::make_index_sequence<arity<T>>{});
  } else if constexpr (kind == category::listed) {
    return []<auto... Members, class... Bases>(fields<Members...>, bases<Bases...>) {
      return std::array<type_part, sizeof...(Members) + sizeof...(Bases)>{
          CAIRN_PART(listed_name<Members>(), type_of<Members>)..., CAIRN_PART("", Bases)...};
    }(own_fields<T>{}, base_list<T>{});
  } else if constexpr (kind == category::tuple) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<type_part, sizeof...(I)>{CAIRN_PART(index_name(I), std::tuple_element_t<I, T>)...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (kind == category::fixed_array) {
    return std::array{CAIRN_PART("*", decltype(std::declval<T&>()[0]))};
  } else if constexpr (kind == category::variant) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<type_part, sizeof...(I)>{CAIRN_PART("", std::variant_alternative_t<I, T>)...};
    }(std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (kind == category::tensor) {
    return std::array{CAIRN_PART("", decltype(*detail::data_of(std::declval<T&>())))};
  } else if constexpr (has_tensor_view_adapter<T>) {
    return std::array{CAIRN_PART("", typename view_of_adapter<T>::value_type)};
  } else if constexpr (kind == category::span) {
    return std::array{CAIRN_PART("*", typename T::element_type)};
  } else if constexpr (kind == category::sequence || kind == category::set || kind == category::valarray) {
    return std::array{CAIRN_PART("*", typename T::value_type)};
  } else if constexpr (kind == category::map) {
    return std::array{CAIRN_PART("(key)", typename T::key_type), CAIRN_PART("*", typename T::mapped_type)};
  } else if constexpr (kind == category::container_adaptor) {
    return std::array{CAIRN_PART("", typename T::container_type)};
  } else if constexpr (kind == category::optional) {
    return std::array{CAIRN_PART("", std::remove_reference_t<decltype(*std::declval<T&>())>)};
  } else if constexpr (kind == category::unique_pointer || kind == category::shared_pointer ||
                       kind == category::weak_pointer) {
    using object = std::remove_cv_t<typename T::element_type>;
    if constexpr (has_type_list<object>)
      return []<class... Listed>(const one_of<Listed...>*) {
        return std::array<type_part, sizeof...(Listed)>{CAIRN_PART("", typename listing<Listed>::type)...};
      }(type_list_of<object>);
    else
      return std::array{CAIRN_PART("", object)};
  } else if constexpr (has_copy_adapter<T> || kind == category::atomic) {
    return std::array{CAIRN_PART("", copy_type<T>)};
  } else if constexpr (is_per_rank<T>) {
    return std::array{CAIRN_PART("", decltype(T::value))};
  } else {
    return std::array<type_part, 0>{};
  }
}

template <class T>
inline constexpr auto parts_of = find_parts<T>();

/// Whether a T has the problem because of its elements, keys or content. If these have a problem of their own, that is
/// the cause, and is reported instead. The elements of a tensor may be of an incomplete type.
template <class T>
consteval bool is_of_content(problem what) {
  constexpr auto kind = category_of<T>();
  return what == problem::const_content || what == problem::no_default_constructor || what == problem::keys ||
         (what == problem::element_type && kind != category::tensor && kind != category::adapted);
}

template <class T>
constexpr type_node node_of() {
  constexpr problem own = problem_of<T>();
  if constexpr (own == problem::none && compares_functions)
    return {own, {}, {}, parts_of<T>};
  else if constexpr (own == problem::none || is_of_content<T>(own))
    return {own, type_name_view<T>(), {}, parts_of<T>};
  else if constexpr (own == problem::path)
    return {own, type_name_view<T>(), name_of_two<T>(), {}};
  else
    return {own, type_name_view<T>(), {}, {}};
}

template <class T>
constexpr type_part part_as(std::string_view name) {
  return CAIRN_PART(name, T);
}

#undef CAIRN_PART

/// The path of a part and its type: "layers.*.weights: float*".
struct part_text {
  std::array<char, 240> chars{};
  std::size_t size = 0;

  /// A character that is not ASCII becomes a '?': compilers print numbers for it, and clang for the whole text.
  constexpr void add(std::string_view text) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (size < chars.size() && (byte & 0xC0) != 0x80) chars[size++] = byte < 0x80 ? c : '?';
    }
  }
  [[nodiscard]] constexpr std::string_view view() const { return {chars.data(), size}; }
};

// Of a text of more than 36 characters clang prints only the first 34.
#if defined(__clang__)
inline constexpr std::size_t most_printed = 36;
#else
inline constexpr std::size_t most_printed = sizeof(part_text::chars);
#endif

/// The beginning of a text that a compiler prints: all of it, or what is before one of its words, or in a long word.
constexpr std::string_view first_piece(std::string_view text) noexcept {
  if (text.size() <= most_printed) return text;
  for (std::size_t end = most_printed; end > 0; --end)
    if (!is_identifier_char(text[end - 1]) && is_identifier_char(text[end])) return text.substr(0, end);
  return text.substr(0, most_printed);
}

template <class First, class Rest>
struct text_pieces {
  First first;
  Rest rest;
};

/// A text as an argument of a template, of which compilers print all pieces. Each ends in a 0: they print numbers for
/// one that does not.
template <const part_text& Text, std::size_t From = 0>
consteval auto in_pieces() {
  constexpr auto piece = first_piece(Text.view().substr(From));
  constexpr short_name<piece.size() + 1> first(piece);
  if constexpr (From + piece.size() == Text.size) {
    return first;
  } else {
    constexpr auto rest = in_pieces<Text, From + piece.size()>();
    return text_pieces<short_name<piece.size() + 1>, std::remove_const_t<decltype(rest)>>{first, rest};
  }
}

/// The first part that cannot be saved, and the first one that is const.
struct refusal {
  problem what = problem::none;
  part_text where;
  bool has_const = false;
  part_text where_const;
};

/// A list in a constant expression. Of libstdc++ 12 with _GLIBCXX_DEBUG no std::vector can be one.
template <class T>
class constant_list {
 public:
  constexpr constant_list() = default;
  constant_list(const constant_list&) = delete;
  constant_list& operator=(const constant_list&) = delete;
  constexpr ~constant_list() { delete[] values_; }

  constexpr void push_back(const T& value) {
    if (size_ == capacity_) {
      T* const larger = new T[2 * capacity_ + 8]{};
      for (std::size_t i = 0; i < size_; ++i) larger[i] = values_[i];
      delete[] values_;
      values_ = larger;
      capacity_ = 2 * capacity_ + 8;
    }
    values_[size_++] = value;
  }
  constexpr void pop_back() { --size_; }

  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] constexpr const T* begin() const { return values_; }
  [[nodiscard]] constexpr const T* end() const { return values_ + size_; }

 private:
  T* values_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

/// Visits all types that a state consists of, each once.
class type_search {
 public:
  constexpr refusal search(const type_part& root) {
    visit(root);
    return found_;
  }

 private:
  constexpr void visit(const type_part& part) {
    if (part.own == problem::no_object) return report(part.own, {});
    if (part.own == problem::const_part && !found_.has_const) {
      found_.has_const = true;
      write(found_.where_const, {});
    }
    if (part.is_number) return;
    std::size_t& newest = newest_[part.bucket];
    for (std::size_t i = newest; i > 0; i = seen_[i - 1].before)
      if (is_same_type(seen_[i - 1].node, part.node)) return;
    seen_.push_back({part.node, newest});
    newest = seen_.size();
    const type_node node = part.node();
    for (const auto& each : node.parts) {
      path_.push_back(each.name);
      visit(each);
      path_.pop_back();
      if (found_.what != problem::none) return;
    }
    if (node.own != problem::none) report(node.own, node);
  }

  static constexpr bool is_same_type(type_node (*a)(), type_node (*b)()) {
    if constexpr (compares_functions)
      return a == b;
    else
      return a().type_name == b().type_name;
  }

  constexpr void report(problem what, const type_node& node) {
    found_.what = what;
    write(found_.where, node);
  }

  constexpr void write(part_text& text, const type_node& node) const {
    bool first = true;
    for (const auto name : path_) {
      if (name.empty()) continue;
      if (!first) text.add(".");
      first = false;
      text.add(name);
    }
    if (!first && !node.type_name.empty()) text.add(": ");
    if (!node.member.empty()) {
      text.add("member ");
      text.add(node.member);
      text.add(" of ");
    }
    text.add(node.type_name);
  }

  struct seen_type {
    type_node (*node)() = nullptr;
    std::size_t before = 0;  // position of the one before it in the same bucket, from 1; 0: none
  };

  refusal found_;
  constant_list<std::string_view> path_;
  constant_list<seen_type> seen_;
  std::array<std::size_t, 32> newest_{};
};

template <class State>
consteval refusal find_refusal() {
  constexpr auto kind = category_of<State>();
  refusal found = type_search().search(part_as<State>(""));
  if constexpr (kind == category::record || kind == category::listed) {
    if (found.what == problem::none)
      for (const std::string_view name : part_names<State>())
        if (name == "__metadata__") {  // which the format of files keeps for itself
          found.what = problem::path;
          found.where.add("member __metadata__ of ");
          found.where.add(type_name_view<State>());
        }
  }
  return found;
}

template <class State>
inline constexpr refusal refusal_of = find_refusal<State>();

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// Searches the types that a state consists of, at compile time, for a part that cannot be saved or loaded.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "cairn/state/member_name.hpp"
#include "cairn/state/type_node.hpp"

namespace cairn::inline v0_1::detail {

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
    if (part.own == problem::volatile_part) return report(part.own, {});
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
        if (name == reserved_name) {
          found.what = problem::reserved_path;
          found.where.add("member __metadata__ of ");
          found.where.add(type_name_view<State>());
        }
  }
  return found;
}

template <class State>
inline constexpr refusal refusal_of = find_refusal<State>();

}  // namespace cairn::inline v0_1::detail

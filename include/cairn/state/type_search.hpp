// Searches the types that a state consists of, at compile time, for a part that cannot be saved or loaded.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "cairn/state/type_node.hpp"

namespace cairn::detail {

/// The path of a part and its type: "layers.*.weights: float*".
struct part_text {
  std::array<char, 240> chars{};
  std::size_t size = 0;

  constexpr void add(std::string_view text) {
    for (const char c : text)
      if (size + 1 < chars.size()) chars[size++] = c;
  }
  [[nodiscard]] constexpr std::string_view view() const { return {chars.data(), size}; }
  /// With one more character, a 0, which g++ expects at the end of a text that it prints.
  [[nodiscard]] constexpr std::string_view ended() const { return {chars.data(), size + 1}; }
};

/// The first part that cannot be saved, and the first one that is const.
struct refusal {
  problem what = problem::none;
  part_text where;
  bool has_const = false;
  part_text where_const;
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
    type_node (*node)();
    std::size_t before;  // position of the one before it in the same bucket, from 1; 0: none
  };

  refusal found_;
  std::vector<std::string_view> path_;
  std::vector<seen_type> seen_;
  std::array<std::size_t, 32> newest_{};
};

template <class State>
inline constexpr refusal refusal_of = type_search().search(part_as<State>(""));

}  // namespace cairn::detail

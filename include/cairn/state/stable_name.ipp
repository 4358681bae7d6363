// SPDX-License-Identifier: MIT
// Definitions of stable_name.hpp and pointer_type.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include <cxxabi.h>

#include "cairn/state/member_name.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/stable_name.hpp"

namespace cairn::inline v0_1::detail {

class_list::class_list(std::span<const listed_type> types) : types_(types) {
  for (const auto& each : types) {
    auto& names = names_.emplace_back(each.given.begin(), each.given.end());
    names.push_back(stable_name(*each.dynamic, each.type->name));
    names.push_back(portable_name(each.type->name));
  }
}

const listed_type* class_list::find(const type_id& type) const noexcept {
  const auto at =
      std::find_if(types_.begin(), types_.end(), [&](const listed_type& each) { return *each.type == type; });
  return at == types_.end() ? nullptr : &*at;
}

const listed_type* class_list::find(const std::type_info& type) const noexcept {
  const auto at =
      std::find_if(types_.begin(), types_.end(), [&](const listed_type& each) { return *each.dynamic == type; });
  return at == types_.end() ? nullptr : &*at;
}

const listed_type* class_list::find(std::string_view stored) const {
  const auto called = [&](std::string_view name) -> const listed_type* {
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (names_[i].front() == name) return &types_[i];
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (std::find(names_[i].begin(), names_[i].end(), name) != names_[i].end()) return &types_[i];
    return nullptr;
  };
  const listed_type* const found = called(stored);
  return found ? found : called(portable_name(stored));
}

const std::string& class_list::name(const listed_type& type) const noexcept {
  return names_[static_cast<std::size_t>(&type - types_.data())].front();
}

using name_tokens = std::vector<std::string>;

inline constexpr std::string_view anonymous_namespace = "(anonymous namespace)";

inline bool is_word(const std::string& token) { return is_identifier_char(token.back()); }

/// Words, "::", anonymous namespaces, and single characters. Numbers lose the suffix that tells their type.
inline name_tokens tokens_of(std::string_view text) {
  name_tokens tokens;
  while (!text.empty()) {
    std::size_t size = 1;
    std::string_view token;
    if (is_identifier_char(text[0])) {
      while (size < text.size() && is_identifier_char(text[size])) ++size;
      token = text.substr(0, size);
      if (token[0] >= '0' && token[0] <= '9')
        while (token.size() > 1 && std::string_view("uUlL").find(token.back()) != token.npos) token.remove_suffix(1);
    } else if (text.starts_with("::")) {
      token = text.substr(0, size = 2);
    } else {
      token = text.substr(0, 1);
      for (const std::string_view name : {anonymous_namespace, std::string_view("{anonymous}")})
        if (text.starts_with(name)) {
          size = name.size();
          token = anonymous_namespace;
        }
    }
    if (token != " ") tokens.emplace_back(token);
    text.remove_prefix(size);
  }
  return tokens;
}

/// A namespace of the standard library's implementation, such as `__cxx11`: inline, and named differently in each.
inline bool is_reserved(const std::string& token) {
  return token.size() > 1 && token[0] == '_' && (token[1] == '_' || (token[1] >= 'A' && token[1] <= 'Z'));
}

/// The inline namespace of Cairn's version, `v0_1`: stored names must not change with it. `to`: the tokens before it.
inline bool is_version_of_cairn(const name_tokens& to, const std::string& token) {
  return to.size() > 1 && to.back() == "::" && to[to.size() - 2] == "cairn" && token[0] == 'v' &&
         token.find('_') != token.npos && token.find_first_not_of("0123456789_", 1) == token.npos;
}

inline bool is_part_of_integer(const std::string& token) {
  static constexpr std::array<std::string_view, 7> words{"unsigned", "signed", "long",    "short",
                                                         "int",      "char",   "__int128"};
  return std::find(words.begin(), words.end(), token) != words.end();
}

/// Appends the name of an integer type, whose words may have any order.
inline void append_integer(name_tokens& to, name_tokens::const_iterator begin, name_tokens::const_iterator end) {
  const auto count = [&](std::string_view word) { return std::count(begin, end, word); };
  const std::size_t before = to.size();
  if (count("unsigned") > 0) to.emplace_back("unsigned");
  if (count("signed") > 0 && count("char") > 0) to.emplace_back("signed");
  for (const std::string_view word : {"char", "short", "long", "__int128"})
    for (auto n = count(word); n > 0; --n) to.emplace_back(word);
  if (to.size() == before || (to.size() == before + 1 && to.back() == "unsigned")) to.emplace_back("int");
}

inline name_tokens portable_tokens(std::string_view spelled) {
  const name_tokens from = tokens_of(spelled);
  name_tokens to;
  for (auto at = from.begin(); at != from.end();) {
    if (is_part_of_integer(*at)) {
      const auto end = std::find_if_not(at, from.end(), is_part_of_integer);
      if (end != from.end() && *end == "double")
        to.insert(to.end(), at, end);  // long double
      else
        append_integer(to, at, end);
      at = end;
    } else if (!to.empty() && to.back() == "::" && at + 1 != from.end() && at[1] == "::" &&
               (is_reserved(*at) || is_version_of_cairn(to, *at))) {
      at += 2;
    } else {
      to.push_back(*at++);
    }
  }
  return to;
}

inline std::string joined(const name_tokens& tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && (tokens[i - 1] == "," || (is_word(tokens[i - 1]) && is_word(tokens[i])))) text += ' ';
    text += tokens[i];
  }
  return text;
}

/// The end of the template argument at `at`: its comma or closing bracket.
inline std::size_t end_of_argument(const name_tokens& tokens, std::size_t at) {
  for (std::size_t depth = 0; at < tokens.size(); ++at) {
    const bool opens = tokens[at] == "<" || tokens[at] == "(", closes = tokens[at] == ">" || tokens[at] == ")";
    if (depth == 0 && (closes || tokens[at] == ",")) break;
    depth = opens ? depth + 1 : closes ? depth - 1 : depth;
  }
  return at;
}

std::string readable_name(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr),
                                                    std::free);
  return name ? name.get() : type.name();
}

std::string portable_name(std::string_view spelled) { return joined(portable_tokens(spelled)); }

std::string with_inline_namespaces(std::string_view spelled, std::string_view full) {
  const name_tokens from = portable_tokens(spelled), all = portable_tokens(full);
  name_tokens to;
  std::size_t i = 0, j = 0;
  while (i < from.size()) {
    if (j < all.size() && from[i] == all[j]) {
      to.push_back(from[i++]);
      ++j;
    } else if (j + 1 < all.size() && is_word(from[i]) && is_word(all[j]) && all[j + 1] == "::") {
      to.push_back(all[j]);  // a namespace that `spelled` leaves out
      to.push_back(all[j + 1]);
      j += 2;
    } else if (from[i] == ">" && j < all.size() && all[j] == ",") {
      while (j < all.size() && all[j] == ",")
        j = end_of_argument(all, j + 1);  // default arguments, which `spelled` leaves out
    } else {
      const std::size_t end = std::max(i + 1, end_of_argument(from, i));  // a value in two spellings
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(i),
                from.begin() + static_cast<std::ptrdiff_t>(end));
      i = end;
      j = end_of_argument(all, j);
    }
  }
  return joined(to);
}

}  // namespace cairn::inline v0_1::detail

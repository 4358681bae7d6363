// SPDX-License-Identifier: MIT
// One type of the matrix, as a table of functions: the checks are not templates.
#pragma once

#include "cairn/state/walk.hpp"
#include "matrix/fill.hpp"

namespace matrix {

struct row {
  std::size_t number;
  const char* name;
  void* (*make)();
  void (*destroy)(void*);
  void (*fill)(random&, void*);
  bool (*equal)(const void*, const void*);  ///< null: the type has no operator==
  cairn::detail::walk_function walk;
};

template <class T>
struct functions_of {
  static void* make() { return new T(); }
  static void destroy(void* object) { delete static_cast<T*>(object); }
  static void fill(random& from, void* object) { matrix::fill(from, *static_cast<T*>(object)); }
  static bool equal(const void* a, const void* b) { return *static_cast<const T*>(a) == *static_cast<const T*>(b); }
};

enum class comparison : bool { none, equal };

template <class T, comparison Compares>
constexpr row row_of(std::size_t number, const char* name) {
  using functions = functions_of<T>;
  bool (*equal)(const void*, const void*) = nullptr;
  if constexpr (Compares == comparison::equal) equal = functions::equal;
  return {number,
          name,
          functions::make,
          functions::destroy,
          functions::fill,
          equal,
          cairn::detail::checked_walk<T, true>()};
}

template <class T, cairn::detail::problem Problem>
inline constexpr bool is_refused = cairn::detail::problem_in<T, true> == Problem;

}  // namespace matrix

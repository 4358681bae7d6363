// SPDX-License-Identifier: MIT
// One test for containers of any library: they come back into empty and filled ones.
#pragma once

#include "catch.hpp"
#include "state/kept.hpp"

namespace tests {

/// Values of type T that differ.
template <class T>
T value(std::size_t i) {
  if constexpr (std::same_as<T, std::string>)
    return std::string(i, 'x') + std::to_string(i);
  else if constexpr (requires(T& t) { t.resize(1); })
    return T(i % 3, static_cast<typename T::value_type>(i));
  else
    return static_cast<T>(i);
}

/// A container of `count` elements, from `first` on.
template <class Container>
Container filled(std::size_t count, std::size_t first = 0) {
  Container made;
  if constexpr (requires { made.set_capacity(32); }) made.set_capacity(32);  // boost::circular_buffer
  for (std::size_t i = first; i < first + count; ++i) {
    if constexpr (requires { typename Container::mapped_type; })
      made.emplace(value<typename Container::key_type>(i), value<typename Container::mapped_type>(i));
    else
      made.insert(made.end(), value<typename Container::value_type>(i));
  }
  return made;
}

template <class Container>
void check_container() {
  struct state {
    Container inside;
    std::vector<Container> many;
  };
  for (const std::size_t count : {std::size_t{7}, std::size_t{0}, std::size_t{1}})
    for (const std::size_t before : {std::size_t{0}, std::size_t{3}, std::size_t{12}}) {
      CAPTURE(count, before);
      const state original{filled<Container>(count), {filled<Container>(count, 2), Container()}};
      state into{filled<Container>(before, 4), std::vector<Container>(before % 4)};
      CHECK(comes_back(original, into));
      CHECK(into.inside == original.inside);
      CHECK(into.many == original.many);
    }
}

}  // namespace tests

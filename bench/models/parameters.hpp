// SPDX-License-Identifier: MIT
// Models and optimizers are plain structs of matrices. This visits the matrices of several structs of one type, side by
// side.
#pragma once

#include <Eigen/Core>
#include <boost/pfr/core.hpp>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "lenet/layers.hpp"

namespace bench::models {

using lenet::Index;
using lenet::matrix;
using lenet::vector;

template <class T>
concept dense_array = std::same_as<std::remove_const_t<T>, matrix> || std::same_as<std::remove_const_t<T>, vector>;

/// Calls `body` for each matrix and vector of `first` with the corresponding ones of `rest`, in the order of the
/// fields. Numbers are passed over.
template <class Body, class First, class... Rest>
void for_each_array(const Body& body, First& first, Rest&... rest) {
  if constexpr (dense_array<First>) {
    body(first, rest...);
  } else if constexpr (requires { first.begin(); }) {
    for (std::size_t i = 0; i < first.size(); ++i) for_each_array(body, first[i], rest[i]...);
  } else if constexpr (std::is_class_v<First>) {
    constexpr auto fields = boost::pfr::tuple_size_v<std::remove_const_t<First>>;
    const auto field = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      for_each_array(body, boost::pfr::get<I>(first), boost::pfr::get<I>(rest)...);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (field(std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<fields>{});
  }
}

/// The same shapes, all 0: for gradients and for the state of an optimizer.
template <class Model>
[[nodiscard]] Model zeros(const Model& like) {
  Model made = like;
  for_each_array([](auto& array) { array.setZero(); }, made);
  return made;
}

/// Copies of the arrays of a state; a vector is a matrix of one column.
using arrays = std::vector<matrix>;

template <class State>
[[nodiscard]] arrays arrays_of(const State& state) {
  arrays copies;
  for_each_array([&](const auto& array) { copies.emplace_back(array); }, state);
  return copies;
}

/// `from` has the shapes of `arrays_of(state)`.
template <class State>
void assign(State& state, const arrays& from) {
  std::size_t next = 0;
  for_each_array([&](auto& array) { array = from[next++]; }, state);
}

[[nodiscard]] inline std::size_t elements_of(const arrays& all) {
  std::size_t sum = 0;
  for (const auto& array : all) sum += static_cast<std::size_t>(array.size());
  return sum;
}

}  // namespace bench::models

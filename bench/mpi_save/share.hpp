// SPDX-License-Identifier: MIT
// What one rank writes: rows of arrays, as every way of saving takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cairn/fields.hpp"
#include "cairn/state/sharded.hpp"
#include "cairn/state/tensor_view.hpp"
#include "mpi_save/world.hpp"
#include "save_load/state.hpp"

namespace bench {

/// Rows of an array in the memory of a rank.
struct rows {
  std::string path;
  std::vector<std::uint64_t> whole;  ///< shape of the array
  std::uint64_t first = 0, count = 0;
  const float* values = nullptr;
  std::uint64_t offset = 0;  ///< of the first of these bytes in a file of all arrays
  std::uint64_t bytes = 0;
};

struct share {
  std::vector<rows> pieces{};
  std::uint64_t bytes = 0;
  std::uint64_t whole_bytes = 0;              ///< of all arrays
  std::vector<std::uint64_t> bytes_of_ranks;  ///< of all shares
};

/// All rows of a state.
[[nodiscard]] share all_of(const training_state& state);

/// The rank's part of a state that all ranks hold: equal parts, but for one row.
[[nodiscard]] share equal_part(const training_state& state, const world& ranks);

/// A box of an array: the part of one rank along one dimension.
struct box_tensor {
  std::string path;
  cairn::extents whole, first, shape;
  std::vector<float> values;

  /// Part `rank` of `ranks` along dimension `d`.
  box_tensor(std::string name, cairn::extents of, std::size_t d, unsigned rank, unsigned ranks);

  /// Calls `visit(value, number of the element in the whole array)` for each element.
  template <class Visit>
  void for_each_value(const Visit& visit) {
    const auto width = shape.back(), whole_width = whole.back();
    const auto height = values.size() / (width == 0 ? 1 : width);
    for (std::size_t row = 0; row < height; ++row)
      for (std::size_t i = 0; i < width; ++i)
        visit(values[row * width + i], (shape.size() == 1 ? 0 : (first[0] + row) * whole_width) + first.back() + i);
  }
};

/// The state of a trainer of which each rank has a box of every array.
struct sharded_state {
  std::vector<box_tensor> tensors{};

  /// Boxes along dimension `d`, or the last one that an array has, of a state of these dimensions, without values.
  [[nodiscard]] static sharded_state make(const dimensions& of, std::size_t d, unsigned rank, unsigned ranks);

  /// Gives each element the value that it has in `fill` of the whole state.
  void fill();
  [[nodiscard]] bool is_intact();
};

/// The rank's boxes, which are along the first dimension.
[[nodiscard]] share boxes_of(const sharded_state& state, const world& ranks);

}  // namespace bench

template <>
struct cairn::adapter<bench::box_tensor> {
  static tensor_view<float> view(bench::box_tensor& box) { return {box.values.data(), box.shape}; }
};

template <>
struct cairn::adapter<bench::sharded_state> {
  template <class State, class Field>
  static void fields(State& state, const Field& field) {
    for (auto& each : state.tensors)
      field(each.path, shard_of(const_cast<bench::box_tensor&>(each), each.whole, each.first));
  }
};

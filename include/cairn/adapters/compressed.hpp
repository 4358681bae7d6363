// SPDX-License-Identifier: MIT
// A sparse matrix as compressed arrays, as which the adapters of sparse matrices save it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1::detail {

/// The names are those of scipy.sparse. With `row_major`, elements indptr[i] to indptr[i + 1] of `indices` and `data`
/// are the columns and the values of row i; else the rows and the values of column i.
template <class Scalar, class Index>
struct compressed_matrix {
  std::array<std::uint64_t, 2> shape{};
  bool row_major = false;
  std::vector<Index> indptr;
  std::vector<Index> indices;
  std::vector<Scalar> data;
};

/// Whether elements [begin, end) of `indices` ascend, without repetition, and are in [0, size).
template <class Index>
[[nodiscard]] bool are_ascending(const std::vector<Index>& indices, std::size_t begin, std::size_t end,
                                 std::uint64_t size) noexcept {
  for (std::size_t i = begin; i < end; ++i)
    if (std::cmp_less(indices[i], 0) || std::cmp_greater_equal(indices[i], size) ||
        (i > begin && indices[i] <= indices[i - 1]))
      return false;
  return true;
}

/// Whether the arrays are those of a matrix.
template <class Scalar, class Index>
[[nodiscard]] bool is_matrix(const compressed_matrix<Scalar, Index>& stored) noexcept {
  const auto& ends = stored.indptr;
  const std::uint64_t outer = stored.shape[stored.row_major ? 0 : 1], inner = stored.shape[stored.row_major ? 1 : 0];
  bool fits = std::in_range<Index>(outer) && std::in_range<Index>(inner) && !ends.empty() && ends.size() - 1 == outer &&
              ends.front() == 0 && std::cmp_equal(ends.back(), stored.indices.size()) &&
              stored.indices.size() == stored.data.size() && std::is_sorted(ends.begin(), ends.end());
  for (std::size_t i = 0; fits && i < outer; ++i)
    fits =
        are_ascending(stored.indices, static_cast<std::size_t>(ends[i]), static_cast<std::size_t>(ends[i + 1]), inner);
  return fits;
}

}  // namespace cairn::inline v0_1::detail

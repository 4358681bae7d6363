// SPDX-License-Identifier: MIT
// Definitions of shard_bytes.hpp.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "cairn/core/strided.hpp"
#include "cairn/store/shard_bytes.hpp"

namespace cairn::inline v0_1::detail {

/// Elements per index of the first dimension.
[[nodiscard]] inline std::uint64_t row_elements(const memory_view& view) noexcept {
  return view.shape[0] == 0 ? 1 : view.count() / view.shape[0];
}

const std::byte* row_address(const memory_view& view, std::uint64_t element) noexcept {
  return view.memory + static_cast<std::int64_t>(element / row_elements(view)) * view.strides[0];
}

void interleaved_gather(std::vector<strided_run>& runs, std::span<growing_chunk> chunks) {
  constexpr std::uint64_t step_bytes = 64 << 10;  // of records per step: they stay in the cache
  while (!runs.empty()) {
    const auto lowest = std::min_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
      return row_address(*a.view, a.first) < row_address(*b.view, b.first);
    });
    auto& run = *lowest;
    const auto& view = *run.view;
    const auto stride = static_cast<std::uint64_t>(std::abs(view.strides[0]));
    const std::uint64_t rows = stride == 0 || stride > step_bytes ? 1 : step_bytes / stride;
    const std::uint64_t width = size_of(view.type);
    const std::size_t bytes = std::min<std::uint64_t>(rows * row_elements(view) * width, run.left);
    gather(view, run.first, chunks[run.chunk].bytes().subspan(run.at, bytes));
    chunks[run.chunk].filled(run.at, bytes);
    run.first += bytes / width;
    run.at += bytes;
    run.left -= bytes;
    if (run.left == 0) {
      run = runs.back();
      runs.pop_back();
    }
  }
}

}  // namespace cairn::inline v0_1::detail

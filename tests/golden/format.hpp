// SPDX-License-Identifier: MIT
// The state that is frozen in tests/golden/format-2: every dtype, scalars, empty leaves, slices, boxes, structure and
// odd metrics.
#pragma once

#include "cairn/core/leaf.hpp"
#include "write_checkpoint.hpp"
#include "standard.hpp"

namespace golden {

struct state {
  std::vector<std::vector<std::byte>> memory;
  std::vector<cairn::detail::leaf> leaves;

  state() {
    for (std::size_t i = 0; i < cairn::dtype_count; ++i) {
      const auto type = static_cast<cairn::dtype>(i);
      add("model." + std::string(cairn::name(type)), type, {3, i + 1});
    }
    add("step", cairn::dtype::u64, {});
    add("optimizer.empty", cairn::dtype::f32, {0, 4});
    add("name.\"quoted\"\\\n\u00e9\u20ac", cairn::dtype::u8, {5});
    add("model.large", cairn::dtype::f32, {50, 20});
    // An array in a grid of boxes, and one in boxes that are no grid.
    const auto box = [&](const std::string& path, cairn::extents whole, cairn::extents first, cairn::extents shape) {
      add(path, cairn::dtype::f32, std::move(shape));
      leaves.back().place = std::make_shared<const cairn::detail::box_place>(
          cairn::detail::box_place{std::move(whole), std::move(first)});
    };
    for (const std::uint64_t row : {0U, 4U})
      for (const std::uint64_t column : {0U, 3U}) box("model.grid", {8, 5}, {row, column}, {4, column == 0 ? 3U : 2U});
    box("model.boxes", {2, 3}, {0, 0}, {1, 2});
    box("model.boxes", {2, 3}, {0, 2}, {2, 1});
    box("model.boxes", {2, 3}, {1, 0}, {1, 2});
  }

  void add(const std::string& path, cairn::dtype type, cairn::extents shape) {
    cairn::detail::leaf made;
    made.path = path;
    made.type = type;
    made.shape = std::move(shape);
    memory.emplace_back(made.bytes());
    for (std::size_t k = 0; k < memory.back().size(); ++k)
      memory.back()[k] = type == cairn::dtype::boolean ? static_cast<std::byte>(k % 2)
                                                       : static_cast<std::byte>(k * 37 + leaves.size() * 11);
    made.memory = memory.back().data();
    leaves.push_back(std::move(made));
  }

  [[nodiscard]] sample::checkpoint_spec spec() const {
    using entry = cairn::detail::structure_entry;
    sample::checkpoint_spec spec;
    spec.leaves = leaves;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves, 2));
    spec.info.step = 120;
    spec.info.metrics = {{"accuracy", 0.984375}, {"loss", 0.1}, {"worst", std::numeric_limits<double>::infinity()}};
    spec.structure["layers"] = {entry::kind::size, 3, {}, {}};
    spec.structure["optimizer.moments"] = {entry::kind::keys, 0, {}, {"bias", "weight"}};
    spec.structure["scheduler"] = {entry::kind::engaged, 1, {}, {}};
    spec.structure["schedule"] = {entry::kind::index, 2, {}, {}};
    spec.structure["loss"] = {entry::kind::type, 0, "cross_entropy", {}};
    spec.structure["decoder.weight"] = {entry::kind::same, 0, "encoder.weight", {}};
    spec.structure["rng"] = {entry::kind::ranks, 4, {}, {}};
    return spec;
  }
};

}  // namespace golden

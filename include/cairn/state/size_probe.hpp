// SPDX-License-Identifier: MIT
// Finds the stored size of a container that is saved as columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/reshape.hpp"
#include "cairn/state/stored_state.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

/// The size is the first dimension of the first stored column; 1 where that has no such dimension.
class size_probe final : public walker {
 public:
  size_probe(walk_position& at, stored_state& stored) noexcept : walker(at), stored_(stored) {}

  shared_answer shared(const found_object&, const std::shared_ptr<void>&) override { return {}; }
  void copy(void* /*object*/, const copy_operations& /*how*/) override {}
  /// Members may have former names in the checkpoint. If none is stored, as in an object of an older version, any part of the object has as many
  /// rows.
  void changed_members(const object_members& of, std::span<const change> changes) override {
    members(of);
    for (std::size_t i = 0; i < of.all.size(); ++i)
      for (const change& each : changes)
        if (of.all[i].walk && each.what == change::kind::renamed && each.name == of.all[i].name)
          part(each.former, of.addresses[i], of.all[i].walk);
    if (size_) return;
    if (const stored_leaf* const found = stored_.first_below(at_.path)) {
      size_ = found->shape.empty() ? 1 : found->shape.front();
      column_ = found->path;
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept { return size_; }
  /// The path in the checkpoint of the column that has the size.
  [[nodiscard]] const std::string& column() const noexcept { return column_; }

 private:
  void add(memory_view view, const device_copies* /*device*/) override {
    if (size_) return;
    if (stored_.find_leaf(stored_.stored_path(path())) == catalog::npos) stored_.redirect_to_only_element(path());
    const std::string stored = stored_.stored_path(path());
    const std::size_t index = stored_.find_leaf(stored);
    if (index == catalog::npos || !stored_.accepts(stored)) return;
    const extents& shape = stored_.contents().leaves[index].shape;
    column_ = stored;
    if (differ_by_container(one_of(view.shape), shape))
      size_ = 1;
    else if (!shape.empty())
      size_ = shape.front();
  }

  static extents one_of(extents shape) {
    shape.front() = 1;
    return shape;
  }

  stored_state& stored_;
  std::optional<std::uint64_t> size_;
  std::string column_;
};

}  // namespace cairn::inline v0_1::detail

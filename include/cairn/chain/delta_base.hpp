// SPDX-License-Identifier: MIT
// What the next delta is built on: the newest checkpoint of the chain, and the values that a reader restores from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cairn/chain/options.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// The newest checkpoint of a chain, which is the parent of the next delta, and its references: the values that a
/// reader restores from it, bit for bit. After a failure they are not certain, and are dropped.
class delta_base {
 public:
  /// The elements of a leaf that a reader restores, from `first` to `end`. A rank of a group has those of its share.
  struct reference {
    dtype type{};
    extents shape;
    page_buffer values;
    std::uint64_t first = 0, end = 0;
    std::optional<box_place> place{};  ///< of a box of a larger array

    [[nodiscard]] bool is_at(const box_place* other) const {
      return other == nullptr ? !place : place && place->first == other->first && place->whole == other->whole;
    }
    [[nodiscard]] bool has(std::uint64_t from, std::uint64_t count) const noexcept {
      return first <= from && from + count <= end;
    }
  };

  /// Whether the next checkpoint, of `step`, can be a delta: there is an older parent, and no anchor is due. The same
  /// at all ranks of a group.
  [[nodiscard]] bool can_extend(std::uint64_t step, const chain_options& options) const noexcept {
    return parent_ && step > step_ && (!options.anchor_every || length_ < *options.anchor_every);
  }

  /// The reference of a leaf; null if there is none of this type and shape.
  [[nodiscard]] reference* find(const std::string& path, dtype type, const extents& shape) {
    const auto at = references_.find(path);
    return at != references_.end() && at->second.type == type && at->second.shape == shape ? &at->second : nullptr;
  }

  /// Makes an uninitialised reference, in place of an older one of the leaf.
  reference& make(const std::string& path, dtype type, const extents& shape) {
    return references_.insert_or_assign(path, reference{type, shape, page_buffer(element_count(shape) * size_of(type))})
        .first->second;
  }

  /// Removes the references of all other leaves, which the parent of the next checkpoint does not have.
  void keep_only(const std::set<std::string_view>& paths) {
    std::erase_if(references_, [&](const auto& each) { return !paths.contains(each.first); });
  }

  /// Call this when a checkpoint has been published: it becomes the parent. `has_all_references`: there is one for each
  /// of its leaves that needs one.
  void published(const checkpoint_ref& checkpoint, std::uint64_t step, bool is_delta, bool has_all_references) {
    has_all_references_ = has_all_references;
    length_ = is_delta ? length_ + 1 : 1;
    since_merge_ = is_delta ? since_merge_ + 1 : 0;
    parent_ = checkpoint;
    step_ = step;
  }

  /// Call this when a checkpoint has been restored: it becomes the parent, without references. `length` is
  /// the number of checkpoints from its anchor on.
  void restored(const checkpoint_ref& checkpoint, std::uint64_t step, std::size_t length) {
    forget();
    parent_ = checkpoint;
    step_ = step;
    length_ = length;
    since_merge_ = length - 1;
  }

  /// Drops the references and code tables, as after a failed save. The next delta reads them from the parent.
  void forget() noexcept {
    has_all_references_ = false;
    references_.clear();
    tables_.clear();
  }

  /// Removes the parent too: the next checkpoint is whole.
  void clear() noexcept {
    forget();
    parent_.reset();
    length_ = since_merge_ = 0;
  }

  /// Call this when the deltas have been merged into the newest checkpoint.
  void merged(bool to_whole) noexcept {
    since_merge_ = 0;
    if (to_whole) length_ = 1;
  }

  [[nodiscard]] const std::optional<checkpoint_ref>& parent() const noexcept { return parent_; }
  /// Whether the references are those of the parent. There may be none, as at a rank whose share has no leaf with one.
  [[nodiscard]] bool has_references() const noexcept { return has_all_references_ || !references_.empty(); }
  /// They have been read from the parent.
  void references_read() noexcept { has_all_references_ = true; }
  [[nodiscard]] std::size_t deltas_to_merge() const noexcept { return since_merge_; }
  [[nodiscard]] code_tables& tables() noexcept { return tables_; }

 private:
  std::optional<checkpoint_ref> parent_;
  std::uint64_t step_ = 0;
  std::size_t length_ = 0;       // checkpoints from the anchor on
  std::size_t since_merge_ = 0;  // deltas
  bool has_all_references_ = false;
  std::map<std::string, reference, std::less<>> references_;
  code_tables tables_;
};

}  // namespace cairn::inline v0_1::detail

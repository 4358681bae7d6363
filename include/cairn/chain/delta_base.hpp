// What a checkpointer remembers of the checkpoints that it has saved, so that the next one can be a delta to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cairn/core/leaf.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/chain/options.hpp"
#include "cairn/store/checkpoint_ref.hpp"

namespace cairn {

/// The newest checkpoint of a chain, as a reader has it. Writer and reader agree on every bit of `references`, or else it is
/// cleared.
class delta_base {
 public:
  /// Elements of a leaf as a reader has them.
  struct reference {
    dtype type{};
    extents shape;
    page_buffer values;
  };

  /// Can the checkpoint of `step` be a delta, as far as the chain is concerned?
  [[nodiscard]] bool can_extend(std::uint64_t step, const chain_options& options) const noexcept {
    return parent_ && step > step_ && (!options.anchor_every || length_ < *options.anchor_every) &&
           tables_.all().size() <= most_tables;
  }

  /// The reader's elements of a leaf; null when it has none of this type and shape.
  [[nodiscard]] reference* find(const std::string& path, dtype type, const extents& shape) {
    const auto at = references_.find(path);
    return at != references_.end() && at->second.type == type && at->second.shape == shape ? &at->second : nullptr;
  }

  /// Memory for the reader's elements of a leaf.
  reference& make(const std::string& path, dtype type, const extents& shape) {
    return references_.insert_or_assign(path, reference{type, shape, page_buffer(element_count(shape) * size_of(type))})
        .first->second;
  }

  /// Forgets the elements of all leaves but these: the parent of the next checkpoint will not have the others.
  void keep_only(const std::set<std::string_view>& paths) {
    std::erase_if(references_, [&](const auto& each) { return !paths.contains(each.first); });
  }

  /// A checkpoint has been published: the next one can be built on it.
  void published(const checkpoint_ref& checkpoint, std::uint64_t step, bool is_delta) {
    length_ = is_delta ? length_ + 1 : 1;
    since_merge_ = is_delta ? since_merge_ + 1 : 0;
    parent_ = checkpoint;
    step_ = step;
  }

  /// A checkpoint of an earlier process has been restored: the next one can be built on it once `references` have been read.
  void restored(const checkpoint_ref& checkpoint, std::uint64_t step, std::size_t length) {
    forget();
    parent_ = checkpoint;
    step_ = step;
    length_ = length;
    since_merge_ = length - 1;
  }

  /// The references may not be what a reader has: a save has failed. They are to be read again.
  void forget() noexcept {
    references_.clear();
    tables_.clear();
  }

  /// Nothing can be built on the chain any more.
  void end() noexcept {
    forget();
    parent_.reset();
  }

  /// Deltas have been merged into the newest checkpoint.
  void merged(bool to_whole) noexcept {
    since_merge_ = 0;
    if (to_whole) length_ = 1;
  }

  [[nodiscard]] const std::optional<checkpoint_ref>& parent() const noexcept { return parent_; }
  [[nodiscard]] bool has_references() const noexcept { return !references_.empty(); }
  [[nodiscard]] std::size_t deltas_to_merge() const noexcept { return since_merge_; }
  [[nodiscard]] code_tables& tables() noexcept { return tables_; }

 private:
  static constexpr std::size_t most_tables = 64;

  std::optional<checkpoint_ref> parent_;
  std::uint64_t step_ = 0;
  std::size_t length_ = 0;       // checkpoints from the anchor on
  std::size_t since_merge_ = 0;  // deltas
  std::map<std::string, reference, std::less<>> references_;
  code_tables tables_;
};

}  // namespace cairn

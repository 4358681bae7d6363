// The engine of a walk, without templates: where in the state the walk is, and what is done with what it
// meets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/describing.hpp"
#include "cairn/state/matching.hpp"

namespace cairn::detail {

/// One type is walked by one function for all purposes: to describe a state, to check it against a checkpoint
/// without touching it, and to apply a checkpoint to it. The walker knows which of them is going on.
class walker {
 public:
  explicit walker(describing& purpose, rank_info here) : describing_(&purpose), here_(here) {}
  explicit walker(matching& purpose, rank_info here) : matching_(&purpose), here_(here) {}

  [[nodiscard]] bool is_describing() const noexcept { return describing_ != nullptr; }
  /// The walk may change the object at hand: a checkpoint is being applied, or the object is a private copy.
  [[nodiscard]] bool is_writing() const noexcept {
    return matching_ && (matching_->applying || matching_->immediate > 0);
  }
  [[nodiscard]] describing& description() noexcept { return *describing_; }
  [[nodiscard]] matching& match() noexcept { return *matching_; }
  [[nodiscard]] rank_info here() const noexcept { return here_; }

  /// The path of the object at hand; "value" for a state that is a single leaf.
  [[nodiscard]] std::string path() const { return path_.empty() ? "value" : path_; }

  /// Walks `object` as the child `name` of the object at hand.
  template <class Walk>
  void child(std::string_view name, const Walk& walk) {
    const auto length = path_.size();
    if (++depth_ > max_nesting)
      fail(errc::invalid, {"the state is nested more than ", std::to_string(max_nesting), " deep at ",
                           path_.substr(0, 200), "...; keep long chains of objects in a vector"});
    if (length > 0) path_ += '.';
    path_ += name;
    walk();
    path_.resize(length);
    --depth_;
  }

  /// Walks the first of `count` equal objects that lie `stride` bytes apart, on behalf of all.
  template <class Walk>
  void batch(std::uint64_t count, std::size_t stride, const Walk& walk) {
    shape_.push_back(count);
    strides_.push_back(static_cast<std::int64_t>(stride));
    walk();
    shape_.pop_back();
    strides_.pop_back();
  }

  /// The first dimension that the checkpoint has for the leaves that `walk` meets; nothing if it has none of
  /// them.
  template <class Walk>
  [[nodiscard]] std::optional<std::uint64_t> stored_rows(const Walk& walk) {
    const auto outer = std::exchange(matching_->probe, matching::row_probe{.active = true, .rows = {}});
    batch(0, 0, walk);
    return std::exchange(matching_->probe, outer).rows;
  }

  /// An element of `type` at `memory`, or, within batches, the first of many.
  void element(dtype type, void* memory) { array(type, memory, {}, {}); }

  /// An array of `shape` at `memory`, `strides` bytes apart; packed when `strides` is empty.
  void array(dtype type, void* memory, const extents& shape, const std::vector<std::int64_t>& strides) {
    memory_view view{type, shape_, static_cast<std::byte*>(memory), {}};
    view.shape.insert(view.shape.end(), shape.begin(), shape.end());
    auto steps = strides_;
    const auto inner = strides.empty() ? packed_strides(shape, size_of(type)) : strides;
    steps.insert(steps.end(), inner.begin(), inner.end());
    if (!is_packed(view.shape, steps, size_of(type))) view.strides = std::move(steps);
    if (describing_)
      describing_->add(path(), std::move(view));
    else
      matching_->add(path(), std::move(view));
  }

  /// Walks a private copy: described, it is kept as long as the description; else it is filled at once. True
  /// when all of it was in the checkpoint.
  template <class Copy, class Walk>
  bool copy(const std::shared_ptr<Copy>& object, const Walk& walk) {
    if (describing_) {
      const auto outer = std::exchange(describing_->owner, object);
      walk(*object);
      describing_->owner = outer;
      return true;
    }
    const auto incomplete = matching_->incomplete;
    ++matching_->immediate;
    walk(*object);
    --matching_->immediate;
    return matching_->incomplete == incomplete;
  }

  /// Describes a fact of the object at hand.
  void state(fact what) { describing_->state(path(), std::move(what)); }

  /// The checkpoint's fact of that kind about the object at hand. Null when there is none: then the object
  /// keeps its structure, which is reported as missing if the checkpoint was written by Cairn.
  [[nodiscard]] const fact* stored(fact::kind kind) { return matching_->find_fact(path(), kind); }

  /// True when nothing of the object at hand is to be loaded.
  [[nodiscard]] bool is_filtered() const { return matching_ && !matching_->wants(path()); }

 private:
  describing* describing_ = nullptr;
  matching* matching_ = nullptr;
  rank_info here_;
  std::string path_;
  unsigned depth_ = 0;
  extents shape_;
  std::vector<std::int64_t> strides_;
};

}  // namespace cairn::detail

// The engine of a walk, without templates: where in the state the walk is, and what is done with what it
// meets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/describing.hpp"
#include "cairn/state/matching.hpp"

namespace cairn::detail {

/// One type is walked by one function for all purposes: to describe a state, to check it against a checkpoint
/// without touching it, and to apply a checkpoint to it. The walker knows which of them is going on.
class walker {
 public:
  walker(describing& purpose, rank_info here) : describing_(&purpose), here_(here) {}
  walker(matching& purpose, rank_info here) : matching_(&purpose), here_(here) {}

  [[nodiscard]] bool is_describing() const noexcept { return describing_ != nullptr; }
  /// The walk may change the object at hand: a checkpoint is being applied, or the object is a private copy.
  [[nodiscard]] bool is_writing() const noexcept {
    return matching_ && (matching_->applying || matching_->immediate > 0);
  }
  [[nodiscard]] describing& description() noexcept { return *describing_; }
  [[nodiscard]] matching& match() noexcept { return *matching_; }
  [[nodiscard]] rank_info here() const noexcept { return here_; }

  /// The path of the object at hand; "value" for a state that is a single leaf.
  [[nodiscard]] std::string path() const;

  /// From the object at hand to its part `name`, or part number `index`, and back. Too deep is errc::invalid.
  void enter(std::string_view name);
  void enter(std::uint64_t index);
  void leave();

  /// Between these two calls the first of `count` equal objects, `stride` bytes apart, is walked on behalf of
  /// all.
  void begin_batch(std::uint64_t count, std::size_t stride);
  void end_batch();

  /// Between these two calls leaves are only asked for the first dimension that they have in the checkpoint;
  /// `end_probe` returns it, or nothing where there are none.
  void begin_probe();
  [[nodiscard]] std::optional<std::uint64_t> end_probe();

  /// An element of `type` at `memory`, or, within batches, the first of many.
  void element(dtype type, void* memory);

  /// An array of `shape` at `memory`, `strides` bytes apart; packed when `strides` is empty.
  void array(dtype type, void* memory, const extents& shape, const std::vector<std::int64_t>& strides);

  /// Between these two calls a private copy is walked: described, it is kept as long as the description; else
  /// it is filled at once. `end_copy` tells whether all of it was in the checkpoint.
  void begin_copy(std::shared_ptr<const void> object);
  [[nodiscard]] bool end_copy();

  /// Describes a fact of the object at hand.
  void state(fact what);
  void state(fact::kind what, std::uint64_t number);

  /// The checkpoint's fact of that kind about the object at hand. Null when there is none: then the object
  /// keeps its structure, which is reported as missing if the checkpoint was written by Cairn.
  [[nodiscard]] const fact* stored(fact::kind kind);

  /// True when nothing of the object at hand is to be loaded.
  [[nodiscard]] bool is_filtered() const;

  /// Takes all of the object at hand as known, though nothing of it is loaded: it belongs to another rank.
  void claim();

  /// Notes that the object at hand cannot be loaded: "<path> <problem>".
  void refuse(const std::string& problem);

 private:
  struct copying {
    std::shared_ptr<const void> outer_owner;
    std::size_t incomplete = 0;
  };

  describing* describing_ = nullptr;
  matching* matching_ = nullptr;
  rank_info here_;
  std::string path_;
  std::vector<std::size_t> lengths_;  // of the path of each object that the one at hand is in
  extents shape_;
  std::vector<std::int64_t> strides_;
  std::vector<copying> copies_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/walker.ipp"  // IWYU pragma: keep
#endif

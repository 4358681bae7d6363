// SPDX-License-Identifier: MIT
// The order in which training goes through its data, as a part of the state.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"  // IWYU pragma: export: what it throws
#include "cairn/state/adapter.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/flat.hpp"
#include "cairn/state/walk_object.hpp"

namespace cairn::inline v0_1 {

/// How a loop goes through its items.
struct loop_options {
  std::uint64_t seed = 0;    ///< of the orders; loops with the same seed have the same orders on every machine
  std::uint64_t batch = 1;   ///< items in a batch, at least 1; the last batch of an epoch may be smaller
  std::uint64_t epochs = 1;  ///< where this process stops, counted from the beginning of the run; not saved
  bool shuffle = true;       ///< a new order in every epoch; otherwise 0, 1, 2, ...
  bool drop_last = false;    ///< leave out the last batch of an epoch if it is smaller
  /// Tells data sets apart: a number of your own, or `cairn::fingerprint` of the items. 0: none.
  std::uint64_t data = 0;
};

/// One step of a loop.
struct batch {
  std::span<const std::uint64_t> items{};  ///< numbers from 0 to the loop's items - 1; valid until the next batch
  std::uint64_t epoch = 0;                 ///< counted from 0
  std::uint64_t first = 0;                 ///< items of this epoch in earlier batches
  bool ends_epoch = false;                 ///< this is the last batch of its epoch

  /// The items of one of `ranks` ranks that train on this batch together; valid as long as `items`. In order of rank,
  /// the parts of all ranks are the batch, whatever their number: no item is in two parts, and sizes differ by at most
  /// one. errc::invalid unless `rank` < `ranks`.
  [[nodiscard]] std::span<const std::uint64_t> mine(std::uint64_t rank, std::uint64_t ranks) const;

  /// The same for this rank of a group, or of anything else that has a rank and a size.
  template <class Group>
  requires requires(const Group& group) {
    { group.rank() } -> std::convertible_to<std::uint64_t>;
    { group.size() } -> std::convertible_to<std::uint64_t>;
  }
  [[nodiscard]] std::span<const std::uint64_t> mine(const Group& group) const {
    return mine(group.rank(), group.size());
  }
};

namespace detail {

/// What a checkpoint contains of a loop.
struct saved_loop {
  std::uint64_t items = 0;
  std::uint64_t seed = 0;
  std::uint64_t batch = 1;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
  bool shuffle = true;
  bool drop_last = false;
  std::uint64_t fingerprint = 0;
  using cairn_changes = added<"fingerprint">;
};

/// Items by number. Without <ranges>, which every unit of a trainer would compile.
template <class Items>
concept item_range = requires(const Items& items) {
  { std::begin(items) } -> std::random_access_iterator;
  { std::size(items) } -> std::convertible_to<std::uint64_t>;
};

[[nodiscard]] std::uint64_t hash_of(std::span<const std::byte> bytes) noexcept;

/// Whether equal items have equal bytes in every process: no padding, no addresses.
template <class T>
consteval bool has_portable_bytes() {
  if constexpr (flat<T> && std::has_unique_object_representations_v<T>)
    return !row_traits_of<T>.has_skipped && !row_traits_of<T>.is_listed;
  else
    return flat<T> && std::is_floating_point_v<T>;
}

}  // namespace detail

/// A number that tells data sets apart, for `loop_options::data`: a hash of the number of items and of at most 1,024 of
/// them, evenly spaced from the first to the last. The items are numbers, structs of whole numbers without padding, or
/// ranges of items, such as strings; for others pass a view of what is in them, such as
/// `std::views::transform(images, &image::pixels)`. It stays the same in later versions of Cairn.
template <detail::item_range Items>
[[nodiscard]] std::uint64_t fingerprint(const Items& items) {
  using iterator = decltype(std::begin(items));
  using item = std::iter_value_t<iterator>;
  const auto size = static_cast<std::uint64_t>(std::size(items));
  const std::uint64_t count = size < 1024 ? size : 1024;
  std::vector<std::uint64_t> hashes{size};
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto at = i == 0 ? 0 : i * (size - 1) / (count - 1);
    const item& each = std::begin(items)[static_cast<std::iter_difference_t<iterator>>(at)];
    if constexpr (detail::item_range<item>) {
      hashes.push_back(cairn::fingerprint(each));
    } else {
      static_assert(
          detail::has_portable_bytes<item>(),
          "cairn: fingerprint takes items that are numbers, structs of whole numbers without padding, or "
          "ranges of them; pass a view of what is in the items, or loop(items.size(), {.data = number of the set})");
      hashes.push_back(detail::hash_of(std::as_bytes(std::span(std::addressof(each), 1))));
    }
  }
  return detail::hash_of(std::as_bytes(std::span(hashes)));
}

/// A range of batches that continues where the checkpoint was made. As a part of the state it visits every item once
/// per epoch over any number of restarts, in the order of a run without restarts; with `drop_last`, all items but those
/// of the smaller batch. A batch counts as seen as soon as it is handed out, so save at the end of the loop's body.
///
/// In a job of several ranks, each rank goes through the same loop, and trains on its part of each batch:
/// `batch::mine`. The position counts the items of the job, so that it may continue on another number of ranks.
///
/// A thread that reads ahead goes through a copy of the loop, and the trainer through the loop in the state: one batch
/// for each that it takes from the thread. So a checkpoint has what was trained, not what was read.
///
/// A checkpoint contains eight numbers. The order is computed again; when shuffled it takes 8 bytes of memory per item.
/// Loading continues the saved run: seed, batch size, `shuffle` and `drop_last` are those of the checkpoint, and
/// `load_report::replaced` lists those that differ; `epochs` stays as constructed. A checkpoint over another number of
/// items, or over data with another fingerprint, is errc::mismatch. An input range; copies continue independently.
class loop {
 public:
  class iterator;

  /// Over no items, until a checkpoint sets their number.
  loop() = default;

  /// Over the numbers below `items`. errc::invalid for batches of no items.
  explicit loop(std::uint64_t items, const loop_options& options = {});
  /// Over the positions of `items`, with their fingerprint if `data` is 0.
  template <detail::item_range Items>
  explicit loop(const Items& items, const loop_options& options = {}) : loop(std::size(items), options) {
    if (at_.fingerprint == 0) at_.fingerprint = cairn::fingerprint(items);
  }

  /// Hands out the next batch; empty when `epochs` are over. After a break out of the loop, continues with the next.
  [[nodiscard]] iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// The number of items; 0: not known before a load.
  [[nodiscard]] std::uint64_t items() const noexcept { return at_.items; }
  /// The epoch of the next batch.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return at_.epoch; }
  /// Items of this epoch that were handed out.
  [[nodiscard]] std::uint64_t position() const noexcept { return at_.position; }

 private:
  friend adapter<loop>;

  /// Items that an epoch hands out.
  [[nodiscard]] static std::uint64_t epoch_items(const detail::saved_loop& at) noexcept {
    return at.items - (at.drop_last ? at.items % at.batch : 0);
  }

  /// Moves to the next batch; false when there is none.
  bool advance();

  detail::saved_loop at_;
  std::uint64_t epochs_ = 1;
  bool is_sized_ = false;             // false: takes the number of items from the checkpoint
  std::vector<std::uint64_t> order_;  // shuffled: all items of epoch `order_epoch_`; else the items of the batch
  std::uint64_t order_epoch_ = 0;
  batch batch_;
};

/// An input iterator over the batches. It moves the loop, so a loop has one of them at a time.
class loop::iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = batch;
  using difference_type = std::ptrdiff_t;

  iterator() = default;
  [[nodiscard]] const batch& operator*() const noexcept { return of_->batch_; }
  [[nodiscard]] const batch* operator->() const noexcept { return &of_->batch_; }
  iterator& operator++() {
    if (!of_->advance()) of_ = nullptr;
    return *this;
  }
  void operator++(int) { ++*this; }
  [[nodiscard]] friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
    return at.of_ == nullptr;
  }

 private:
  friend loop;
  explicit iterator(loop* of) : of_(of) {}

  loop* of_ = nullptr;
};

inline loop::iterator loop::begin() { return iterator(advance() ? this : nullptr); }

/// How a loop is saved, and which checkpoints it rejects.
template <>
struct adapter<loop> {
  static detail::saved_loop get(const loop& from) { return from.at_; }
  static std::vector<std::string> check(const loop& to, const detail::saved_loop& saved);
  static void set(loop& to, const detail::saved_loop& saved);
};

namespace detail {

/// Compiled once, not in every unit of a trainer.
template <>
void walk<loop>(walker& w, void* object);

}  // namespace detail

}  // namespace cairn::inline v0_1

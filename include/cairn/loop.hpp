// The order in which training goes through its data, as a part of the state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/state/adapter.hpp"

namespace cairn {

struct loop_options {
  std::uint64_t seed = 0;
  std::uint64_t batch = 1;   ///< items in a batch, at least 1; an epoch's last batch takes what is left
  std::uint64_t epochs = 1;  ///< where this process stops, counted from the beginning of the run; not saved
  bool shuffle = true;       ///< another order in every epoch; else 0, 1, 2, ...
  bool drop_last = false;    ///< leave out the last batch of an epoch where it would be smaller
};

/// What a loop hands out at once.
struct batch {
  std::span<const std::uint64_t> items{};  ///< numbers from 0 to the loop's items - 1; valid until the next batch
  std::uint64_t epoch = 0;                 ///< counted from 0
  std::uint64_t first = 0;                 ///< items of this epoch that were handed out before
  bool ends_epoch = false;
};

namespace detail {

/// What a checkpoint has of a loop.
struct saved_loop {
  std::uint64_t items = 0;
  std::uint64_t seed = 0;
  std::uint64_t batch = 1;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
  bool shuffle = true;
  bool drop_last = false;
};

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  return z ^ (z >> 31U);
}

/// One of `count` > 0 numbers from 0 on, each as likely; std::uniform_int_distribution differs between libraries.
[[nodiscard]] inline std::uint64_t draw(std::mt19937_64& random, std::uint64_t count) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t fair = most - most % count;
  std::uint64_t number = random();
  while (number >= fair) number = random();
  return number % count;
}

/// The numbers below `items` in the order of that epoch: the same ones everywhere, independent of other epochs.
[[nodiscard]] inline std::vector<std::uint64_t> shuffled(std::uint64_t items, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::uint64_t> order(items);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::mt19937_64 random(mix(mix(seed) + epoch));
  for (std::uint64_t left = items; left > 1; --left) std::swap(order[left - 1], order[draw(random, left)]);
  return order;
}

}  // namespace detail

/// A range of batches that goes on where the checkpoint was made: as a part of the state, every item comes once per
/// epoch over any number of restarts, in the order of a run without any. A batch counts as seen once it is handed out,
/// so save at the end of the loop's body. What is saved are seven numbers; the order, when shuffled 8 bytes an item in
/// memory, is made again. Loading continues the saved run: seed, batch size, `shuffle` and `drop_last` are then the
/// checkpoint's, `epochs` stays what was asked for. errc::mismatch for a checkpoint over another number of items. An
/// input range; copies go on independently.
class loop {
 public:
  class iterator;

  /// Over nothing, until a checkpoint says over how many items.
  loop() = default;

  /// Over the numbers below `items`. errc::invalid for batches of no items.
  explicit loop(std::uint64_t items, const loop_options& options = {})
      : at_{.items = items,
            .seed = options.seed,
            .batch = options.batch,
            .shuffle = options.shuffle,
            .drop_last = options.drop_last},
        epochs_(options.epochs),
        is_sized_(true) {
    if (options.batch == 0) fail(errc::invalid, {"a loop over batches of 0 items"});
  }

  /// Hands out the next batch. Nothing once `epochs` are over; a break out of the loop goes on there.
  [[nodiscard]] iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  [[nodiscard]] std::uint64_t items() const noexcept { return at_.items; }
  /// That of the next batch.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return at_.epoch; }
  /// Items of this epoch that were handed out.
  [[nodiscard]] std::uint64_t position() const noexcept { return at_.position; }

 private:
  friend adapter<loop>;

  /// Items that an epoch hands out.
  [[nodiscard]] static std::uint64_t epoch_items(const detail::saved_loop& at) noexcept {
    return at.items - (at.drop_last ? at.items % at.batch : 0);
  }

  /// Steps on to the next batch; false when there is none.
  bool advance();

  detail::saved_loop at_;
  std::uint64_t epochs_ = 1;
  bool is_sized_ = false;             // false: takes the items of the checkpoint
  std::vector<std::uint64_t> order_;  // of `order_epoch_`; of the batch alone when not shuffled
  std::uint64_t order_epoch_ = 0;
  batch batch_;
};

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

inline bool loop::advance() {
  const std::uint64_t all = epoch_items(at_);
  if (all == 0 || at_.epoch >= epochs_) return false;
  const std::uint64_t count = std::min(at_.batch, all - at_.position);
  if (!at_.shuffle) {
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), at_.position);
  } else if (order_.size() != at_.items || order_epoch_ != at_.epoch) {
    order_ = detail::shuffled(at_.items, at_.seed, at_.epoch);
    order_epoch_ = at_.epoch;
  }
  const auto* first = order_.data() + (at_.shuffle ? at_.position : 0);
  batch_ = {{first, count}, at_.epoch, at_.position, at_.position + count == all};
  at_.position += count;
  if (batch_.ends_epoch) ++at_.epoch, at_.position = 0;
  return true;
}

/// How a loop is saved, and which checkpoints it refuses.
template <>
struct adapter<loop> {
  static detail::saved_loop get(const loop& from) { return from.at_; }

  static void check(const loop& to, const detail::saved_loop& saved) {
    if (to.is_sized_ && saved.items != to.at_.items)
      fail(errc::mismatch, {"a loop over ", std::to_string(to.at_.items), " items cannot go on from one over ",
                            std::to_string(saved.items), " items"});
    if (saved.batch == 0 || saved.position % saved.batch != 0 ||
        (saved.position != 0 && saved.position >= loop::epoch_items(saved)))
      fail(errc::corrupt, {"a loop in a place that no loop can be in"});
  }

  static void set(loop& to, const detail::saved_loop& saved) {
    loop fresh(saved.items, {.epochs = to.epochs_});
    fresh.at_ = saved;
    to = std::move(fresh);
  }
};

}  // namespace cairn

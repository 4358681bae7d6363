// SPDX-License-Identifier: MIT
// Definitions of loop.hpp.
#pragma once

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/shuffle.hpp"
#include "cairn/loop.hpp"
#include "cairn/state/walk.hpp"

namespace cairn::inline v0_1 {

std::span<const std::uint64_t> batch::mine(std::uint64_t rank, std::uint64_t ranks) const {
  if (rank >= ranks) fail(errc::invalid, {"the part of rank ", rank, " of ", ranks, " ranks in a batch"});
  const std::uint64_t each = items.size() / ranks, left = items.size() % ranks;  // the first `left` ranks take one more
  return items.subspan(rank * each + std::min(rank, left), each + (rank < left ? 1 : 0));
}

loop::loop(std::uint64_t items, const loop_options& options)
    : at_{.items = items,
          .seed = options.seed,
          .batch = options.batch,
          .shuffle = options.shuffle,
          .drop_last = options.drop_last,
          .fingerprint = options.data},
      epochs_(options.epochs),
      is_sized_(true) {
  if (options.batch == 0) fail(errc::invalid, {"a loop over batches of 0 items"});
}

bool loop::advance() {
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

std::uint64_t detail::hash_of(std::span<const std::byte> bytes) noexcept { return checksum(bytes); }

std::vector<std::string> adapter<loop>::check(const loop& to, const detail::saved_loop& saved) {
  if (to.is_sized_ && saved.items != to.at_.items)
    fail(errc::mismatch, {"a loop over ", to.at_.items, " items cannot go on from one over ", saved.items, " items"});
  if (saved.fingerprint != 0 && to.at_.fingerprint != 0 && saved.fingerprint != to.at_.fingerprint)
    fail(errc::mismatch,
         {"a loop over data with the fingerprint ", to.at_.fingerprint,
          " cannot go on from one over data with the fingerprint ", saved.fingerprint,
          "; use the data of the checkpoint, or leave the loop out with filter to begin with new data"});
  if (saved.batch == 0 || saved.position % saved.batch != 0 ||
      (saved.position != 0 && saved.position >= loop::epoch_items(saved)))
    fail(errc::corrupt, {"the stored position of the loop is invalid"});
  std::vector<std::string> replaced;
  const auto compare = [&](std::string_view option, auto here, auto there) {
    if (to.is_sized_ && here != there)
      replaced.push_back(sentence({option, ": ", here, " in the program, ", there, " in the checkpoint"}));
  };
  const auto word = [](bool value) { return std::string_view(value ? "true" : "false"); };
  compare("seed", to.at_.seed, saved.seed);
  compare("batch", to.at_.batch, saved.batch);
  compare("shuffle", word(to.at_.shuffle), word(saved.shuffle));
  compare("drop_last", word(to.at_.drop_last), word(saved.drop_last));
  return replaced;
}

void adapter<loop>::set(loop& to, const detail::saved_loop& saved) {
  loop fresh(saved.items, {.epochs = to.epochs_});
  fresh.at_ = saved;
  if (saved.fingerprint == 0) fresh.at_.fingerprint = to.at_.fingerprint;
  to = std::move(fresh);
}

template <>
void detail::walk<loop>(walker& w, void* object) {
  w.copy(object, copied_object<loop>::operations);
}

}  // namespace cairn::inline v0_1

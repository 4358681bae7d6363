// SPDX-License-Identifier: MIT
// Definitions of load_plan.hpp.
#pragma once

#include <exception>
#include <optional>
#include <unordered_set>
#include <utility>

#include "cairn/core/box.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/load_plan.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

void applier::add(memory_view view, const device_copies* device) {
  const std::size_t index = match_leaf(view);
  if (index == catalog::npos) return;
  if (prototypes_ > 0 && view.bytes() > 0)  // its memory is gone when the targets are read
    fail(errc::invalid, {path(), " was not made by the load"});
  const stored_leaf& leaf = load_.stored.contents().leaves[index];
  if (device) {
    buffers_.emplace_back(std::string(path()), view, *device);
    if (view.shape != leaf.shape) buffers_.back().read_device();
  }
  std::optional<box> region;
  if (at_.place) region = {at_.place->first, view.shape};
  targets_.push_back({index, destination(leaf, std::move(view)), std::move(region)});
}

std::size_t applier::match_leaf(const memory_view& view) {
  const std::string stored = load_.stored.stored_path(path());
  const std::size_t index = load_.stored.accepts(stored) ? load_.stored.find_leaf(stored) : catalog::npos;
  if (index == catalog::npos)
    ++load_.left_out;
  else if (!takes_shape(load_.stored.contents().leaves[index], stored, view.shape))
    reject("has shape " + to_string(view.shape) + " in the state");
  return index;
}

void applier::finish() {
  for (const auto& each : buffers_) each.write_device();
  buffers_.clear();
  for (const auto& each : heaps_) try {
      each.arrange(each.object);
    } catch (...) {
      throw error(as_error(std::current_exception(),
                           {origin(), " cannot be loaded: the comparator of ", each.path, " failed"}));
    }
  heaps_.clear();
}

void* applier::resize(void* container, std::uint64_t from, std::uint64_t to, const contiguous_operations& how) {
  constexpr std::uint64_t large = 64 * 1024;
  const std::uint64_t bytes = to * how.width;
  const bool is_large = to > from && bytes >= large && !load_.partly_filled.contains(at_.path);
  void* const reserved = is_large && how.reserve ? how.reserve(container, to) : nullptr;
  if (!reserved) return how.resize(container, to);
  growths_.push_back({container, to, how.resize, static_cast<std::byte*>(reserved), bytes});
  return reserved;
}

void applier::record(std::string_view path, const std::string& problem) {
  fail(errc::mismatch,
       {path, " ", problem, "; the check of the load did not find that, so the state may have changed in part"});
}

void applier::keep_whole() {
  record(path(),
         "has read other parts than in the check of the load, which ran its cairn_migrate or cereal function on a new "
         "object");
}

load_plan::load_plan(any_mutable_state state, const catalog& from, const match_options& options, rank_info here)
    : state_(state), at_{here} {
  const auto check = [&](std::unordered_set<const void*> const_objects) {
    checker_.reset();
    progress_.emplace(load_progress{.stored = {from, options}, .const_objects = std::move(const_objects)});
    walk(checker_.emplace(at_, *progress_));
  };
  check({});
  // The pointers before the first one to const took the object for one that is written.
  if (progress_->is_const_written) check(std::move(progress_->const_objects));
  checker_->finish();
  applier_.emplace(at_, *progress_);
}

void load_plan::apply() {
  progress_->objects.clear();
  progress_->filled_objects.clear();
  at_.takes_sizes = true;  // those that must not have passed the check
  walk(*applier_);
}

void load_plan::walk(walker& by) {
  try {
    state_.walk(by, const_cast<void*>(state_.object));  // not const: any_mutable_state
  } catch (...) {
    throw error(as_error(std::current_exception(), {progress_->stored.origin(), " cannot be loaded: ", by.path()}));
  }
}

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// Definitions of applier.hpp.
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "cairn/core/as_error.hpp"
#include "cairn/core/box.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/applier.hpp"

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
                           sentence({origin(), " cannot be loaded: the comparator of ", each.path, " failed"})));
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

}  // namespace cairn::inline v0_1::detail

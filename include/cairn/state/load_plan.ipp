// SPDX-License-Identifier: MIT
// Definitions of load_plan.hpp.
#pragma once

#include <exception>
#include <unordered_set>
#include <utility>

#include "cairn/core/as_error.hpp"
#include "cairn/state/load_plan.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

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
  if (!checker_->freed().memory.empty() || !checker_->freed().parts.empty()) check_overlaps();
  checker_->finish();
  applier_.emplace(at_, *progress_);
}

void load_plan::apply() {
  progress_->objects.clear();
  progress_->filled_objects.clear();
  at_.takes_sizes = true;  // those that must not have passed the check
  walk(*applier_);
}

void load_plan::check_overlaps() {
  overlap_search search(at_, checker_->freed());
  if (!checker_->freed().parts.empty()) {
    walk(search);
    search.begin_second();
    walk(search);
  }
  search.begin_third();
  walk(search);
  for (const auto& [container, part] : search.found())
    if (progress_->stored.selects(part))
      checker_->record(part,
                       "refers to elements of " + (container.empty() ? "value" : container) +
                           ", which the load destroys or moves; give that the checkpoint's structure before the load");
}

void load_plan::walk(walker& by) {
  try {
    state_.walk(by, const_cast<void*>(state_.object));  // not const: any_mutable_state
  } catch (...) {
    throw error(
        as_error(std::current_exception(), sentence({progress_->stored.origin(), " cannot be loaded: ", by.path()})));
  }
}

}  // namespace cairn::inline v0_1::detail

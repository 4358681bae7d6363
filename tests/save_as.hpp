// SPDX-License-Identifier: MIT
// Saves states as checkpoints of a chain, without a checkpointer.
#pragma once

#include <string>

#include "cairn/chain/attempt.hpp"
#include "cairn/save.hpp"
#include "cairn/state/describe.hpp"

namespace tests {

/// Saves a state as checkpoint `name`. With a base, deltas go on without end: only the first checkpoint is an anchor.
template <class State>
cairn::save_report save_as(cairn::any_store& store, const std::string& name, const State& state,
                           const cairn::save_options& how = {}, cairn::detail::delta_base* base = nullptr) {
  cairn::detail::save_job job{.name = name, .what = cairn::detail::describe(state)};
  job.info.step = how.step;
  job.info.metrics = how.metrics;
  job.codecs = how.codecs;
  job.chain.anchor_every.reset();
  job.threads = how.threads;
  const auto pieces = cairn::detail::from_leaves<cairn::detail::staged_piece>(
      cairn::detail::divide_evenly(job.what.leaves, how.shards));
  const auto source = cairn::detail::encode_state(store, job, pieces.size(), base);
  cairn::detail::attempt making(store, name, *source);
  static_cast<void>(making.begin());
  making.write(pieces);
  return source->published(making.publish());
}

}  // namespace tests

// SPDX-License-Identifier: MIT
// Writes leaves as one checkpoint.
#pragma once

#include <optional>
#include <string_view>

#include "cairn/core/piece.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/writer.hpp"

namespace sample {

/// A checkpoint and its pieces.
struct checkpoint_spec : cairn::detail::checkpoint_spec {
  cairn::detail::shards_of<cairn::detail::write_piece> shards{};  ///< empty: every leaf whole, in one shard
  std::optional<cairn::detail::checkpoint_ref> parent{};          ///< of a delta
};

inline cairn::detail::written_checkpoint write_checkpoint(cairn::any_store& store, std::string_view name,
                                                          const checkpoint_spec& spec) {
  using namespace cairn::detail;
  const auto whole = from_leaves<write_piece>(spec.shards.empty() ? divide_evenly(spec.leaves, 1) : division{});
  const auto& pieces = spec.shards.empty() ? whole : spec.shards;
  checkpoint_writer writer(store, name, spec, pieces.size());
  writer.begin();
  writer.add(pieces);
  return writer.commit(spec.parent);
}

}  // namespace sample

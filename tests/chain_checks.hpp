// SPDX-License-Identifier: MIT
// Checks what the checkpoints of a chain restore.
#pragma once

#include "cairn/chain/load.hpp"
#include "catch.hpp"
#include "chain.hpp"

namespace chain {

/// Checks that a checkpoint restores `real` exactly where codecs are exact, and else exactly as far off as its file
/// says: then its reader has what its writer tracked.
inline void check_restores(const cairn::any_store& store, const std::string& name, const state& real) {
  INFO(name);
  const auto opened = cairn::detail::open_chain(store, [&] { return name; });  // a merge may replace it
  const auto& reader = *opened;
  const auto found = restored(store, name);
  for (const auto& leaf : cairn::detail::describe(real).leaves) {
    INFO(leaf.path);
    REQUIRE(found.contains(leaf.path));
    const auto& stored = reader.newest();
    const auto slices = stored.slices_of(stored.contents.find(leaf.path));
    REQUIRE(slices.size() == 1);
    if (!slices[0].encoded || !slices[0].encoded->lost) {
      if (found.at(leaf.path) != sample::packed(leaf)) CHECK(found.at(leaf.path) == sample::packed(leaf));
      continue;
    }
    double largest = 0;
    for (std::uint64_t i = 0; i < leaf.count(); ++i) {
      double was = 0, is = 0;
      if (leaf.type == cairn::dtype::f32) {
        float pair[2];
        std::memcpy(&pair[0], leaf.memory + 4 * i, 4);
        std::memcpy(&pair[1], found.at(leaf.path).data() + 4 * i, 4);
        was = static_cast<double>(pair[0]), is = static_cast<double>(pair[1]);
      } else {
        cairn::bfloat16 pair[2];
        std::memcpy(&pair[0], leaf.memory + 2 * i, 2);
        std::memcpy(&pair[1], found.at(leaf.path).data() + 2 * i, 2);
        was = static_cast<double>(static_cast<float>(pair[0])), is = static_cast<double>(static_cast<float>(pair[1]));
      }
      largest = std::max(largest, std::abs(was - is));
    }
    CHECK(slices[0].encoded->lost->max_error == largest);
  }
}

}  // namespace chain

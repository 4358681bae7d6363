// SPDX-License-Identifier: MIT
// The reads of ranks that load the same arrays: each reads and decodes a part of them, and sends it to the others, where that takes less time than that each
// reads all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cairn/chain/options.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/group/team.hpp"
#include "cairn/store/reader.hpp"

namespace cairn::inline v0_1::detail {

/// Whether a leaf belongs to one rank of those that saved it.
[[nodiscard]] inline bool is_rank_state(const catalog& contents, std::string_view path) {
  for (std::size_t end = 0; end != std::string_view::npos; end = path.find('.', end + 1)) {
    const auto at = contents.structure.find(path.substr(0, end));
    if (at != contents.structure.end() && at->second.what == structure_entry::kind::ranks) return true;
  }
  return false;
}

/// Does the requests of this rank; all ranks call it together, each with its own. Those for whole arrays in contiguous memory, whose codecs decode
/// ranges, are shared if they are the same at all ranks. With `read_sharing::measured`, samples are read in both ways, and the rest in the faster one; fewer than `least_measured` bytes are read by every rank.
/// What one rank throws, all throw. A rank holds two buffers of about 8 MiB, one of them in the group.
void read_together(const chain_reader& from, std::span<const read_request> requests, const read_options& options,
                   read_sharing how, team& ranks, std::uint64_t least_measured = std::uint64_t{256} << 20U);

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// What ranks tell each other of the shards that they have written, as JSON text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/layout.hpp"

namespace cairn::inline v0_1::detail {

/// What the writer of an index needs to know of shards that another rank has written.
struct shard_record {
  std::vector<index_shard> shards{};  ///< in order of their numbers
  std::uint64_t data_bytes = 0;       ///< of their data sections
  std::map<std::size_t, leaf_encoding>
      encoded{};  ///< by number of the leaf: of its pieces in these shards, if one is encoded
  /// Leaves that this rank alone has: per-rank state, and boxes of larger arrays. Their numbers follow those of the
  /// leaves that all ranks have. Without memory.
  std::vector<leaf> own{};
  detail::structure own_structure{};
  std::vector<std::uint64_t> sample{};  ///< hashes, for the comparison of ranks
};

[[nodiscard]] std::string write_shard_record(const shard_record& record);

/// errc::corrupt names `origin`.
[[nodiscard]] shard_record read_shard_record(std::string_view text, std::string_view origin);

/// Losses by path, as JSON text.
[[nodiscard]] std::string write_losses(const std::map<std::string, loss>& lost);

/// errc::corrupt names `origin`.
[[nodiscard]] std::map<std::string, loss> read_losses(std::string_view text, std::string_view origin);

}  // namespace cairn::inline v0_1::detail

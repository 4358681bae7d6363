// SPDX-License-Identifier: MIT
// Names of checkpoints and of the files in them: "step-000000120", "shard-00000-of-00004.safetensors", "index.json".
// Where hosts keep parity of shards of others (levels/parity_sets.hpp), "parity-00000-of-00004.data" and ".json".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cairn/core/error.hpp"  // IWYU pragma: export: what it throws

namespace cairn::inline v0_1 {

/// The order of checkpoints: names without a step by name, then those with a step by step.
[[nodiscard]] bool checkpoint_before(std::string_view a, std::string_view b);

namespace detail {

inline constexpr std::string_view index_file = "index.json";

/// How every index that Cairn writes begins.
inline constexpr std::string_view index_opening = "{\"metadata\":{\"checksum\":\"";

/// 120 -> "step-000000120".
[[nodiscard]] std::string checkpoint_name(std::uint64_t step);

/// The step in a name as `checkpoint_name` makes it; nothing for any other name.
[[nodiscard]] std::optional<std::uint64_t> parse_checkpoint_name(std::string_view name);

/// (0, 4) -> "shard-00000-of-00004.safetensors".
[[nodiscard]] std::string shard_file(std::size_t shard, std::size_t shards);

/// (0, 4) -> "parity-00000-of-00004": without its ending.
[[nodiscard]] std::string parity_file(std::size_t keeper, std::size_t shards);

/// Whether `file` is one that Cairn writes into a checkpoint: the only ones it ever deletes.
[[nodiscard]] bool is_own_file(std::string_view file);

/// Whether `name` can name a checkpoint: 1 to 200 bytes, no slash, no leading dot, and no `~` and digits at the end.
[[nodiscard]] bool is_checkpoint_name(std::string_view name) noexcept;

/// Throws errc::invalid unless `is_checkpoint_name`.
void require_checkpoint_name(std::string_view name);

/// What is published is never replaced: each publication of a checkpoint has a directory of its own, and the highest
/// generation is the checkpoint.
struct generation {
  std::string name;  ///< of the checkpoint
  std::uint64_t number = 1;

  friend auto operator<=>(const generation&, const generation&) = default;
};

/// The name of its directory: {"a", 1} -> "a", {"a", 2} -> "a~2".
[[nodiscard]] std::string directory_name(const generation& of);

/// The generation in a name as `directory_name` makes it; nothing for any other name.
[[nodiscard]] std::optional<generation> parse_generation(std::string_view directory);

}  // namespace detail
}  // namespace cairn::inline v0_1

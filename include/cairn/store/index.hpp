// SPDX-License-Identifier: MIT
// The index of a checkpoint, index.json, which is written last: step, metrics, shards with their checksums, structure,
// and where each leaf is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::detail {

struct index_shard {
  std::string file;
  std::uint64_t bytes = 0;            ///< of the whole file
  std::uint64_t header_checksum = 0;  ///< of everything before the data section
  std::string role{};  ///< what is in it; empty: leaves. Others, of which this version writes none, come last

  friend bool operator==(const index_shard&, const index_shard&) = default;
};

struct checkpoint_index {
  checkpoint_info info{};
  std::uint64_t text_bytes = 0;  ///< of the text that it was read from
  std::uint64_t total_size = 0;  ///< bytes of all data sections
  std::vector<index_shard> shards{};
  std::optional<checkpoint_ref> parent{};  ///< of a delta
  std::optional<std::uint64_t> id{};       ///< where it is not derived from the bytes: see checkpoint_id
  std::vector<stored_leaf> leaves{};       ///< in ascending order of their paths
  std::vector<leaf_storage> storage{};     ///< parallel to `leaves`
  detail::structure structure{};
};

/// Identifies what a checkpoint restores: the same for a delta and for what merging makes of it.
[[nodiscard]] std::uint64_t checkpoint_id(const checkpoint_index& index) noexcept;

/// The checksum of an index, with its own 16 digits taken as zeros.
[[nodiscard]] std::uint64_t index_checksum(std::string_view text);

/// The text of index.json. errc::invalid for text that is not UTF-8.
[[nodiscard]] std::string write_index(const checkpoint_index& index);

enum class index_part : std::uint8_t {
  all,
  metadata  ///< no leaves and no structure, whose text is not parsed: what lists of checkpoints need
};

/// Parses and checks the text of an index; `origin` names it in messages. errc::corrupt when it is not what was
/// written, errc::unsupported when it is of another format version.
[[nodiscard]] checkpoint_index parse_index(std::string_view text, std::string_view origin,
                                           index_part part = index_part::all);

/// The text of a publication's index. errc::corrupt for a file that is none, before all of it is read.
[[nodiscard]] std::string read_index_text(const stores::publication& of);

[[nodiscard]] checkpoint_index read_index(const stores::publication& of, index_part part = index_part::all);

/// Whether this checkpoint and all that it is built on are still published. Others may have removed them. False also if
/// an index cannot be read. Reads the index of each link.
[[nodiscard]] bool has_whole_chain(const any_store& store, checkpoint_ref which);

/// Calls `use` with a checkpoint's newest publication; again if that has gone, or is being deleted, since there is a
/// newer one. errc::not_found.
template <class Use>
auto with_newest(const any_store& store, std::string_view name, const Use& use) {
  constexpr int most = 20;
  for (int tries = 1;; ++tries) {
    const auto newest = store.open(name);
    try {
      return use(newest);
    } catch (const error& cause) {
      const bool has_gone = cause.code() == errc::not_found ||
                            (cause.code() == errc::corrupt && store.open(name)->location() != newest->location());
      if (!has_gone || tries == most) throw;
    }
  }
}

/// The index of a checkpoint's newest publication, as that.
[[nodiscard]] inline checkpoint_index read_newest_index(const any_store& store, std::string_view name,
                                                        index_part part) {
  return with_newest(store, name, [&](const auto& newest) { return read_index(*newest, part); });
}

}  // namespace cairn::inline v0_1::detail

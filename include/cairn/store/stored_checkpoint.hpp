// An opened checkpoint: its files, checked against each other, and where in them every leaf lies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/store/shard_metadata.hpp"

namespace cairn::detail {

/// A shard, open.
struct stored_shard {
  std::unique_ptr<stores::source> file;
  std::string where;  ///< its path, for messages
  safetensors_header header;
  shard_metadata metadata;
  /// Per block: its checksum has been compared. Two threads may do so at the same time, which is harmless.
  std::unique_ptr<std::atomic<bool>[]> verified;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return header.data_start + header.data_bytes; }
};

/// Where a slice of a leaf is.
struct stored_slice {
  std::size_t leaf = 0;  ///< index into `stored_checkpoint::leaves`
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::size_t shard = 0;
  std::uint64_t begin = 0;                 ///< first byte in the shard's data section
  std::uint64_t bytes = 0;                 ///< there
  const encoding_info* encoded = nullptr;  ///< null: stored as it is

  [[nodiscard]] std::uint64_t end() const noexcept { return begin + bytes; }
  [[nodiscard]] bool is_relative() const noexcept { return encoded != nullptr && encoded->relative; }
};

/// What is known of a checkpoint before its data are read.
struct stored_checkpoint {
  std::string origin;
  checkpoint_index index;
  std::vector<stored_shard> shards;
  std::vector<stored_leaf> leaves;   ///< by path
  std::vector<stored_slice> slices;  ///< by leaf, then by first element; they cover every leaf exactly
  detail::structure structure;
  bool has_structure = false;

  /// The slices of one leaf. O(log n).
  [[nodiscard]] CAIRN_INLINE std::span<const stored_slice> slices_of(std::size_t leaf) const noexcept;
};

/// Opens checkpoint `name` and checks its index and headers. If it is replaced meanwhile, as by merging, either the old or the new one
/// is opened. Errors: not_found, corrupt, unsupported, io.
[[nodiscard]] CAIRN_INLINE stored_checkpoint open_checkpoint(const any_store& store, std::string_view name);

/// Opens a single safetensors file, Cairn's or any other's, as a checkpoint of one shard.
[[nodiscard]] CAIRN_INLINE stored_checkpoint open_checkpoint(std::unique_ptr<stores::source> file, std::string origin);

/// Whether another checkpoint has replaced the one whose index listed `shards`.
[[nodiscard]] CAIRN_INLINE bool is_replaced(const any_store& store, std::string_view name,
                                            const std::vector<index_shard>& shards);

/// Calls `open`. If it fails and `replaced` returns true, the checkpoint was replaced meanwhile: calls `open` again.
template <class Open, class Replaced>
auto open_again(const Open& open, const Replaced& replaced) {
  constexpr int most = 20;
  for (int attempt = 1;; ++attempt) {
    try {
      return open();
    } catch (const error&) {
      if (attempt == most || !replaced()) throw;
    }
  }
}

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/store/stored_checkpoint.ipp"  // IWYU pragma: keep
#endif

// SPDX-License-Identifier: MIT
// Writes leaves as one checkpoint: lays out its shards, hashes and writes them by blocks on a few threads, and commits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/checkpoint_info.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/shard.hpp"

namespace cairn::inline v0_1::detail {

/// What the writer of an index needs to know of shards that another rank has written. Ranks send it as JSON text.
struct shard_record {
  std::vector<index_shard> shards{};  ///< in order of their numbers
  std::uint64_t data_bytes = 0;       ///< of their data sections
  /// By number of the leaf: of its pieces in these shards, if one is encoded.
  std::map<std::size_t, leaf_encoding> encoded{};
  /// Leaves that this rank alone has: per-rank state, and boxes of larger arrays. Their numbers follow those of the
  /// leaves that all ranks have. Without memory.
  std::vector<leaf> own{};
  detail::structure own_structure{};
  std::vector<std::uint64_t> sample{};  ///< hashes, for the comparison of ranks
};

[[nodiscard]] std::string write_shard_record(const shard_record& record);

/// errc::corrupt names `origin`.
[[nodiscard]] shard_record read_shard_record(std::string_view text, std::string_view origin);

/// What a checkpoint contains.
struct checkpoint_spec {
  std::span<const leaf> leaves;
  detail::structure structure{};
  checkpoint_info info{};
  restored_losses restored{};         ///< what earlier restores have lost
  std::optional<std::uint64_t> id{};  ///< see checkpoint_id
  unsigned threads = 0;               ///< 0: as many as keep the store busy, see stores::sink::writers
  /// From any thread. What it throws cancels the checkpoint.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress{};  ///< bytes
};

/// What was written.
struct written_checkpoint {
  std::uint64_t bytes = 0;  ///< of all files
  std::uint64_t id = 0;     ///< see checkpoint_id
};

struct new_shard;

/// Writes the newest publication of a checkpoint, a few shards at a time. Destroyed before `commit`, it leaves nothing.
/// Takes a few MiB per thread beyond the state. Errors: what the store throws; errc::invalid also for a path that is
/// not UTF-8, and for a piece that is not part of its leaf. For one thread at a time.
class checkpoint_writer {
 public:
  /// For checkpoint `name` of `shards` shards in all, of which this writer adds those from `first` on. `spec` must
  /// outlive the writer. No I/O yet. errc::invalid: two leaves of one path.
  checkpoint_writer(any_store& store, std::string_view name, const checkpoint_spec& spec, std::size_t shards,
                    std::size_t first = 0);

  /// Begins the checkpoint before its first shard is added. Returns what other writers need to join it.
  std::string begin();

  /// Joins the checkpoint that another writer has begun. Then only `add` and `record` may be called.
  void join(std::string_view attempt);

  /// Writes the next shards; the memory of their pieces is no longer used afterwards. `later_bytes` is an estimate of
  /// what later calls will add, for progress.
  void add(std::span<const std::vector<write_piece>> shards, std::uint64_t later_bytes = 0);

  /// What the writer that has begun the checkpoint needs to know of the shards of this one. The leaves from number
  /// `common` on, and `own_structure`, are those that this writer alone has.
  [[nodiscard]] shard_record record(std::size_t common, structure own_structure) const;

  /// Lists the shard that another writer has written after those that have been added. `pieces` are its pieces of the
  /// first `common` leaves; it has all of its own ones. Returns the stored bytes of these.
  std::uint64_t add_written(const shard_record& written, std::size_t common, std::span<const piece> pieces);

  /// Bytes of each of the spec's leaves in the shards that have been added or listed.
  [[nodiscard]] std::vector<std::uint64_t> stored_bytes() const;

  /// Writes the index, which contains the checksums of the headers, and publishes. `parent`: of a delta. With shards of
  /// other writers, errc::corrupt if what these have said of them gives an index that cannot be read.
  written_checkpoint commit(std::optional<checkpoint_ref> parent = {});

  /// Bytes of the shards that have been added.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] const leaf& leaf_at(std::size_t number) const {
    return number < spec_.leaves.size() ? spec_.leaves[number] : others_[number - spec_.leaves.size()];
  }
  [[nodiscard]] std::vector<std::size_t> leaves_by_path() const;
  void lay_out(new_shard& shard, const std::vector<write_piece>& pieces);
  void list_leaves();
  /// `total`: the bytes of all data sections, for progress.
  void write_files(std::span<new_shard> shards, std::uint64_t total);
  void write_data(std::span<new_shard> shards, std::uint64_t total);

  any_store& store_;
  std::string name_;
  const checkpoint_spec& spec_;
  std::size_t shards_, laid_out_;
  checkpoint_index index_;
  bool lists_others_ = false;         // shards of other writers
  std::vector<leaf> others_;          // leaves that other writers alone have; their numbers follow those of the spec
  std::vector<std::size_t> by_path_;  // the numbers of the leaves, in the order of their paths
  std::vector<leaf_pieces> pieces_;   // by leaf
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::unique_ptr<stores::transaction> transaction_;
};

}  // namespace cairn::inline v0_1::detail

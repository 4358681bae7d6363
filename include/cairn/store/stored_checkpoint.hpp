// SPDX-License-Identifier: MIT
// An opened checkpoint: its index, and its shards, which are opened when they are needed, few at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/system/sort.hpp"
#include "cairn/store/shard.hpp"

namespace cairn::inline v0_1::detail {

/// The files that a reader may keep open: a part of those that the process may.
[[nodiscard]] inline std::size_t most_open_files() noexcept {
  constexpr rlim_t most = 128, part = 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = most;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / part, 1, most));
}

class pooled_file;

/// Keeps up to `most` files open, and beyond these only such as are being read: one per thread. The least recently used
/// file is closed, and opened again when it is needed. Thread-safe.
class file_pool {
 public:
  explicit file_pool(std::size_t most = most_open_files()) noexcept : most_(std::max<std::size_t>(most, 1)) {}

  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  /// The files that are open, whether they are being read or not.
  [[nodiscard]] std::size_t open() const {
    const std::lock_guard lock(mutex_);
    return recent_.size();
  }

 private:
  friend class pooled_file;
  using pointer = std::shared_ptr<const stores::source>;
  struct entry {
    const pooled_file* of = nullptr;
    pointer file;
  };
  using entries = std::list<entry>;

  std::size_t most_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  entries recent_;           // the one that was used last comes last
  std::size_t opening_ = 0;  // files that will be added
};

/// A file that its pool may close between two reads. Thread-safe.
class pooled_file final : public stores::source {
 public:
  /// Opens the file: the same one each time.
  using opener = std::function<std::unique_ptr<stores::source>()>;

  /// Opens the file.
  pooled_file(std::shared_ptr<file_pool> pool, opener open) : pool_(std::move(pool)), open_(std::move(open)) {
    size_ = open_now()->size();
  }

  ~pooled_file() override {
    file_pool::entries closed;  // after the lock has been released
    const std::lock_guard lock(pool_->mutex_);
    if (is_open_) closed.splice(closed.end(), pool_->recent_, place_);
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  using source::read;
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    use()->read(offset, into);
  }
  [[nodiscard]] unsigned readers(std::uint64_t offset) const override { return use()->readers(offset); }

 private:
  using pointer = file_pool::pointer;

  /// The open file, which is not closed before the result is gone.
  [[nodiscard]] pointer use() const {
    if (auto file = if_open()) return file;
    const std::lock_guard lock(opening_);
    auto file = if_open();  // another thread may have opened it
    return file ? file : open_now();
  }

  [[nodiscard]] pointer if_open() const {
    const std::lock_guard lock(pool_->mutex_);
    if (!is_open_) return nullptr;
    pool_->recent_.splice(pool_->recent_.end(), pool_->recent_, place_);
    return place_->file;
  }

  [[nodiscard]] pointer open_now() const {
    file_pool::entries added(1);
    make_room();
    try {
      added.front() = {this, open_()};
    } catch (...) {
      const std::lock_guard lock(pool_->mutex_);
      --pool_->opening_;
      throw;
    }
    const std::lock_guard lock(pool_->mutex_);
    --pool_->opening_;
    place_ = added.begin();
    pool_->recent_.splice(pool_->recent_.end(), added);
    is_open_ = true;
    return place_->file;
  }

  /// Closes files that nobody reads, until there is room for one more.
  void make_room() const {
    file_pool::entries closed;  // after the lock has been released
    const std::lock_guard lock(pool_->mutex_);
    auto& recent = pool_->recent_;
    for (auto at = recent.begin(); at != recent.end() && recent.size() + pool_->opening_ >= pool_->most_;) {
      const auto oldest = at++;
      if (oldest->file.use_count() > 1) continue;  // copies are made under the lock only
      oldest->of->is_open_ = false;
      closed.splice(closed.end(), recent, oldest);
    }
    ++pool_->opening_;
  }

  std::shared_ptr<file_pool> pool_;
  opener open_;
  std::uint64_t size_ = 0;
  mutable std::mutex opening_;  // held while the file is opened again
  // guarded by the mutex of the pool
  mutable bool is_open_ = false;
  mutable file_pool::entries::iterator place_;  // if it is open
};

struct stored_shard {
  std::unique_ptr<stores::source> file;
  std::string where;  ///< its path, for messages
  safetensors_header header;
  shard_metadata metadata;
  std::vector<std::size_t> by_key;  ///< the numbers of the tensors, in the order of their keys
  /// Per block: its checksum has been compared. Two threads may do so at the same time, which is harmless.
  std::unique_ptr<std::atomic<bool>[]> verified;

  /// The tensor of that key, or null. O(log n).
  [[nodiscard]] const tensor_entry* find(std::string_view key) const noexcept {
    const auto key_of = [&](std::size_t i) -> std::string_view { return header.tensors[i].key; };
    const auto at = std::ranges::lower_bound(by_key, key, {}, key_of);
    return at != by_key.end() && key_of(*at) == key ? &header.tensors[*at] : nullptr;
  }
};

/// The shards of a checkpoint. Thread-safe.
class shard_list {
 public:
  shard_list() = default;
  /// `open` opens the file of a shard, and reads its header. What it throws is thrown to the caller that needs the
  /// shard; the next one tries again.
  shard_list(std::size_t count, std::function<stored_shard(std::size_t)> open)
      : slots_(std::make_unique<slot[]>(count)), count_(count), open_(std::move(open)) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// The shard, whose header is read the first time.
  [[nodiscard]] const stored_shard& operator[](std::size_t number) const {
    auto& at = slots_[number];
    if (const auto* parsed = at.parsed.load(std::memory_order_acquire)) return *parsed;
    const std::lock_guard lock(at.opening);
    if (!at.shard) {
      at.shard = std::make_unique<const stored_shard>(open_(number));
      at.parsed.store(at.shard.get(), std::memory_order_release);
    }
    return *at.shard;
  }

  /// The shard if its header has been read, else null.
  [[nodiscard]] const stored_shard* if_parsed(std::size_t number) const noexcept {
    return slots_[number].parsed.load(std::memory_order_acquire);
  }

 private:
  struct slot {
    std::mutex opening;  // guards `shard`
    std::unique_ptr<const stored_shard> shard;
    std::atomic<const stored_shard*> parsed{nullptr};
  };

  std::unique_ptr<slot[]> slots_;
  std::size_t count_ = 0;
  std::function<stored_shard(std::size_t)> open_;
};

/// A piece of a leaf, and which bytes of its shard it has.
struct stored_slice : placed_piece {
  std::size_t leaf = 0;                    ///< index into catalog::leaves
  std::uint64_t begin = 0;                 ///< first byte in the shard's data section
  std::uint64_t bytes = 0;                 ///< there
  const encoding_info* encoded = nullptr;  ///< null: stored as it is

  [[nodiscard]] std::uint64_t end() const noexcept { return begin + bytes; }
  [[nodiscard]] bool is_relative() const noexcept { return encoded != nullptr && encoded->relative; }
};

/// Elements of a leaf: a run of them in row-major order, or a box. By default all from `first` on.
struct leaf_part {
  std::uint64_t first = 0, count = (std::numeric_limits<std::uint64_t>::max)();
  std::optional<box> region{};
};

struct stored_checkpoint {
  std::shared_ptr<const stores::publication> from;  ///< null for a single file
  catalog contents;
  checkpoint_index index;  ///< its leaves and structure are in `contents`
  shard_list shards;

  /// The slices of a leaf that cover a part of it: runs in ascending order, or boxes. None for a part without elements.
  /// Opens their shards; errc::corrupt where these do not have what the index says.
  [[nodiscard]] std::vector<stored_slice> slices_of(std::size_t leaf, const leaf_part& part = {}) const;
  /// The slice of one piece of the leaf's layout. Opens its shard alone.
  [[nodiscard]] stored_slice slice_of(std::size_t leaf, placed_piece piece) const;
};

/// Calls `act(in_a, in_b, count)` for each run of consecutive elements that two pieces of an array of this shape, each
/// of which is a run of elements or a box, have in common, with the numbers of its first element in both.
template <class Piece, class Other, class Act>
void for_each_common_run(const Piece& a, const Other& b, const extents& shape, const Act& act) {
  if (a.region && b.region) return for_each_common_run(*a.region, *b.region, act);
  if (b.region) return for_each_common_run(a.first, a.count, shape, *b.region, act);
  if (a.region)
    return for_each_common_run(
        b.first, b.count, shape, *a.region,
        [&](std::uint64_t in_b, std::uint64_t in_a, std::uint64_t count) { act(in_a, in_b, count); });
  const auto begin = a.first > b.first ? a.first : b.first;
  const auto end = a.first + a.count < b.first + b.count ? a.first + a.count : b.first + b.count;
  if (begin < end) act(begin - a.first, begin - b.first, end - begin);
}

/// The texts of indexes, by the names of their checkpoints. One rank reads them for all: what a file system shows
/// differs between hosts for a time, and thousands of ranks that read the same file wait for each other.
using index_texts = std::map<std::string, std::string, std::less<>>;

/// For other ranks.
[[nodiscard]] std::string write_index_texts(const index_texts& all);
[[nodiscard]] index_texts read_index_texts(std::string_view text);

/// Opens checkpoint `name` and checks its index, by the text that `texts` has of it; else adds that. `files` keeps its
/// shards open. Errors: not_found, corrupt, unsupported, io.
[[nodiscard]] stored_checkpoint open_checkpoint(const any_store& store, std::string_view name,
                                                std::shared_ptr<file_pool> files = {}, index_texts* texts = nullptr);

/// Opens a single safetensors file, Cairn's or any other's, as a checkpoint of one shard.
[[nodiscard]] stored_checkpoint open_checkpoint(std::unique_ptr<stores::source> file, std::string origin);

}  // namespace cairn::inline v0_1::detail

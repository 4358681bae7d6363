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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/mutex.hpp"
#include "cairn/system/sort.hpp"

namespace cairn::inline v0_1::detail {

/// The files that a reader may keep open: a part of those that the process may.
[[nodiscard]] inline std::size_t most_open_files() noexcept {
  constexpr rlim_t most = 128, part = 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = most;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / part, 1, most));
}

class pooled_file;

/// Keeps up to `most` files open, those that were used last. Each thread may read one more. Thread-safe.
class file_pool {
 public:
  explicit file_pool(std::size_t most = most_open_files()) noexcept : most_(std::max<std::size_t>(most, 1)) {}

  [[nodiscard]] std::size_t most() const noexcept { return most_; }

 private:
  friend class pooled_file;
  struct entry {
    const pooled_file* of = nullptr;
    std::shared_ptr<const stores::source> file;
  };

  /// Null if it is not open.
  [[nodiscard]] std::shared_ptr<const stores::source> find(const pooled_file* of) {
    const mutex_lock lock(mutex_);
    const auto at = std::ranges::find(recent_, of, &entry::of);
    if (at == recent_.end()) return nullptr;
    recent_.splice(recent_.end(), recent_, at);
    return recent_.back().file;
  }
  /// Adds files, after closing those that were not used for the longest time, so that there are at most `most`.
  void add(std::list<entry> added, std::size_t most) {
    std::list<entry> closed;  // after the lock has been released
    const mutex_lock lock(mutex_);
    while (!recent_.empty() && recent_.size() + added.size() > most)
      closed.splice(closed.end(), recent_, recent_.begin());
    recent_.splice(recent_.end(), added);
  }
  void close(const pooled_file* of) noexcept {
    std::list<entry> closed;
    const mutex_lock lock(mutex_);
    if (const auto at = std::ranges::find(recent_, of, &entry::of); at != recent_.end())
      closed.splice(closed.end(), recent_, at);
  }

  std::size_t most_;
  mutex mutex_;
  std::list<entry> recent_ CAIRN_GUARDED_BY(mutex_);  // the one that was used last comes last
};

/// A file that its pool may close between two reads. Thread-safe.
class pooled_file final : public stores::source {
 public:
  /// Opens the file: the same one each time.
  using opener = std::function<std::unique_ptr<stores::source>()>;

  /// Opens the file.
  pooled_file(std::shared_ptr<file_pool> pool, opener open)
      : pool_(std::move(pool)), open_(std::move(open)), size_(use()->size()), preferred_(use()->preferred_read()) {}
  ~pooled_file() override { pool_->close(this); }

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::uint64_t preferred_read() const noexcept override { return preferred_; }

  using source::read;
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    use()->read(offset, into);
  }

 private:
  /// The open file, which is not closed before the result is gone.
  [[nodiscard]] std::shared_ptr<const stores::source> use() const {
    if (auto file = pool_->find(this)) return file;
    const mutex_lock lock(opening_);
    if (auto file = pool_->find(this)) return file;  // another thread has opened it
    pool_->add({}, pool_->most() - 1);
    std::list<file_pool::entry> made(1);
    made.front() = {this, open_()};
    auto file = made.front().file;
    pool_->add(std::move(made), pool_->most());
    return file;
  }

  std::shared_ptr<file_pool> pool_;
  opener open_;
  mutable mutex opening_;  // held while the file is opened
  std::uint64_t size_, preferred_;
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
    const mutex_lock lock(at.opening);
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
    mutex opening;
    std::unique_ptr<const stored_shard> shard CAIRN_GUARDED_BY(opening);
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

/// A published checkpoint, or a single file. Opening reads the index; a shard is opened when needed. Thread-safe.
struct stored_checkpoint {
  std::shared_ptr<const stores::publication> from;  ///< null for a single file
  std::string name;                                 ///< in its store
  catalog contents;
  checkpoint_index index;  ///< its leaves and structure are in `contents`
  shard_list shards;

  /// Whether a slice of the leaf is encoded.
  [[nodiscard]] bool is_encoded(std::size_t leaf) const noexcept { return index.storage[leaf].encoded != nullptr; }
  /// Whether a slice of the leaf needs the parent checkpoint.
  [[nodiscard]] bool is_relative(std::size_t leaf) const noexcept {
    return is_encoded(leaf) && index.storage[leaf].encoded->relative;
  }
  /// Whether this publication has been removed, or another one followed it. False also where that cannot be found out.
  [[nodiscard]] bool is_outdated(const any_store& store) const {
    try {
      static_cast<void>(from->open(index_file));  // is removed first
      return read_index(*store.open(name), index_part::metadata).shards != index.shards;
    } catch (const error& cause) {
      return cause.code() == errc::not_found;
    }
  }

  /// The slices of a leaf that cover a part of it: runs in ascending order, or boxes. None for a part without elements.
  /// Opens their shards; errc::corrupt where these do not have what the index says.
  [[nodiscard]] std::vector<stored_slice> slices_of(std::size_t leaf, const leaf_part& part = {}) const {
    const auto& shape = contents.leaves[leaf].shape;
    const auto& region = part.region;
    std::vector<stored_slice> slices;
    if (element_count(shape) == 0 || (region ? region->count() : part.count) == 0) return slices;
    const auto most = (std::numeric_limits<std::uint64_t>::max)() - part.first;
    auto first = part.first, end = part.first + std::min(part.count, most);
    if (region) {  // by the first and the last element of the box: a run between two of its rows is opened in vain
      const box whole{extents(shape.size()), shape};
      auto last = region->first;
      for (std::size_t d = 0; d < shape.size(); ++d) last[d] += region->shape[d] - 1;
      first = number_in(whole, region->first);
      end = number_in(whole, last) + 1;
    }
    for_each_piece(index.storage[leaf].layout, shape, [&](placed_piece piece) {
      const bool is_wanted = piece.region ? !region || common_part(*piece.region, *region).count() > 0
                                          : piece.first < end && piece.first + piece.count > first;
      if (is_wanted) slices.push_back(slice_of(leaf, std::move(piece)));
    });
    return slices;
  }
  /// The slice of one piece of the leaf's layout. Opens its shard alone.
  [[nodiscard]] stored_slice slice_of(std::size_t leaf, placed_piece piece) const {
    const auto& [path, type, shape] = contents.leaves[leaf];
    const auto& storage = index.storage[leaf];
    const auto& shard = shards[piece.shard];
    const auto corrupt = [&](std::string_view why) {
      fail(errc::corrupt, {shard.where, ": ", why, " of \"", contents.leaves[leaf].path, "\""});
    };
    const bool is_whole = storage.layout.cuts == nullptr;
    const auto key = is_whole ? path : slice_key(path, piece);
    const auto* tensor = shard.find(key);
    if (tensor == nullptr)
      fail(errc::corrupt, {shard.where, ": has no tensor \"", key, "\", which the index has there"});
    const auto [stored_type, stored_shape] = shard.metadata.elements_of(*tensor);
    const auto piece_shape = is_whole ? shape : piece.region ? piece.region->shape : extents{piece.count};
    if (stored_type != type || *stored_shape != piece_shape) corrupt("has another dtype or shape than the index");
    const auto* encoded = shard.metadata.encoding_of(*tensor);
    if (encoded != nullptr && (storage.encoded == nullptr || (encoded->relative && !storage.encoded->relative)))
      corrupt("has another encoding than the index");
    return {std::move(piece), leaf, tensor->begin, tensor->end - tensor->begin, encoded};
  }
};

/// The texts of indexes, by the names of their checkpoints. One rank reads them for all: what a file system shows
/// differs between hosts for a time, and thousands of ranks that read the same file wait for each other.
using index_texts = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] inline stored_shard open_shard(std::unique_ptr<stores::source> file, std::string where,
                                             std::optional<std::uint64_t> header_checksum = {}) {
  stored_shard shard{std::move(file), std::move(where), {}, {}, {}, {}};
  shard.header = read_safetensors_header(*shard.file, shard.where, header_checksum);
  shard.metadata = read_shard_metadata(shard.header, shard.where);
  const auto& tensors = shard.header.tensors;
  const auto key_of = [&](std::size_t i) -> const std::string& { return tensors[i].key; };
  shard.by_key = sorted_order(tensors.size(), [&](std::size_t a, std::size_t b) { return key_of(a) < key_of(b); });
  const auto twice = std::ranges::adjacent_find(shard.by_key, {}, key_of);
  if (twice != shard.by_key.end())
    fail(errc::corrupt, {shard.where, ": the key \"", tensors[*twice].key, "\" appears twice"});
  shard.verified = std::make_unique<std::atomic<bool>[]>(shard.metadata.blocks.size());
  return shard;
}

/// Opens the file of a shard and compares its size with the index.
[[nodiscard]] inline std::unique_ptr<stores::source> open_file(const stores::publication& from,
                                                               const index_shard& listed) {
  const auto where = sentence({from.location(), "/", listed.file});
  std::unique_ptr<stores::source> file;
  for (int tries = 1; !file; ++tries) {
    try {
      file = from.open(listed.file);
    } catch (const error& failure) {
      if (failure.code() != errc::not_found) throw;
      static_cast<void>(from.open(index_file));  // not_found where the whole publication has been removed
      if (tries == 2) fail(errc::corrupt, {where, ": the index names it, but it is not there"});  // not for the moment
    }
  }
  const auto size = file->size();
  if (size != listed.bytes) fail(errc::corrupt, {where, ": has ", size, " bytes, its index says ", listed.bytes});
  return file;
}

/// What the header of a file says of one leaf.
struct found_leaf : leaf_pieces {
  dtype type{};
  extents shape{};
};

/// Finds the leaves in the header of a single file, which no index has.
inline void collect_leaves(stored_checkpoint& checkpoint) {
  std::map<std::string, found_leaf, std::less<>> found;
  const auto& shard = checkpoint.shards[0];
  for (const auto& tensor : shard.header.tensors) {
    const auto [type, shape] = shard.metadata.elements_of(tensor);
    const auto slice = shard.metadata.slices.find(tensor.key);
    const bool is_whole = slice == shard.metadata.slices.end();
    auto piece = is_whole ? placed_piece{0, 0, element_count(*shape), {}}
                          : placed_piece{0, slice->second.first, slice->second.count, slice->second.region};
    const auto& path = is_whole ? tensor.key : slice->second.leaf;
    if (!is_whole && slice_key(path, piece) != tensor.key)
      fail(errc::corrupt, {shard.where, ": \"", tensor.key, "\" is not the key of the slice that it is said to be"});
    const auto [at, is_first] = found.try_emplace(path);
    auto& leaf = at->second;
    const auto& leaf_shape = is_whole ? *shape : slice->second.shape;
    if (is_first) {
      leaf.type = type;
      leaf.shape = leaf_shape;
    }
    if (leaf.type != type || leaf.shape != leaf_shape)
      fail(errc::corrupt, {shard.where, ": the slices of \"", path, "\" disagree about its dtype or shape"});
    leaf.where.push_back(std::move(piece));
    leaf.add(tensor.end - tensor.begin, shard.metadata.encoding_of(tensor));
  }
  for (auto& [path, leaf] : found) {
    auto& storage = checkpoint.index.storage.emplace_back();
    if (const auto fault = make_layout(std::move(leaf.where), leaf.shape, storage.layout); !fault.empty())
      fail(errc::corrupt, {shard.where, ": \"", path, "\" ", fault});
    if (leaf.encoded) storage.encoded = std::make_shared<const leaf_encoding>(std::move(*leaf.encoded));
    checkpoint.contents.leaves.push_back({path, leaf.type, std::move(leaf.shape)});
  }
}

/// Opens checkpoint `name` and checks its index, by the text that `texts` has of it; else adds that. `files` keeps its
/// shards open. Errors: not_found, corrupt, unsupported, io.
[[nodiscard]] inline stored_checkpoint open_checkpoint(const any_store& store, std::string_view name,
                                                       std::shared_ptr<file_pool> files = {},
                                                       index_texts* texts = nullptr) {
  if (!files) files = std::make_shared<file_pool>();
  stored_checkpoint opened;
  const bool is_known = texts != nullptr && texts->contains(name);
  with_newest(store, name, [&](const auto& newest) {
    opened.index = is_known ? parse_index(texts->find(name)->second, sentence({newest->location(), "/", index_file}))
                            : read_index(*newest);
    opened.from = newest;
  });
  opened.name = name;
  if (texts != nullptr && !is_known) {
    const auto index = opened.from->open(index_file);
    texts->emplace(name, stores::read_text(*index, 0, index->size()));
  }
  opened.contents = {sentence({store.location(), "/", name}),
                     std::move(opened.index.leaves),
                     std::move(opened.index.structure),
                     true,
                     {}};
  opened.shards = shard_list(opened.index.shards.size(), [from = opened.from, files, all = opened.index.shards,
                                                          step = opened.index.info.step](std::size_t number) {
    const auto& listed = all[number];
    auto file = std::make_unique<pooled_file>(files, [from, listed] { return open_file(*from, listed); });
    auto shard = open_shard(std::move(file), sentence({from->location(), "/", listed.file}), listed.header_checksum);
    if (!shard.metadata.is_of_cairn) fail(errc::corrupt, {shard.where, ": has no cairn metadata"});
    if (shard.metadata.step != step) fail(errc::corrupt, {shard.where, ": is of another step than its index"});
    return shard;
  });
  return opened;
}

/// Opens a single safetensors file, Cairn's or any other's, as a checkpoint of one shard.
[[nodiscard]] inline stored_checkpoint open_checkpoint(std::unique_ptr<stores::source> file, std::string origin) {
  stored_checkpoint opened;
  opened.contents.origin = origin;
  const auto only = std::make_shared<std::unique_ptr<stores::source>>(std::move(file));
  opened.shards =
      shard_list(1, [only, origin = std::move(origin)](std::size_t) { return open_shard(std::move(*only), origin); });
  const auto& metadata = opened.shards[0].metadata;
  opened.index.info.step = metadata.step;
  opened.index.total_size = opened.shards[0].header.data_bytes;
  collect_leaves(opened);
  return opened;
}

}  // namespace cairn::inline v0_1::detail

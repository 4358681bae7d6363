// SPDX-License-Identifier: MIT
// Writes leaves as one checkpoint: lays out its shards, hashes and writes them by blocks on a few threads, and commits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/system/sort.hpp"

namespace cairn::inline v0_1::detail {

/// What the writer of an index needs to know of shards that another rank has written. Ranks send it as JSON text.
struct shard_record {
  std::vector<index_shard> shards{};  ///< in order of their numbers
  std::uint64_t data_bytes = 0;       ///< of their data sections
  /// By number of the leaf: of its pieces in these shards, if one is encoded.
  std::map<std::size_t, leaf_encoding> encoded{};
  /// Leaves that this rank alone has: per-rank state, and boxes of larger arrays. Their numbers follow those of the
  /// leaves that all ranks have. Their memory is not in the text.
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
  std::string index{};      ///< its text
};

/// A shard that is being written.
struct new_shard {
  std::size_t number = 0;
  shard_layout layout;
  std::vector<std::uint64_t> blocks;  // their checksums
  stores::sink* out = nullptr;

  [[nodiscard]] std::uint64_t data_start() const { return layout.header_text.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return data_start() + layout.header.data_bytes; }
};

/// The bytes [begin, end) of a shard's data section where they lie, if they adjoin in payloads or copies, which nobody
/// changes; else nothing.
[[nodiscard]] inline std::span<const std::byte> unchanging_bytes(const shard_layout& layout, std::uint64_t begin,
                                                                 std::uint64_t end) {
  const auto& tensors = layout.header.tensors;
  auto at = std::partition_point(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end <= begin; });
  const std::byte* first = nullptr;
  for (auto next = begin; next < end; next = (at++)->end) {
    const auto bytes = layout.pieces[static_cast<std::size_t>(at - tensors.begin())].bytes;
    if (at->begin == at->end) continue;
    if (bytes.empty()) return {};
    const auto* const place = bytes.data() + (next - at->begin);
    if (first == nullptr) first = place;
    if (place != first + (next - begin)) return {};
  }
  return {first, end - begin};
}

/// Copies the bytes [begin, begin + out.size()) of a shard's data section: from payloads, from staged copies, or from
/// the memory of leaves.
inline void copy_bytes(std::span<const leaf> leaves, const shard_layout& layout, std::uint64_t begin,
                       std::span<std::byte> out) {
  const auto end = begin + out.size();
  const auto& tensors = layout.header.tensors;
  auto at = std::partition_point(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end <= begin; });
  for (; at != tensors.end() && at->begin < end; ++at) {
    const auto from = std::max(begin, at->begin), to = std::min(end, at->end);
    if (from == to) continue;
    const auto& p = layout.pieces[static_cast<std::size_t>(at - tensors.begin())];
    const auto place = out.subspan(from - begin, to - from);
    const auto skipped = from - at->begin;
    const leaf& whole = leaves[p.leaf];
    const auto width = size_of(whole.type);
    if (!p.bytes.empty())
      std::memcpy(place.data(), p.bytes.data() + skipped, place.size());
    else if (whole.contiguous() || whole.shape.empty())
      std::memcpy(place.data(), whole.memory + p.first * width + skipped, place.size());
    else
      gather(whole, p.first + skipped / width, place);
  }
}

/// The bytes [begin, end) of a shard's data section, in whole blocks: what a thread writes at a time.
struct chunk {
  std::size_t shard;
  std::uint64_t begin, end;
};

/// Few enough bytes to stay in a thread's cache, and for direct I/O enough to be worth a device call. Whole blocks.
inline constexpr std::uint64_t cached_chunk = std::uint64_t{256} << 10U, direct_chunk = std::uint64_t{2} << 20U;

static_assert(cached_chunk % block_bytes == 0 && direct_chunk % block_bytes == 0);

/// Threads that write less into the page cache cost more, for the lock of the file, than they gain.
inline constexpr std::uint64_t cached_per_thread = std::uint64_t{16} << 20U;

/// Hashes a chunk and writes it from where it lies. What may still change, and what the sink needs aligned, is copied
/// before: what is written has its checksum.
inline void write_chunk(std::span<const leaf> leaves, new_shard& shard, const chunk& which, page_buffer& copy) {
  auto in_place = unchanging_bytes(shard.layout, which.begin, which.end);
  if (reinterpret_cast<std::uintptr_t>(in_place.data()) % std::max<std::size_t>(shard.out->alignment(), 1) != 0)
    in_place = {};
  const auto copied = in_place.empty() ? copy.first(which.end - which.begin) : std::span<std::byte>();
  const auto whole = in_place.empty() ? stores::buffer(copied) : in_place;
  for (std::uint64_t at = 0; at < whole.size(); at += block_bytes) {
    const auto bytes = std::min<std::uint64_t>(block_bytes, whole.size() - at);
    if (in_place.empty()) copy_bytes(leaves, shard.layout, which.begin + at, copied.subspan(at, bytes));
    shard.blocks[(which.begin + at) / block_bytes] = checksum(whole.subspan(at, bytes));
  }
  const stores::buffer all[] = {whole};
  shard.out->write(shard.data_start() + which.begin, all);
}

/// Writes `text` at the beginning of a file.
inline void write_text(stores::sink& out, std::string_view text) {
  page_buffer aligned;
  const auto bytes = aligned.first(text.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), bytes.data());
  const stores::buffer all[] = {bytes};
  out.write(0, all);
}

/// Writes the newest publication of a checkpoint, a few shards at a time. Destroyed before `commit`, it leaves nothing.
/// Takes a few MiB per thread beyond the state. Errors: what the store throws; errc::invalid also for a path that is
/// not UTF-8, and for a piece that is not part of its leaf. For one thread at a time.
class checkpoint_writer {
 public:
  /// For checkpoint `name` of `shards` shards in all, of which this writer adds those from `first` on. `spec` must
  /// outlive the writer. No I/O yet. errc::invalid: two leaves of one path.
  checkpoint_writer(any_store& store, std::string_view name, const checkpoint_spec& spec, std::size_t shards,
                    std::size_t first = 0)
      : store_(store),
        name_(name),
        spec_(spec),
        shards_(shards),
        laid_out_(first),
        by_path_(leaves_by_path()),
        pieces_(spec.leaves.size()) {
    index_.info = spec.info;
    index_.id = spec.id;
    index_.structure = spec.structure;
  }

  /// Begins the checkpoint before its first shard is added. Returns what other writers need to join it.
  std::string begin() {
    transaction_ = store_.begin(name_);
    return transaction_->attempt();
  }

  /// Joins the checkpoint that another writer has begun. Then only `add`, `record` and `place` may be called.
  void join(std::string_view attempt) { transaction_ = store_.join(name_, attempt); }

  /// Writes the next shards; the memory of their pieces is no longer used afterwards. `later_bytes` is an estimate of
  /// what later calls will add, for progress.
  void add(std::span<const std::vector<write_piece>> shards, std::uint64_t later_bytes = 0) {
    // 1. Lay out the shards: the size of every file is known before its first byte is written.
    std::vector<new_shard> made(shards.size());
    for (std::size_t i = 0; i < made.size(); ++i) lay_out(made[i], shards[i]);

    // 2. Write the files, a few at a time: each is open until it is written.
    constexpr std::size_t most_open = 64;
    const std::uint64_t total = index_.total_size + later_bytes;
    for (std::size_t first = 0; first < made.size(); first += most_open)
      write_files(std::span(made).subspan(first, std::min(most_open, made.size() - first)), total);
  }

  /// What the writer that has begun the checkpoint needs to know of the shards of this one. The leaves from number
  /// `common` on, and `own_structure`, are those that this writer alone has.
  [[nodiscard]] shard_record record(std::size_t common, structure own_structure) const {
    shard_record made{
        .shards = index_.shards, .data_bytes = index_.total_size, .own_structure = std::move(own_structure)};
    for (std::size_t number = 0; number < pieces_.size(); ++number)
      if (pieces_[number].encoded) made.encoded.emplace(number, *pieces_[number].encoded);
    const auto own = spec_.leaves.subspan(common);
    made.own.assign(own.begin(), own.end());
    return made;
  }

  /// Lists the shard that another writer has written after those that have been added. `pieces` are its pieces of the
  /// first `common` leaves; it has all of its own ones. Returns the stored bytes of these.
  std::uint64_t add_written(const shard_record& written, std::size_t common, std::span<const piece> pieces) {
    lists_others_ = true;
    std::map<std::size_t, std::uint64_t> raw_bytes;  // of the pieces of a leaf, if none were encoded
    const auto place = [&](std::size_t number, const piece& each) {
      const auto& whole = leaf_at(number);
      pieces_[number].where.push_back(place_of(whole, each, laid_out_));
      raw_bytes[number] += each.count * size_of(whole.type);
    };
    for (const auto& each : pieces) place(each.leaf, each);
    const auto first_other = spec_.leaves.size() + others_.size();
    for (const auto& each : written.own) {
      others_.push_back(each);
      pieces_.emplace_back();
      place(pieces_.size() - 1, {.count = each.count()});
    }
    ++laid_out_;
    std::uint64_t own_bytes = 0;
    for (const auto& [number, bytes] : raw_bytes) {
      const bool is_other = number >= first_other;
      const auto at = written.encoded.find(is_other ? number - first_other + common : number);
      const auto* const how = at == written.encoded.end() ? nullptr : &at->second;
      const auto added = how == nullptr ? bytes : how->stored;
      pieces_[number].add(added, how);
      if (is_other) own_bytes += added;
    }
    index_.structure.insert(written.own_structure.begin(), written.own_structure.end());
    index_.total_size += written.data_bytes;
    for (const auto& each : written.shards) {
      index_.shards.push_back(each);
      bytes_ += each.bytes;
    }
    return own_bytes;
  }

  /// Bytes in the shards that have been added or listed: of each of the first `common` leaves of the spec, and of all
  /// others of it together.
  [[nodiscard]] std::vector<std::uint64_t> stored_bytes(std::size_t common) const {
    std::vector<std::uint64_t> bytes(common + 1);
    for (std::size_t number = 0; number < spec_.leaves.size(); ++number)
      bytes[std::min(number, common)] += pieces_[number].bytes;
    return bytes;
  }

  /// Writes the index, which contains the checksums of the headers, and publishes. `parent`: of a delta. With shards of
  /// other writers, errc::corrupt if what these have said of them gives an index that cannot be read.
  written_checkpoint commit(std::optional<checkpoint_ref> parent = {}) {
    index_.parent = std::move(parent);
    list_leaves();
    const auto text = write_index(index_);
    if (lists_others_) static_cast<void>(parse_index(text, sentence({store_.location(), "/", name_, "/", index_file})));
    place(text);
    return {bytes_ + text.size(), checkpoint_id(index_), text};
  }
  /// Publishes with this index. Where each writer publishes what it has written, those that have joined do so, too.
  void place(std::string_view index) {
    write_text(transaction_->create(index_file, index.size()), index);
    transaction_->publish();
  }

  /// Bytes of the shards that have been added.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] const leaf& leaf_at(std::size_t number) const {
    return number < spec_.leaves.size() ? spec_.leaves[number] : others_[number - spec_.leaves.size()];
  }
  /// The leaves in the order of the index. Two of one path must be boxes of one array.
  [[nodiscard]] std::vector<std::size_t> leaves_by_path() const {
    auto order = sorted_order(spec_.leaves.size() + others_.size(),
                              [&](std::size_t a, std::size_t b) { return leaf_at(a).path < leaf_at(b).path; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const auto &a = leaf_at(order[i - 1]), &b = leaf_at(order[i]);
      if (a.path == b.path && !(a.place && b.place)) fail(errc::invalid, {"two leaves have the path \"", a.path, "\""});
    }
    return order;
  }
  void lay_out(new_shard& shard, const std::vector<write_piece>& pieces) {
    shard.number = laid_out_++;
    shard.layout = lay_out_shard(spec_.leaves, pieces, spec_.info.step);
    shard.blocks.resize(block_count(shard.layout.header.data_bytes));
    index_.total_size += shard.layout.header.data_bytes;
    for (std::size_t i = 0; i < shard.layout.pieces.size(); ++i) {
      const auto& piece = shard.layout.pieces[i];
      const auto& tensor = shard.layout.header.tensors[i];
      auto& stored = pieces_[piece.leaf];
      stored.where.push_back(place_of(spec_.leaves[piece.leaf], piece, shard.number));
      stored.add(tensor.end - tensor.begin, piece.how);
    }
  }
  /// Lists the leaves in the index, by path, with where their pieces are.
  void list_leaves() {
    if (!others_.empty()) by_path_ = leaves_by_path();
    const auto& order = by_path_;
    for (std::size_t i = 0; i < order.size();) {
      const auto& first = leaf_at(order[i]);
      auto all = std::move(pieces_[order[i]]);
      for (++i; i < order.size() && leaf_at(order[i]).path == first.path; ++i) {  // boxes of one array
        const auto& more = pieces_[order[i]];
        if (leaf_at(order[i]).type != first.type || whole_shape(leaf_at(order[i])) != whole_shape(first))
          fail(errc::invalid, {"the boxes of \"", first.path, "\" disagree about its dtype or shape"});
        all.where.insert(all.where.end(), more.where.begin(), more.where.end());
        all.add(more.bytes, more.encoded ? &*more.encoded : nullptr);
      }
      auto& storage = index_.storage.emplace_back();
      if (const auto fault = make_layout(std::move(all.where), whole_shape(first), storage.layout); !fault.empty())
        fail(errc::invalid, {"\"", first.path, "\" ", fault});
      if (all.encoded) storage.encoded = std::make_shared<const leaf_encoding>(std::move(*all.encoded));
      if (const auto at = spec_.restored.find(first.path); at != spec_.restored.end())
        storage.restored = std::make_shared<const restored_loss>(at->second);
      index_.leaves.push_back({first.path, first.type, whole_shape(first)});
    }
  }
  /// `total`: the bytes of all data sections, for progress.
  void write_files(std::span<new_shard> shards, std::uint64_t total) {
    // 1. Hash and write the data, chunk by chunk.
    for (auto& each : shards) each.out = &transaction_->create(shard_file(each.number, shards_), each.bytes());
    write_data(shards, total);

    // 2. Write the headers, which contain the checksums of the blocks.
    for (auto& shard : shards) {
      set_block_checksums(shard.layout, shard.blocks);
      const auto& header = shard.layout.header_text;
      write_text(*shard.out, header);
      index_.shards.push_back(
          {shard_file(shard.number, shards_), shard.bytes(), checksum(std::as_bytes(std::span(header)))});
      bytes_ += shard.bytes();
    }
    transaction_->prepare();
  }
  void write_data(std::span<new_shard> shards, std::uint64_t total) {
    // All sinks of a store are of one kind.
    bool is_aligned = false;
    unsigned threads = spec_.threads;
    for (const auto& shard : shards) {
      const unsigned writers = shard.out->writers() != 0 ? shard.out->writers() : default_threads();
      if (spec_.threads == 0) threads = std::max(threads, writers);
      is_aligned = is_aligned || shard.out->alignment() > 1;
    }
    const auto chunk_bytes = is_aligned ? direct_chunk : cached_chunk;
    std::vector<chunk> chunks;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const std::uint64_t size = shards[i].layout.header.data_bytes;
      bytes += size;
      for (std::uint64_t at = 0; at < size; at += chunk_bytes)
        chunks.push_back({i, at, std::min(at + chunk_bytes, size)});
    }
    if (spec_.threads == 0 && !is_aligned)
      threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, 1 + bytes / cached_per_thread));
    // By turns from all shards: threads that write into one file wait for each other.
    const auto by_turns = [](const chunk& a, const chunk& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.shard < b.shard;
    };
    if (threads > 1) sort_items(chunks, by_turns);
    std::vector<page_buffer> copies(std::min<std::size_t>(threads, chunks.size()));
    parallel_for(chunks.size(), threads, [&](std::size_t i, unsigned worker) {
      const auto& each = chunks[i];
      write_chunk(spec_.leaves, shards[each.shard], each, copies[worker]);
      const auto done = done_ += each.end - each.begin;
      if (spec_.on_progress) spec_.on_progress(done, total);
    });
  }

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

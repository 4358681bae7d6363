// Leaves in, one committed checkpoint out: lays out the shards, hashes and writes them block by block on a
// few threads.
#pragma once

#include <algorithm>
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

#include "cairn/core/checksum.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/core/structure.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/columns.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/chain_metadata.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/order.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/store/shard_bytes.hpp"

namespace cairn {

/// What a checkpoint is to contain.
struct checkpoint_spec {
  std::span<const leaf> leaves;
  division shards;               ///< pieces per shard; empty: every leaf whole, in one shard
  std::vector<structure> facts;  ///< per shard, united on reading; shards beyond its end have none
  std::uint64_t step = 0;
  std::map<std::string, double> metrics;
  run_notes notes{};                  ///< see index.hpp
  chain_metadata ties{};              ///< the parent of a delta; the code tables, which go into the first shard
  std::optional<std::uint64_t> id{};  ///< see checkpoint_id
  unsigned threads = 0;               ///< 0: the store's choice
  /// (bytes done, of all); from any thread. What it throws abandons the checkpoint.
  std::function<void(std::uint64_t, std::uint64_t)> on_progress{};
};

namespace detail {

/// A shard on its way into a sink.
struct shard_in_flight {
  shard_layout layout;
  std::vector<std::uint64_t> blocks;  // checksums
  stores::sink* out = nullptr;

  [[nodiscard]] std::uint64_t bytes() const { return layout.header_text.size() + layout.header.data_bytes; }
};

/// What a thread works on at a time: few enough bytes to stay in its cache, enough to make a device call
/// worth while.
inline constexpr std::uint64_t cached_chunk = block_bytes, direct_chunk = 2 * block_bytes;

struct write_scratch {
  page_buffer bounce;
  std::vector<stores::part> parts;
};

/// The data bytes [begin, end) of a shard, in whole blocks.
struct chunk {
  std::size_t shard;
  std::uint64_t begin, end;
  const std::byte *from = nullptr, *to = nullptr;  // where in memory it is gathered from, if it is
};

/// Writes a chunk and notes the checksums of its blocks.
inline void write_chunk(std::span<const leaf> leaves, shard_in_flight& shard, const chunk& which,
                        write_scratch& scratch) {
  auto [number, begin, end, from, to] = which;
  const shard_bytes data(leaves, shard.layout);
  const std::uint64_t offset = shard.layout.header_text.size() + begin;
  const auto own = shard.out->memory(offset, end - begin);
  if (own.empty() && shard.out->alignment() == 1) {
    for (; begin < end; begin += block_bytes) {
      const auto block_end = std::min(end, begin + block_bytes);
      scratch.parts.clear();
      data.parts(begin, block_end, scratch.bounce, scratch.parts);
      running_checksum sum;
      for (const auto& part : scratch.parts) sum.add(part);
      shard.blocks[begin / block_bytes] = sum.value();
      shard.out->write(shard.layout.header_text.size() + begin, scratch.parts);
    }
    return;
  }
  const auto whole = own.empty() ? scratch.bounce.first(end - begin) : own;
  for (std::uint64_t at = 0; at < whole.size(); at += block_bytes) {
    const auto block = whole.subspan(at, std::min<std::uint64_t>(block_bytes, whole.size() - at));
    data.copy(begin + at, block);
    shard.blocks[(begin + at) / block_bytes] = checksum(block);
  }
  if (own.empty()) {
    const stores::part all[] = {whole};
    shard.out->write(offset, all);
  }
}

/// Fills blocks in a store's own memory, side by side where they are columns of the same records.
inline void fill_chunks(std::span<const leaf> leaves, std::span<shard_in_flight> shards, std::span<const chunk> group) {
  std::vector<block_in_the_making> blocks(group.size());
  std::vector<column_run> runs;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto& [number, begin, end, from, to] = group[i];
    auto& shard = shards[number];
    blocks[i].bytes = shard.out->memory(shard.layout.header_text.size() + begin, end - begin);
    shard_bytes(leaves, shard.layout)
        .for_each(begin, end, [&](const leaf& source, std::uint64_t first_byte, std::uint64_t bytes, std::uint64_t at) {
          const auto first = first_byte / size_of(source.type);
          if (!source.contiguous() && !source.shape.empty()) return runs.push_back({&source, first, i, at, bytes});
          gather(source, first, blocks[i].bytes.subspan(at, bytes));
          blocks[i].filled(at, bytes);
        });
  }
  gather_side_by_side(runs, blocks);
  for (std::size_t i = 0; i < group.size(); ++i)
    shards[group[i].shard].blocks[group[i].begin / block_bytes] = blocks[i].finish();
}

/// Brings together the chunks that are gathered from the same memory: group i is [result[i], result[i + 1]).
[[nodiscard]] inline std::vector<std::size_t> group_columns(std::span<const leaf> leaves,
                                                            std::span<const shard_in_flight> shards,
                                                            std::vector<chunk>& chunks) {
  for (auto& c : chunks)
    shard_bytes(leaves, shards[c.shard].layout)
        .for_each(c.begin, c.end,
                  [&](const leaf& source, std::uint64_t first_byte, std::uint64_t bytes, std::uint64_t) {
                    if (source.contiguous() || source.shape.empty() || c.from != nullptr) return;
                    const std::uint64_t first = first_byte / size_of(source.type);
                    c.from = row_address(source, first);
                    c.to = row_address(source, first + bytes / size_of(source.type) - 1);
                  });
  sort_items(chunks, [](const chunk& a, const chunk& b) {
    return a.from != b.from ? a.from < b.from : a.shard != b.shard ? a.shard < b.shard : a.begin < b.begin;
  });
  constexpr std::size_t most = 8;
  std::vector<std::size_t> starts;
  const std::byte* to = nullptr;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const bool joins = chunks[i].from != nullptr && !starts.empty() && chunks[i].from < to && i - starts.back() < most;
    if (!joins) starts.push_back(i);
    to = joins ? std::max(to, chunks[i].to) : chunks[i].to;
  }
  starts.push_back(chunks.size());
  return starts;
}

/// Writes `text` at the beginning of a file.
inline void write_text(stores::sink& out, std::string_view text) {
  page_buffer aligned;
  const auto bytes = aligned.first(text.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), bytes.data());
  const stores::part all[] = {bytes};
  out.write(0, all);
}

}  // namespace detail

/// What was written.
struct written_checkpoint {
  std::uint64_t bytes = 0;  ///< of all files
  std::uint64_t id = 0;     ///< see checkpoint_id
};

/// A checkpoint on its way into a store, a few shards at a time. Destroyed before `commit`, it leaves nothing behind.
class checkpoint_writer {
 public:
  /// Checkpoint `name` of `shards` shards in all. Of `spec`, which must outlive the writer, `shards` is not looked at. Does nothing
  /// yet.
  checkpoint_writer(any_store& store, std::string_view name, const checkpoint_spec& spec, std::size_t shards)
      : store_(store), name_(name), spec_(spec), shards_(shards) {
    index_.step = spec.step;
    index_.metrics = spec.metrics;
    index_.notes = spec.notes;
    index_.id = spec.id;
  }

  /// Writes the next shards; their memory is free again afterwards. The parent in `ties` is that of the checkpoint, the same for
  /// all. `later_bytes` are about to follow, which is for progress.
  void add(std::span<const std::vector<piece>> pieces, const chain_metadata& ties, std::uint64_t later_bytes = 0) {
    // 1. Lay out the shards: the size of every file is known before its first byte is written.
    std::vector<detail::shard_in_flight> some(pieces.size());
    index_.parent = ties.parent;
    for (std::size_t i = 0; i < some.size(); ++i)
      lay_out(some[i], pieces[i], i == 0 ? ties : chain_metadata{ties.parent, {}});

    // 2. Hash and write the data, chunk by chunk.
    if (!transaction_) transaction_ = store_.begin(name_);
    for (std::size_t i = 0; i < some.size(); ++i)
      some[i].out = &transaction_->create(shard_file(added_ + i, shards_), some[i].bytes());
    write_data(some, index_.total_size + later_bytes);

    // 3. The headers, which hold the checksums.
    for (auto& [layout, blocks, out] : some) {
      set_block_checksums(layout, blocks);
      detail::write_text(*out, layout.header_text);
      const auto header = std::as_bytes(std::span(layout.header_text.data(), layout.header_text.size()));
      const auto bytes = layout.header_text.size() + layout.header.data_bytes;
      index_.shards.push_back({shard_file(added_++, shards_), bytes, checksum(header)});
      bytes_ += bytes;
    }
  }

  /// The index, which vouches for the headers; then publishes.
  written_checkpoint commit() {
    const auto text = write_index(index_);
    detail::write_text(transaction_->create(index_file, text.size()), text);
    transaction_->commit();
    return {bytes_ + text.size(), checkpoint_id(index_)};
  }

  /// Bytes of the shards that have been added.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void lay_out(detail::shard_in_flight& shard, const std::vector<piece>& pieces, const chain_metadata& ties) {
    const auto number = laid_out_++;
    const auto facts = number < spec_.facts.size() ? spec_.facts[number] : structure{};
    shard.layout = lay_out_shard(spec_.leaves, pieces, facts, spec_.step, ties);
    shard.blocks.resize(block_count(shard.layout.header.data_bytes));
    index_.total_size += shard.layout.header.data_bytes;
    for (const auto& tensor : shard.layout.header.tensors)
      if (!index_.weight_map.emplace(tensor.key, shard_file(number, shards_)).second)
        fail(errc::invalid, {"two leaves have the path \"", tensor.key, "\""});
  }

  void write_data(std::span<detail::shard_in_flight> shards, std::uint64_t total) {
    unsigned writers = 1;
    std::uint64_t chunk_bytes = detail::cached_chunk;
    for (const auto& shard : shards) {
      writers = std::max(writers, shard.out->writers() != 0 ? shard.out->writers() : default_threads());
      if (shard.out->alignment() > 1) chunk_bytes = detail::direct_chunk;
    }
    std::vector<detail::chunk> chunks;
    bool in_memory = chunk_bytes == block_bytes;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const std::uint64_t size = shards[i].layout.header.data_bytes;
      for (std::uint64_t at = 0; at < size; at += chunk_bytes)
        chunks.push_back({i, at, std::min(at + chunk_bytes, size)});
      in_memory = in_memory && !shards[i].out->memory(0, shards[i].bytes()).empty();
    }
    const auto groups = in_memory ? detail::group_columns(spec_.leaves, shards, chunks) : std::vector<std::size_t>();
    if (spec_.threads != 0) writers = spec_.threads;
    std::vector<detail::write_scratch> scratch(writers);
    const std::function<void(std::size_t, unsigned)> write = [&](std::size_t task, unsigned worker) {
      const auto all = std::span<const detail::chunk>(chunks);
      const auto mine = in_memory ? all.subspan(groups[task], groups[task + 1] - groups[task]) : all.subspan(task, 1);
      if (in_memory)
        detail::fill_chunks(spec_.leaves, shards, mine);
      else
        detail::write_chunk(spec_.leaves, shards[mine[0].shard], mine[0], scratch[worker]);
      std::uint64_t so_far = done_;
      for (const auto& chunk : mine) so_far = done_ += chunk.end - chunk.begin;
      if (spec_.on_progress) spec_.on_progress(so_far, total);
    };
    parallel_for(in_memory ? groups.size() - 1 : chunks.size(), writers, write);
  }

  any_store& store_;
  std::string name_;
  const checkpoint_spec& spec_;
  std::size_t shards_, laid_out_ = 0, added_ = 0;
  checkpoint_index index_;
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::unique_ptr<stores::transaction> transaction_;
};

/// Writes and commits the checkpoint `name`, in place of an older one of that name. Memory beyond the state: a few MiB
/// per thread. Errors: what the store throws, and errc::invalid for two leaves of one path, a path that is not UTF-8,
/// pieces that are not part of their leaf. Nothing is left behind by a failure.
inline written_checkpoint write_checkpoint(any_store& store, std::string_view name, const checkpoint_spec& spec) {
  const division whole = spec.shards.empty() ? divide_evenly(spec.leaves, 1) : division{};
  const auto& pieces = spec.shards.empty() ? whole : spec.shards;
  checkpoint_writer writer(store, name, spec, pieces.size());
  writer.add(pieces, spec.ties);
  return writer.commit();
}

}  // namespace cairn

// SPDX-License-Identifier: MIT
// Copies a published checkpoint to another store, byte by byte, and compares all checksums while it reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/reader.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

/// Called after each piece of a copy, from any thread, with its bytes. What it throws ends the copy.
using copied_bytes = std::function<void(std::uint64_t bytes)>;

/// Copies the file of a shard, `where` for messages, in pieces of whole blocks: by as many threads as keep the place
/// busy, each with memory for a piece.
inline void copy_shard(std::unique_ptr<stores::source> file, std::string where, const index_shard& listed,
                       stores::transaction& to, const copied_bytes& copied) {
  constexpr std::uint64_t least_piece = std::uint64_t{4} << 20U;
  const auto shard = open_shard(std::move(file), std::move(where), listed.header_checksum);
  if (!shard.metadata.is_of_cairn) fail(errc::corrupt, {shard.where, ": has no checksums"});
  const auto data = shard.header.data_start, bytes = shard.header.data_bytes;
  const auto piece = std::max(least_piece, shard.file->preferred_read() / block_bytes * block_bytes);
  auto& sink = to.create(listed.file, listed.bytes);
  const auto threads = std::max(sink.writers(), 1U);
  std::vector<page_buffer> buffers(threads);
  const auto write = [&](std::uint64_t at, std::span<const std::byte> text) {
    sink.write(at, std::span(&text, 1));
    copied(text.size());
  };
  parallel_for(1 + (bytes + piece - 1) / piece, threads, [&](std::size_t number, unsigned worker) {
    auto& buffer = buffers[worker];
    if (number == 0) {
      const auto header = buffer.first(data);
      shard.file->read(0, header);
      if (checksum(header) != listed.header_checksum)
        fail(errc::corrupt, {shard.where, ": the header does not match its checksum"});
      return write(0, header);
    }
    const auto begin = (number - 1) * piece;
    const auto now = buffer.first(std::min(piece, bytes - begin));
    shard.file->read(data + begin, now);
    for (std::size_t at = 0; at < now.size(); at += block_bytes)
      compare_block(shard, (begin + at) / block_bytes,
                    checksum(now.subspan(at, std::min<std::size_t>(block_bytes, now.size() - at))));
    write(data + begin, now);
  });
}

inline void copy_shard(const stores::publication& from, const index_shard& listed, stores::transaction& to,
                       const copied_bytes& copied) {
  copy_shard(open_file(from, listed), sentence({from.location(), "/", listed.file}), listed, to, copied);
}

/// Has other ranks copy their shards into the attempt that has begun, while each has but one, of the checkpoint whose
/// index has that checksum. Empty: this process has all.
using shared_work = std::function<void(const std::string& attempt, std::uint64_t index)>;

/// Publishes the checkpoint `name` in `to`, with the files of its newest publication in `from`. errc::corrupt: that is
/// damaged, and nothing is published. errc::not_found: it has been removed.
inline void copy_checkpoint(const any_store& from, std::string_view name, any_store& to, const copied_bytes& copied,
                            const shared_work& others = {}) {
  with_newest(from, name, [&](const auto& there) {
    const auto text = read_index_text(*there);
    const auto index = parse_index(text, sentence({there->location(), "/", index_file}), index_part::metadata);
    const auto made = to.begin(name);
    const auto own = std::span(index.shards).first(others ? 1 : index.shards.size());
    for (const auto& shard : own) copy_shard(*there, shard, *made, copied);
    if (others) others(made->attempt(), checksum(std::as_bytes(std::span(text))));
    write_text(made->create(index_file, text.size()), text);
    copied(text.size());
    made->publish();
  });
}

/// Whether a store has a checkpoint with this index and its files, or a delta that restores the same as this merged
/// delta.
[[nodiscard]] inline bool has_checkpoint(const any_store& store, const std::string& name, const std::string& text,
                                         const checkpoint_index& index) {
  try {
    const auto there = store.open(name);
    const auto copy = read_index_text(*there);
    const auto files = there->files();
    const auto is_there = [&](const index_shard& each) { return std::ranges::binary_search(files, each.file); };
    if (copy == text) return std::ranges::all_of(index.shards, is_there);
    const auto found = parse_index(copy, there->location(), index_part::metadata);
    return checkpoint_id(found) == checkpoint_id(index) && found.shards != index.shards &&
           found.parent.has_value() == index.parent.has_value();
  } catch (const error& cause) {
    if (cause.code() == errc::io || cause.code() == errc::no_memory) throw;
    return false;
  }
}

/// The checkpoint `name` of `from` and those that it is built on, as far as `to`, which lists `names`, does not have
/// them; each is built on the one after it. After the first one that `to` has, its ancestors are compared by name only.
/// `check` is called for each, and ends the search by what it throws.
[[nodiscard]] inline std::vector<std::string> missing_at(const any_store& to, std::span<const std::string> names,
                                                         const any_store& from, const std::string& name,
                                                         const std::function<void()>& check) {
  std::vector<std::string> missing;
  bool has_newer = false;
  for (std::optional<std::string> next = name; next;)
    next = with_newest(from, *next, [&](const auto& there) -> std::optional<std::string> {
      check();
      const auto text = read_index_text(*there);
      const auto index = parse_index(text, there->location(), index_part::metadata);
      const bool is_named = std::ranges::find(names, *next) != names.end();
      if (!is_named || !(has_newer || has_checkpoint(to, *next, text, index)))
        missing.push_back(*next);
      else
        has_newer = true;
      return index.parent ? std::optional(index.parent->name) : std::nullopt;
    });
  return missing;
}

}  // namespace cairn::inline v0_1::detail

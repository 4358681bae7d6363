// SPDX-License-Identifier: MIT
// Reads a checkpoint and its ancestors, and decodes every leaf.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/code_table_text.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/store/reader.hpp"
#include "cairn/system/mutex.hpp"

namespace cairn::inline v0_1::detail {

[[nodiscard]] inline bool needs_parent(const stored_checkpoint& link) {
  for (std::size_t leaf = 0; leaf < link.contents.leaves.size(); ++leaf)
    if (link.is_relative(leaf)) return true;
  return false;
}

struct placed_request;

/// A published checkpoint, open for loading. A delta is opened with its ancestors up to the first that needs no parent.
/// Shards are opened when they are needed, and few are open at a time. Thread-safe after construction.
class chain_reader {
 public:
  /// Opens nothing: `open` does.
  explicit chain_reader(codec_rules rules = {}) : rules_(std::move(rules)) {}

  /// Opens checkpoint `name`.
  chain_reader(const any_store& store, std::string_view name, codec_rules rules = {}) : chain_reader(std::move(rules)) {
    open(store, name);
  }

  /// Opens a single safetensors file, which Cairn need not have written. errc::unsupported for a file of a delta.
  chain_reader(std::unique_ptr<stores::source> file, std::string origin, codec_rules rules = {})
      : rules_(std::move(rules)) {
    begin_with(open_checkpoint(std::move(file), std::move(origin)));
    if (needs_parent(newest()))
      fail(errc::unsupported,
           {contents().origin,
            ": is built on another checkpoint and cannot be loaded alone; load the directory of checkpoints"});
  }

  chain_reader(const chain_reader&) = delete;  // contents().fetch refers to it
  chain_reader& operator=(const chain_reader&) = delete;
  ~chain_reader() = default;

  /// Opens checkpoint `name`. Errors: not_found; corrupt, also where an ancestor is missing or another checkpoint has
  /// its name; unsupported; io.
  void open(const any_store& store, std::string_view name, index_texts* texts = nullptr) {
    begin_with(open_checkpoint(store, name, files_, texts));
    open_ancestors(store, texts);
  }

  [[nodiscard]] const catalog& contents() const noexcept { return newest().contents; }
  [[nodiscard]] const checkpoint_info& info() const noexcept { return newest().index.info; }
  [[nodiscard]] std::uint64_t step() const noexcept { return info().step; }

  /// The checkpoint, its parent, and so on to the first one that needs no parent.
  [[nodiscard]] std::span<const std::shared_ptr<const stored_checkpoint>> links() const noexcept { return links_; }
  [[nodiscard]] const stored_checkpoint& newest() const noexcept { return *links_.front(); }
  /// The code tables of all shards whose headers have been read, the newest last.
  [[nodiscard]] code_tables tables() const {
    code_tables all;
    for (std::size_t link = links_.size(); link-- > 0;)
      for (std::size_t shard = 0; shard < links_[link]->shards.size(); ++shard) {
        if (links_[link]->shards.if_parsed(shard) == nullptr) continue;
        for (const auto& table : tables_of(link, shard)->all())
          if (all.find(table.id) == nullptr) all.add(table);
      }
    return all;
  }

  /// The code tables that payloads of a shard of a link name.
  [[nodiscard]] std::shared_ptr<const code_tables> tables_of(std::size_t link, std::size_t shard) const {
    const auto& from = *links_[link];
    const mutex_lock lock(mutex_);
    auto& tables = tables_[{link, shard}];
    if (!tables) {
      code_tables all;
      for (const auto& [id, digits] : from.shards[shard].metadata.tables)
        if (const auto table = read_code_table(id, digits, from.contents.origin); all.find(table.id) == nullptr)
          all.add(table);
      tables = std::make_shared<const code_tables>(std::move(all));
    }
    return tables;
  }

  /// Reads the headers of the first 64 shards of the chain, or of as many as a quarter of the files that the process
  /// may open, the newest link first. These files stay open, and so readable when their checkpoint is removed.
  void open_shards() const {
    std::size_t left = std::min<std::size_t>(64, files_->most());
    for (const auto& link : links_)
      for (std::size_t shard = 0; shard < link->shards.size() && left > 0; ++shard, --left)
        static_cast<void>(link->shards[shard]);
  }

  /// Whether a link that is open has been removed or followed by another publication, so that the chain has to be
  /// opened again. Also after `open` has failed.
  [[nodiscard]] bool is_outdated(const any_store& store) const {
    return std::ranges::any_of(links_, [&](const auto& link) { return link->is_outdated(store); });
  }
  [[nodiscard]] std::span<const codec_rule> rules() const noexcept { return rules_; }

  /// Checks the checksums of all leaves, or of the given ones, in all links. errc::corrupt names file, byte and leaf.
  void verify(unsigned threads = 0) const {
    detail::verify(newest(), threads);
    std::vector<std::size_t> all(contents().leaves.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    if (links_.size() > 1) verify(all, threads);
  }
  void verify(std::span<const std::size_t> leaves, unsigned threads = 0) const {
    std::vector<std::vector<std::size_t>> of_link(links_.size());
    for (const auto leaf : leaves) {
      const auto plan = plan_of(leaf);
      for (std::size_t link = 0; link < plan.size(); ++link) of_link[link].push_back(plan[link]);
    }
    for (std::size_t link = 0; link < links_.size(); ++link) detail::verify(*links_[link], of_link[link], threads);
  }

  /// Opens the shards of a part of a leaf in all links, and checks that its codecs are known. errc::unsupported names
  /// file and codec; corrupt.
  void require_slices(std::size_t leaf, const leaf_part& part = {}) const {
    const auto plan = plan_of(leaf);
    for (std::size_t link = 0; link < plan.size(); ++link)
      for (const auto& slice : links_[link]->slices_of(plan[link], part)) {
        if (slice.encoded == nullptr) continue;
        static_cast<void>(codec_named(slice.encoded->codec, rules_, links_[link]->shards[slice.shard].where));
        static_cast<void>(tables_of(link, slice.shard));
      }
  }

  /// Whether some elements of a leaf take less time to read than all: the codecs of its payloads decode ranges. By the
  /// indexes. errc::unsupported: a codec is not known.
  [[nodiscard]] bool decodes_ranges(std::size_t leaf) const {
    const auto plan = plan_of(leaf);
    for (std::size_t link = 0; link < plan.size(); ++link)
      if (const auto& how = links_[link]->index.storage[plan[link]].encoded)
        if (!codec_named(how->codec, rules_, links_[link]->contents.origin).decodes_ranges()) return false;
    return true;
  }

  /// Reads whole leaves, boxes or runs of them, into memory: those stored as they are together, the others decoded.
  /// Errors: mismatch for memory of another dtype or size; corrupt, after which the memory may have changed, unless all
  /// of it had been verified.
  void read(std::span<const read_request> requests, const read_options& options = {}) const;

 private:
  /// Makes it the newest link, whose contents fetch leaves that the whole chain decodes.
  void begin_with(stored_checkpoint opened);
  void open_ancestors(const any_store& store, index_texts* texts);
  /// The index of a leaf in each link that decodes it: the newest first, to the first one that holds it whole.
  [[nodiscard]] std::vector<std::size_t> plan_of(std::size_t leaf) const {
    std::vector<std::size_t> plan{leaf};
    const auto& wanted = contents().leaves[leaf];
    for (std::size_t link = 0; links_[link]->is_relative(plan[link]); ++link) {
      const auto& parent = links_[link + 1]->contents;
      const auto index = parent.find(wanted.path);
      if (index == catalog::npos || parent.leaves[index].type != wanted.type ||
          parent.leaves[index].shape != wanted.shape)
        fail(errc::corrupt, {links_[link]->contents.origin, ": \"", wanted.path,
                             "\" is stored relative to its parent, which has no such leaf"});
      plan.push_back(index);
    }
    return plan;
  }
  void read_decoded(std::span<const placed_request> requests, const read_options& options) const;

  codec_rules rules_;
  std::shared_ptr<file_pool> files_ = std::make_shared<file_pool>();
  std::vector<std::shared_ptr<const stored_checkpoint>> links_;
  mutable mutex mutex_;
  mutable std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const code_tables>> tables_
      CAIRN_GUARDED_BY(mutex_);  // by link and shard
};

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// Reads a checkpoint and its ancestors, and decodes every leaf.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/code_table_text.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/reader.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/system/sort.hpp"

namespace cairn::inline v0_1::detail {

[[nodiscard]] inline bool needs_parent(const stored_checkpoint& link) {
  for (std::size_t leaf = 0; leaf < link.contents.leaves.size(); ++leaf)
    if (link.is_relative(leaf)) return true;
  return false;
}

/// A request, and where its first encoded slice is in the files, or its first one where none is encoded.
struct placed_request {
  const read_request* request;
  std::size_t shard = 0;
  std::uint64_t begin = 0;
  double part = 0;  ///< of the shard that lies before it

  [[nodiscard]] std::uint64_t bytes() const noexcept { return request->into.bytes(); }
};

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
    const std::lock_guard lock(mutex_);
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
  void read(std::span<const read_request> requests, const read_options& options = {}) const {
    constexpr std::size_t small_bytes = std::size_t{1} << 20U;
    check_requests(contents().origin, contents().leaves, requests);
    const auto is_encoded = [&](const read_request& each) { return newest().is_encoded(each.leaf); };
    const bool has_encoded = std::ranges::any_of(requests, is_encoded);
    std::vector<read_request> bulk;
    std::vector<placed_request> decoded;  // and small ones between them, which share their blocks
    bool has_boxes = false;
    for (const auto& each : requests) {
      if (!is_encoded(each) && (!has_encoded || each.into.bytes() >= small_bytes)) {
        bulk.push_back(each);
      } else if (const auto slices = newest().slices_of(each.leaf, each.part()); !slices.empty()) {
        const auto is_payload = [](const stored_slice& slice) { return slice.encoded != nullptr; };
        const auto at = std::ranges::find_if(slices, is_payload);
        const auto& first = at == slices.end() ? slices.front() : *at;
        decoded.push_back({&each, first.shard, first.begin,
                           static_cast<double>(first.begin) /
                               static_cast<double>(newest().shards[first.shard].header.data_bytes + 1)});
        has_boxes = has_boxes || first.region.has_value();
      }
    }
    read_leaves(newest(), bulk, options);
    // The shards of boxes of the same arrays are read side by side, others one after another.
    sort_items(decoded, [&](const auto& a, const auto& b) {
      if (has_boxes) return a.part < b.part;
      return a.shard != b.shard ? a.shard < b.shard : a.begin < b.begin;
    });
    read_decoded(decoded, options);
  }

 private:
  /// Makes it the newest link, whose contents fetch leaves that the whole chain decodes.
  void begin_with(stored_checkpoint opened) {
    opened.contents.fetch = [this](std::size_t index, std::span<std::byte> out) {
      if (index >= contents().leaves.size()) fail(errc::invalid, {"there is no such leaf in ", contents().origin});
      const auto& leaf = contents().leaves[index];
      if (out.size() != leaf.bytes()) fail(errc::invalid, {"the memory for \"", leaf.path, "\" has another size"});
      const read_request all[] = {{index, {leaf.type, leaf.shape, out.data(), {}}}};
      read(all, {.threads = 1});
    };
    links_ = {std::make_shared<const stored_checkpoint>(std::move(opened))};
  }
  void open_ancestors(const any_store& store, index_texts* texts) {
    while (needs_parent(*links_.back())) {
      const auto& child = *links_.back();
      const auto& origin = child.contents.origin;
      const auto& link = *child.index.parent;
      std::shared_ptr<const stored_checkpoint> parent;
      try {
        parent = std::make_shared<const stored_checkpoint>(open_checkpoint(store, link.name, files_, texts));
      } catch (const error& cause) {
        if (cause.code() != errc::not_found) throw;
        fail(errc::corrupt, {origin, ": is built on checkpoint ", link.name, ", which is not there"});
      }
      if (checkpoint_id(parent->index) != link.id)
        fail(errc::corrupt, {origin, ": is built on a checkpoint ", link.name, " other than the one that is there"});
      if (parent->index.info.step >= child.index.info.step)
        fail(errc::corrupt, {origin, ": is built on ", link.name, ", which is not older"});
      links_.push_back(std::move(parent));
    }
  }
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
  mutable std::mutex mutex_;  // guards `tables_`
  mutable std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const code_tables>>
      tables_;  // by link and shard
};

/// Which elements of a slice are wanted.
struct slice_overlap {
  std::uint64_t runs = 0, elements = 0;  // wanted ones
  element_range range{};                 // of the slice, with all wanted elements
  std::uint64_t first = 0;               // its first wanted element, counted among those that are wanted of the leaf
};

/// Fills parts of leaves, one thread at a time. Slices that are read in shard order share the blocks that are read.
class leaf_decoder {
 public:
  leaf_decoder(const chain_reader& chain, const read_options& options)
      : chain_(chain), options_(options), window_(options) {}

  /// Fills `values`, the part's packed elements, from the link with the whole leaf; then applies newer links in order.
  /// `plan`: chain_reader::plan_of.
  void read(std::span<const std::size_t> plan, const leaf_part& wanted, std::span<std::byte> values) {
    const auto& leaf = chain_.contents().leaves[plan.front()];
    if (needs_whole_leaf(plan, wanted)) {
      const page_buffer all(leaf.bytes());
      const leaf_part whole{0, element_count(leaf.shape), {}};
      read(plan, whole, all.bytes());
      return copy_common(whole, all.bytes(), wanted, values, leaf);
    }
    for (std::size_t link = plan.size(); link-- > 0;)
      for (const auto& slice : chain_.links()[link]->slices_of(plan[link], wanted)) {
        const auto overlap = overlap_of(slice, wanted, leaf);
        if (overlap.elements == 0) continue;
        if (slice.encoded == nullptr)
          read_raw(link, leaf, slice, wanted, overlap, values);
        else
          decode(link, leaf, slice, wanted, overlap, values);
      }
  }

 private:
  [[nodiscard]] static slice_overlap overlap_of(const stored_slice& slice, const leaf_part& wanted,
                                                const stored_leaf& leaf) {
    slice_overlap found;
    for_each_common_run(slice, wanted, leaf.shape,
                        [&](std::uint64_t in_slice, std::uint64_t in_wanted, std::uint64_t count) {
                          if (found.runs++ == 0) {
                            found.range.first = in_slice;
                            found.first = in_wanted;
                          }
                          found.range.last = in_slice + count;
                          found.elements += count;
                        });
    return found;
  }

  /// Copies the elements that two parts of a leaf have in common, from the packed elements of `a` to those of `b`.
  template <class A, class B>
  static void copy_common(const A& a, std::span<const std::byte> from, const B& b, std::span<std::byte> to,
                          const stored_leaf& leaf) {
    const auto width = size_of(leaf.type);
    for_each_common_run(a, b, leaf.shape, [&](std::uint64_t in_a, std::uint64_t in_b, std::uint64_t count) {
      std::memcpy(to.data() + in_b * width, from.data() + in_a * width, count * width);
    });
  }

  [[nodiscard]] any_codec codec_of(std::size_t link, const stored_slice& slice) const {
    return codec_named(slice.encoded->codec, chain_.rules(), chain_.links()[link]->shards[slice.shard].where);
  }

  /// Whether a part of a relative slice is wanted, whose codec needs all elements of the parent.
  [[nodiscard]] bool needs_whole_leaf(std::span<const std::size_t> plan, const leaf_part& wanted) const {
    const auto& leaf = chain_.contents().leaves[plan.front()];
    if (!wanted.region && wanted.count == element_count(leaf.shape)) return false;
    for (std::size_t link = 0; link < plan.size(); ++link)
      for (const auto& slice : chain_.links()[link]->slices_of(plan[link], wanted)) {
        if (!slice.is_relative() || codec_of(link, slice).decodes_ranges()) continue;
        const auto elements = overlap_of(slice, wanted, leaf).elements;
        if (elements != 0 && elements != slice.count) return true;
      }
    return false;
  }

  void read_raw(std::size_t link, const stored_leaf& leaf, const stored_slice& slice, const leaf_part& wanted,
                const slice_overlap& overlap, std::span<std::byte> values) {
    constexpr std::size_t direct_bytes = std::size_t{1} << 20U;  // more than these are not copied
    const auto& from = *chain_.links()[link];
    const auto width = size_of(leaf.type);
    auto part = slice;
    part.begin += overlap.range.first * width;
    part.bytes = (overlap.range.last - overlap.range.first) * width;
    const auto bytes = window_.move_to(from, part);
    for_each_common_run(slice, wanted, leaf.shape,
                        [&](std::uint64_t in_slice, std::uint64_t in_wanted, std::uint64_t count) {
                          const auto begin = (in_slice - overlap.range.first) * width;
                          const auto to = values.subspan(in_wanted * width, count * width);
                          if (to.size() >= direct_bytes)
                            return read_stored(from, slice.shard, part.begin + begin, to, options_);
                          window_.need(begin, begin + to.size());
                          std::memcpy(to.data(), bytes.data() + begin, to.size());
                        });
  }

  /// Decodes the wanted elements of a slice; where it is relative, `values` hold the parent's.
  void decode(std::size_t link, const stored_leaf& leaf, const stored_slice& slice, const leaf_part& wanted,
              const slice_overlap& overlap, std::span<std::byte> values) {
    constexpr std::size_t small_bytes = std::size_t{128} << 10U;  // one read takes all
    const auto width = size_of(leaf.type);
    const bool is_all = overlap.runs == 1 && overlap.elements == slice.count;
    const auto elements =
        is_all ? values.subspan(overlap.first * width, slice.count * width) : elements_.first(slice.count * width);
    if (!is_all && slice.is_relative()) copy_common(wanted, values, slice, elements, leaf);
    const auto& from = *chain_.links()[link];
    const auto codec = codec_of(link, slice);
    const auto tables = chain_.tables_of(link, slice.shard);
    const auto payload = window_.move_to(from, slice);
    const std::function<void(std::size_t, std::size_t)> read = [&](std::size_t begin, std::size_t end) {
      window_.need(begin, end);
    };
    const auto& range = overlap.range;
    const bool is_whole = range.last - range.first == slice.count || !codec.decodes_ranges();
    if (is_whole || slice.bytes <= small_bytes) read(0, slice.bytes);
    codec.decode({.where = from.shards[slice.shard].where,
                  .path = leaf.path,
                  .type = leaf.type,
                  .payload = payload,
                  .values = elements,
                  .threads = options_.threads,
                  .known_tables = tables.get(),
                  .relative = slice.encoded->relative,
                  .wanted = range,
                  .read = is_whole ? nullptr : &read});
    if (!is_all) copy_common(slice, elements, wanted, values, leaf);
  }

  const chain_reader& chain_;
  read_options options_;
  slice_window window_;
  page_buffer elements_;  // of a slice of which only some are wanted
};

/// Consecutive requests that one thread reads, or a large one that all threads read.
using request_group = std::span<const placed_request>;

[[nodiscard]] inline bool is_large(const request_group& group) noexcept {
  return group.size() == 1 && group.front().bytes() >= large_item_bytes;
}

/// Groups of neighbours in files: as few as keep all threads busy, as two groups read the same block at their border.
[[nodiscard]] inline std::vector<request_group> group_requests(std::span<const placed_request> requests,
                                                               unsigned threads) {
  if (threads == 1) return {requests};
  std::uint64_t total = 0, bytes = 0;
  for (const auto& each : requests) total += each.bytes();
  const auto most = std::clamp<std::uint64_t>(total / (threads * 4), std::uint64_t{1} << 20U, std::uint64_t{64} << 20U);
  std::vector<request_group> groups;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto one = requests.subspan(i, 1);
    const auto size = requests[i].bytes();
    if (groups.empty() || is_large(one) || is_large(groups.back()) || bytes + size > most) {
      groups.push_back(one);
      bytes = size;
    } else {
      groups.back() = {groups.back().data(), groups.back().size() + 1};
      bytes += size;
    }
  }
  return groups;
}

inline void chain_reader::read_decoded(std::span<const placed_request> requests, const read_options& options) const {
  const auto threads = threads_of(options.threads);
  const auto groups = group_requests(requests, threads);
  const auto read_groups = [&](bool large) {
    std::vector<request_group> some;
    std::ranges::copy_if(groups, std::back_inserter(some), [&](const auto& each) { return is_large(each) == large; });
    parallel_for(some.size(), large ? 1 : threads, [&](std::size_t i, unsigned) {
      leaf_decoder decoder(*this, {.threads = large ? threads : 1, .verify = options.verify});
      for (const auto& each : some[i]) {
        const auto& into = each.request->into;
        const page_buffer packed(into.contiguous() ? 0 : into.bytes());
        const auto values = into.contiguous() ? std::span(into.memory, into.bytes()) : packed.bytes();
        decoder.read(plan_of(each.request->leaf), each.request->part(), values);
        if (!into.contiguous()) scatter(into, 0, values);
      }
    });
  };
  read_groups(true);
  read_groups(false);
}

}  // namespace cairn::inline v0_1::detail

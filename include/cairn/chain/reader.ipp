// SPDX-License-Identifier: MIT
// Definitions of chain/reader.hpp: opens the links of a chain, and decodes leaves from the oldest link to the newest.
#pragma once

#include <cstring>
#include <functional>

#include "cairn/chain/reader.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

void chain_reader::begin_with(stored_checkpoint opened) {
  opened.contents.fetch = [this](std::size_t index, std::span<std::byte> out) {
    if (index >= contents().leaves.size()) fail(errc::invalid, {"there is no such leaf in ", contents().origin});
    const auto& leaf = contents().leaves[index];
    if (out.size() != leaf.bytes()) fail(errc::invalid, {"the memory for \"", leaf.path, "\" has another size"});
    const read_request all[] = {{index, {leaf.type, leaf.shape, out.data(), {}}}};
    read(all, {.threads = 1});
  };
  links_ = {std::make_shared<const stored_checkpoint>(std::move(opened))};
}

void chain_reader::open_ancestors(const any_store& store, index_texts* texts) {
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

/// A request, and where its first encoded slice is in the files, or its first one where none is encoded.
struct placed_request {
  const read_request* request;
  std::size_t shard = 0;
  std::uint64_t begin = 0;
  double part = 0;  ///< of the shard that lies before it

  [[nodiscard]] std::uint64_t bytes() const noexcept { return request->into.bytes(); }
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

void chain_reader::read_decoded(std::span<const placed_request> requests, const read_options& options) const {
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

void chain_reader::read(std::span<const read_request> requests, const read_options& options) const {
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
      decoded.push_back(
          {&each, first.shard, first.begin,
           static_cast<double>(first.begin) / static_cast<double>(newest().shards[first.shard].header.data_bytes + 1)});
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

}  // namespace cairn::inline v0_1::detail

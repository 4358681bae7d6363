// Definitions of chain/reader.hpp: reads the elements of leaves, and decodes them along the chain.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "cairn/chain/reader.hpp"
#include "cairn/core/box.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::detail {

/// Fills the elements of a slice; those of a relative one hold the parent's.
CAIRN_INLINE void chain_reader::decode_slice(std::size_t link, const stored_leaf& leaf, const stored_slice& slice,
                                             std::span<std::byte> elements, page_buffer& memory,
                                             const read_options& options) const {
  const auto& from = *links_[link];
  if (slice.encoded == nullptr) return from.read(slice, elements, options);
  const auto payload = memory.first(slice.bytes);
  from.read(slice, payload, options);
  const auto& where = from.file_of(slice);
  const auto tables = tables_of(link, slice.shard);
  codec_named(slice.encoded->codec, rules_, where)
      .decode({.where = where,
               .path = leaf.path,
               .type = leaf.type,
               .payload = payload,
               .values = elements,
               .threads = options.threads,
               .known_tables = tables.get(),
               .relative = slice.encoded->relative});
}

/// The smallest range around `wanted` that cuts no encoded slice and no box of the links from `newest` on.
CAIRN_INLINE chain_reader::range chain_reader::whole_slices(const leaf_plan& plan, std::size_t newest,
                                                            range wanted) const {
  const auto count = element_count(contents().leaves[plan.front()].shape);
  for (auto before = range{}; before != wanted;) {
    before = wanted;
    for (auto link = newest; link < plan.size(); ++link)
      for (const auto& slice : links_[link]->slices_of(plan[link])) {
        if (slice.region) return {0, count};
        const auto last = slice.first + slice.count;
        if (slice.encoded == nullptr || slice.first >= wanted.last || last <= wanted.first) continue;
        wanted = {std::min(wanted.first, slice.first), std::max(wanted.last, last)};
      }
  }
  return wanted;
}

/// Fills `values`, the elements from `first` on, which cut no encoded slice and no box, from the link that holds the leaf whole; then applies the
/// newer links in order, up to `newest`.
CAIRN_INLINE void chain_reader::decode(const leaf_plan& plan, std::size_t newest, std::uint64_t first,
                                       std::span<std::byte> values, const read_options& options) const {
  page_buffer memory, packed;
  for (std::size_t link = plan.size(); link-- > newest;) {
    const auto& from = *links_[link];
    const auto& leaf = from.contents().leaves[plan[link]];
    const std::uint64_t width = size_of(leaf.type), last = first + values.size() / width;
    for (const auto& slice : from.slices_of(plan[link])) {
      if (slice.region) {
        const auto view = view_of({leaf.type, leaf.shape, values.data(), {}}, *slice.region);
        const auto elements = packed.first(slice.count * width);
        if (slice.is_relative()) gather(view, 0, elements);
        decode_slice(link, leaf, slice, elements, memory, options);
        scatter(view, 0, elements);
        continue;
      }
      const auto begin = std::max(first, slice.first), end = std::min(last, slice.first + slice.count);
      if (begin >= end) continue;
      auto part = slice;
      if (slice.encoded == nullptr) {
        part.begin += (begin - slice.first) * width;
        part.bytes = (end - begin) * width;
      }
      decode_slice(link, leaf, part, values.subspan((begin - first) * width, (end - begin) * width), memory, options);
    }
  }
}

/// Fills `into`, a box of the leaf as a link has it. Decodes the slices that have elements of it, each whole: a box from the same box of the link
/// before.
CAIRN_INLINE void chain_reader::decode_box(const leaf_plan& plan, std::size_t link, const box& region,
                                           const memory_view& into, const read_options& options) const {
  const auto& leaf = links_[link]->contents().leaves[plan[link]];
  const auto width = size_of(leaf.type);
  page_buffer memory, packed;
  for (const auto& slice : links_[link]->slices_of(plan[link], region)) {
    const auto bytes = slice.count * width;
    const bool is_same = slice.region == region && into.contiguous();
    const auto elements = is_same ? std::span(into.memory, bytes) : packed.first(bytes);
    if (slice.region) {
      const memory_view view{leaf.type, slice.region->shape, elements.data(), {}};
      if (slice.is_relative()) decode_box(plan, link + 1, *slice.region, view, options);
      decode_slice(link, leaf, slice, elements, memory, options);
    } else {
      decode_range(plan, link, slice.first, elements, options);
    }
    if (is_same) continue;
    for_each_common_run(slice, leaf.shape, region,
                        [&](std::uint64_t in_slice, std::uint64_t in_region, std::uint64_t count) {
                          scatter(into, in_region, elements.subspan(in_slice * width, count * width));
                        });
  }
}

/// Fills `out`, the elements from `first` on as a link has them.
CAIRN_INLINE void chain_reader::decode_range(const leaf_plan& plan, std::size_t link, std::uint64_t first,
                                             std::span<std::byte> out, const read_options& options) const {
  const std::uint64_t width = size_of(contents().leaves[plan.front()].type);
  const range wanted{first, first + out.size() / width}, whole = whole_slices(plan, link, wanted);
  if (whole == wanted) return decode(plan, link, first, out, options);
  const page_buffer values((whole.last - whole.first) * width);
  decode(plan, link, whole.first, values.bytes(), options);
  std::copy_n(values.bytes().begin() + static_cast<std::ptrdiff_t>((first - whole.first) * width), out.size(),
              out.begin());
}

CAIRN_INLINE void chain_reader::read(std::size_t leaf, std::uint64_t first, std::span<std::byte> out,
                                     const read_options& options) const {
  decode_range(plan_of(leaf), 0, first, out, options);
}

CAIRN_INLINE void chain_reader::read(std::span<const read_request> requests, const read_options& options) const {
  std::vector<read_request> bulk;
  std::vector<std::pair<const read_request*, leaf_plan>> encoded;
  check_requests(contents().origin, contents().leaves, requests);
  for (const auto& request : requests) {
    if (newest().is_encoded(request.leaf))
      encoded.emplace_back(&request, plan_of(request.leaf));
    else
      bulk.push_back(request);
  }
  newest().read(bulk, options);
  const auto decode_one = [&](std::size_t i, unsigned threads) {
    const auto& [request, plan] = encoded[i];
    const auto& into = request->into;
    const read_options how{.threads = threads, .verify = options.verify};
    if (request->region) return decode_box(plan, 0, *request->region, into, how);
    if (into.contiguous()) return decode(plan, 0, 0, {into.memory, into.bytes()}, how);
    const page_buffer packed(into.bytes());
    decode(plan, 0, 0, packed.bytes(), how);
    scatter(into, 0, packed.bytes());
  };
  parallel_by_size(
      encoded.size(), options.threads, [&](std::size_t i) { return encoded[i].first->into.bytes(); }, decode_one);
}

}  // namespace cairn::detail

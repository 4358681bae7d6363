// SPDX-License-Identifier: MIT
// Definitions of shard.hpp and shard_bytes.hpp.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/store/shard_bytes.hpp"
#include "cairn/store/shard_metadata.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// Elements per index of the first dimension.
[[nodiscard]] inline std::uint64_t row_elements(const memory_view& view) noexcept {
  return view.shape[0] == 0 ? 1 : view.count() / view.shape[0];
}

const std::byte* row_address(const memory_view& view, std::uint64_t element) noexcept {
  return view.memory + static_cast<std::int64_t>(element / row_elements(view)) * view.strides[0];
}

void interleaved_gather(std::vector<strided_run>& runs, std::span<growing_chunk> chunks) {
  constexpr std::uint64_t step_bytes = 64 << 10;  // of records per step: they stay in the cache
  while (!runs.empty()) {
    const auto lowest = std::min_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
      return row_address(*a.view, a.first) < row_address(*b.view, b.first);
    });
    auto& run = *lowest;
    const auto& view = *run.view;
    const auto stride = static_cast<std::uint64_t>(std::abs(view.strides[0]));
    const std::uint64_t rows = stride == 0 || stride > step_bytes ? 1 : step_bytes / stride;
    const std::uint64_t width = size_of(view.type);
    const std::size_t bytes = std::min<std::uint64_t>(rows * row_elements(view) * width, run.left);
    gather(view, run.first, chunks[run.chunk].bytes().subspan(run.at, bytes));
    chunks[run.chunk].filled(run.at, bytes);
    run.first += bytes / width;
    run.at += bytes;
    run.left -= bytes;
    if (run.left == 0) {
      run = runs.back();
      runs.pop_back();
    }
  }
}

placed_piece place_of(const leaf& of, const piece& which, std::size_t shard) {
  if (!of.place) return {shard, which.first, which.count, {}};
  if (of.place->whole.size() == 1) return {shard, of.place->first.front(), which.count, {}};
  return {shard, 0, which.count, box{of.place->first, of.shape}};
}

/// Checks that the pieces are part of their leaves, and sorts them.
inline void sort_pieces(std::span<const leaf> leaves, std::vector<write_piece>& pieces) {
  for (const auto& p : pieces)
    if (p.leaf >= leaves.size() || p.first > leaves[p.leaf].count() || p.count > leaves[p.leaf].count() - p.first)
      fail(errc::invalid, {"a piece is not part of its leaf"});
  for (const auto& p : pieces)
    if (const leaf& of = leaves[p.leaf];
        of.place && (p.count != of.count() || !is_inside({of.place->first, of.shape}, of.place->whole)))
      fail(errc::invalid, {"a piece is not the box that its leaf is"});
  const auto width = [&](const write_piece& p) { return p.how != nullptr ? 1 : size_of(leaves[p.leaf].type); };
  sort_items(pieces, [&](const write_piece& a, const write_piece& b) {
    const leaf &x = leaves[a.leaf], &y = leaves[b.leaf];
    if (width(a) != width(b)) return width(a) > width(b);
    return x.path != y.path ? x.path < y.path : a.first < b.first;
  });
}

shard_layout lay_out_shard(std::span<const leaf> leaves, std::vector<write_piece> pieces, std::uint64_t step) {
  sort_pieces(leaves, pieces);
  shard_layout layout;
  json_writer slices;
  slices.begin_object();
  bool has_slices = false;
  encoded_tensors encoded;
  stored_tables tables;
  std::uint64_t at = 0;
  for (const auto& p : pieces) {
    const leaf& whole = leaves[p.leaf];
    const bool is_whole = p.count == element_count(whole_shape(whole));
    const auto place = place_of(whole, p, 0);
    auto key = is_whole ? whole.path : slice_key(whole.path, place);
    if (!is_whole) {
      has_slices = true;
      write_slice(slices, key, {whole.path, whole_shape(whole), place.first, place.count, place.region});
    }
    const std::uint64_t bytes = p.how != nullptr ? p.bytes.size() : p.count * size_of(whole.type);
    if (p.how != nullptr) {
      encoded.emplace(key, *p.how);
      layout.header.tensors.push_back({std::move(key), dtype::u8, {bytes}, at, at + bytes});
    } else {
      layout.header.tensors.push_back(
          {std::move(key), whole.type, p.count == whole.count() ? whole.shape : extents{p.count}, at, at + bytes});
    }
    if (p.tables != nullptr) tables.insert(p.tables->begin(), p.tables->end());
    at += bytes;
  }
  auto& metadata = layout.header.metadata;
  metadata["cairn.format"] = format_version;
  metadata["cairn.step"] = std::to_string(step);
  metadata["cairn.block_bytes"] = std::to_string(block_bytes);
  metadata["cairn.blocks"] = std::string(block_count(at) * checksum_digits, '0');
  if (has_slices) metadata["cairn.slices"] = slices.end_object().take();
  if (!encoded.empty()) metadata["cairn.encoded"] = write_encoded_tensors(encoded);
  if (!tables.empty()) metadata["cairn.tables"] = write_tables(tables);
  layout.pieces = std::move(pieces);
  layout.header_text = write_safetensors_header(layout.header);
  layout.header.data_start = layout.header_text.size();
  layout.header.data_bytes = at;
  return layout;
}

void set_block_checksums(shard_layout& layout, std::span<const std::uint64_t> blocks) {
  constexpr std::string_view key = "\"cairn.blocks\":\"";
  std::string digits;
  for (const auto block : blocks) append_hex(digits, block);
  layout.header_text.replace(layout.header_text.find(key) + key.size(), digits.size(), digits);
}

}  // namespace cairn::inline v0_1::detail

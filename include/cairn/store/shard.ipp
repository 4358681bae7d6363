// Definitions of shard.hpp.
#pragma once

#include <string_view>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/encoded_tensors.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/store/shard_metadata.hpp"
#include "cairn/store/structure.hpp"
#include "cairn/system/json.hpp"

namespace cairn::detail {

/// "w", [2, 5) -> "w[2:5]": the key of a slice.
[[nodiscard]] inline std::string slice_key(std::string_view path, const write_piece& slice) {
  return sentence({path, "[", std::to_string(slice.first), ":", std::to_string(slice.first + slice.count), "]"});
}

/// Checks that the pieces are part of their leaves, and sorts them.
inline void sort_pieces(std::span<const leaf> leaves, std::vector<write_piece>& pieces) {
  for (const auto& p : pieces)
    if (p.leaf >= leaves.size() || p.first > leaves[p.leaf].count() || p.count > leaves[p.leaf].count() - p.first)
      fail(errc::invalid, {"a piece is not part of its leaf"});
  const auto width = [&](const write_piece& p) { return p.how != nullptr ? 1 : size_of(leaves[p.leaf].type); };
  sort_items(pieces, [&](const write_piece& a, const write_piece& b) {
    const leaf &x = leaves[a.leaf], &y = leaves[b.leaf];
    if (width(a) != width(b)) return width(a) > width(b);
    return x.path != y.path ? x.path < y.path : a.first < b.first;
  });
}

CAIRN_INLINE shard_layout lay_out_shard(std::span<const leaf> leaves, std::vector<write_piece> pieces,
                                        const structure& described, std::uint64_t step, const chain_metadata& chain) {
  sort_pieces(leaves, pieces);
  shard_layout layout;
  json_writer slices;
  slices.begin_object();
  bool has_slices = false;
  encoded_tensors encoded;
  std::uint64_t at = 0;
  for (const auto& p : pieces) {
    const leaf& whole = leaves[p.leaf];
    const bool is_whole = p.count == whole.count();
    auto key = is_whole ? whole.path : slice_key(whole.path, p);
    if (!is_whole) {
      has_slices = true;
      write_slice(slices, key, {whole.path, whole.shape, p.first, p.count});
    }
    const std::uint64_t bytes = p.how != nullptr ? p.bytes.size() : p.count * size_of(whole.type);
    if (p.how != nullptr) {
      encoded.emplace(key, *p.how);
      layout.header.tensors.push_back({std::move(key), dtype::u8, {bytes}, at, at + bytes});
    } else {
      layout.header.tensors.push_back(
          {std::move(key), whole.type, is_whole ? whole.shape : extents{p.count}, at, at + bytes});
    }
    at += bytes;
  }
  auto& metadata = layout.header.metadata;
  metadata["cairn.format"] = format_version;
  metadata["cairn.step"] = std::to_string(step);
  metadata["cairn.block_bytes"] = std::to_string(block_bytes);
  metadata["cairn.blocks"] = std::string(block_count(at) * checksum_digits, '0');
  if (has_slices) metadata["cairn.slices"] = slices.end_object().take();
  if (!described.empty()) metadata["cairn.structure"] = write_structure(described);
  if (!encoded.empty()) metadata["cairn.encoded"] = write_encoded_tensors(encoded);
  if (chain.parent) metadata["cairn.parent"] = write_parent(*chain.parent);
  if (!chain.tables.empty()) metadata["cairn.tables"] = write_tables(chain.tables);
  layout.pieces = std::move(pieces);
  layout.header_text = write_safetensors_header(layout.header);
  layout.header.data_start = layout.header_text.size();
  layout.header.data_bytes = at;
  return layout;
}

CAIRN_INLINE void set_block_checksums(shard_layout& layout, std::span<const std::uint64_t> blocks) {
  constexpr std::string_view key = "\"cairn.blocks\":\"";
  std::string digits;
  for (const auto block : blocks) append_hex(digits, block);
  layout.header_text.replace(layout.header_text.find(key) + key.size(), digits.size(), digits);
}

}  // namespace cairn::detail

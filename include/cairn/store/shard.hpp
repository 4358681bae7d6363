// Lays out a shard: a safetensors file whose metadata adds what Cairn needs to know: slices, encodings, facts, checksums of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/structure.hpp"
#include "cairn/store/encodings.hpp"
#include "cairn/store/facts.hpp"
#include "cairn/store/chain_metadata.hpp"
#include "cairn/store/order.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/store/shard_notes.hpp"

namespace cairn {

/// A shard to be written: its header with room for checksums, and which piece every tensor is.
struct shard_layout {
  safetensors_header header;
  std::vector<piece> pieces;  ///< parallel to header.tensors
  std::string header_text;    ///< the file's first bytes, checksums still zeros
};

/// "w", [2, 5) -> "w[2:5]": the key of a slice.
[[nodiscard]] inline std::string slice_key(std::string_view path, const piece& slice) {
  return sentence({path, "[", std::to_string(slice.first), ":", std::to_string(slice.first + slice.count), "]"});
}

/// Lays out the shard that holds `pieces`: widest elements first, so that every element is aligned in the
/// file, then by path. The same leaves give the same bytes. errc::invalid for a piece that is no part of its
/// leaf.
[[nodiscard]] inline shard_layout lay_out_shard(std::span<const leaf> leaves, std::vector<piece> pieces,
                                                const structure& facts, std::uint64_t step,
                                                const chain_metadata& ties = {}) {
  for (const auto& p : pieces)
    if (p.leaf >= leaves.size() || p.first > leaves[p.leaf].count() || p.count > leaves[p.leaf].count() - p.first)
      fail(errc::invalid, {"a piece is not part of its leaf"});
  const auto width = [&](const piece& p) { return p.encoded ? 1 : size_of(leaves[p.leaf].type); };
  sort_items(pieces, [&](const piece& a, const piece& b) {
    const leaf &x = leaves[a.leaf], &y = leaves[b.leaf];
    if (width(a) != width(b)) return width(a) > width(b);
    return x.path != y.path ? x.path < y.path : a.first < b.first;
  });

  shard_layout layout;
  std::string slices;
  encodings encoded;
  std::uint64_t at = 0;
  for (const auto& p : pieces) {
    const leaf& whole = leaves[p.leaf];
    const bool is_whole = p.count == whole.count();
    auto key = is_whole ? whole.path : slice_key(whole.path, p);
    if (!is_whole) {
      slices += slices.empty() ? '{' : ',';
      append_json(slices, key, "the path");
      slices += ":{\"leaf\":";
      append_json(slices, whole.path, "the path");
      slices += ",\"shape\":";
      append_json(slices, whole.shape);
      slices += ",\"first\":" + std::to_string(p.first) + ",\"count\":" + std::to_string(p.count) + '}';
    }
    const auto shape = is_whole ? whole.shape : extents{p.count};
    const std::uint64_t end = at + (p.encoded ? p.encoded->payload.bytes() : p.count * size_of(whole.type));
    if (p.encoded) encoded.emplace(key, p.encoded->how);
    layout.header.tensors.push_back(
        {std::move(key), p.encoded ? dtype::u8 : whole.type, p.encoded ? extents{end - at} : shape, at, end});
    at = end;
  }
  auto& metadata = layout.header.metadata;
  metadata["cairn.format"] = format_version;
  metadata["cairn.step"] = std::to_string(step);
  metadata["cairn.block_bytes"] = std::to_string(block_bytes);
  metadata["cairn.blocks"] = std::string(block_count(at) * checksum_digits, '0');
  if (!slices.empty()) metadata["cairn.slices"] = slices + '}';
  if (!facts.empty()) metadata["cairn.structure"] = write_facts(facts);
  if (!encoded.empty()) metadata["cairn.encoded"] = write_encodings(encoded);
  if (ties.parent) metadata["cairn.parent"] = write_parent(*ties.parent);
  if (!ties.tables.empty()) metadata["cairn.tables"] = write_tables(ties.tables);
  layout.pieces = std::move(pieces);
  layout.header_text = write_safetensors_header(layout.header);
  layout.header.data_start = layout.header_text.size();
  layout.header.data_bytes = at;
  return layout;
}

/// Puts the checksums of the blocks into the header of the laid-out shard.
inline void set_block_checksums(shard_layout& layout, std::span<const std::uint64_t> blocks) {
  constexpr std::string_view key = "\"cairn.blocks\":\"";
  std::string digits;
  for (const auto block : blocks) append_hex(digits, block);
  layout.header_text.replace(layout.header_text.find(key) + key.size(), digits.size(), digits);
}

}  // namespace cairn

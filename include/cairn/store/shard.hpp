// A shard: a safetensors file whose metadata adds what Cairn needs to know: slices, facts, checksums of
// blocks.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/structure.hpp"
#include "cairn/store/checksum.hpp"
#include "cairn/store/facts.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/piece.hpp"
#include "cairn/store/safetensors.hpp"

namespace cairn {

inline constexpr std::string_view format_version = "1";
inline constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20U;

/// Blocks of `bytes` bytes of data; the last one may be short.
[[nodiscard]] constexpr std::uint64_t block_count(std::uint64_t bytes) noexcept {
  return bytes / block_bytes + (bytes % block_bytes != 0);
}

/// Of which leaf a tensor is a slice.
struct slice_note {
  std::string leaf;
  extents shape;  ///< of the whole leaf
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// What Cairn's metadata say about a shard. A file of others has none of it.
struct shard_notes {
  bool by_cairn = false;
  std::uint64_t step = 0;
  std::vector<std::uint64_t> blocks;                      ///< checksum of every block of the data section
  std::map<std::string, slice_note, std::less<>> slices;  ///< by tensor key
  structure facts;
};

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
                                                const structure& facts, std::uint64_t step) {
  for (const auto& p : pieces)
    if (p.leaf >= leaves.size() || p.first > leaves[p.leaf].count() || p.count > leaves[p.leaf].count() - p.first)
      fail(errc::invalid, {"a piece is not part of its leaf"});
  sort_items(pieces, [&](const piece& a, const piece& b) {
    const leaf &x = leaves[a.leaf], &y = leaves[b.leaf];
    if (size_of(x.type) != size_of(y.type)) return size_of(x.type) > size_of(y.type);
    return x.path != y.path ? x.path < y.path : a.first < b.first;
  });

  shard_layout layout;
  std::string slices;
  std::uint64_t at = 0;
  for (const auto& p : pieces) {
    const leaf& whole = leaves[p.leaf];
    const std::uint64_t end = at + p.count * size_of(whole.type);
    if (p.count == whole.count()) {
      layout.header.tensors.push_back({whole.path, whole.type, whole.shape, at, end});
    } else {
      auto key = slice_key(whole.path, p);
      slices += slices.empty() ? '{' : ',';
      append_json(slices, key, "the path");
      slices += ":{\"leaf\":";
      append_json(slices, whole.path, "the path");
      slices += ",\"shape\":";
      append_json(slices, whole.shape);
      slices += ",\"first\":" + std::to_string(p.first) + ",\"count\":" + std::to_string(p.count) + '}';
      layout.header.tensors.push_back({std::move(key), whole.type, {p.count}, at, end});
    }
    at = end;
  }
  auto& metadata = layout.header.metadata;
  metadata["cairn.format"] = format_version;
  metadata["cairn.step"] = std::to_string(step);
  metadata["cairn.block_bytes"] = std::to_string(block_bytes);
  metadata["cairn.blocks"] = std::string(block_count(at) * checksum_digits, '0');
  if (!slices.empty()) metadata["cairn.slices"] = slices + '}';
  if (!facts.empty()) metadata["cairn.structure"] = write_facts(facts);
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

namespace detail {

[[nodiscard]] inline std::map<std::string, slice_note, std::less<>> read_slices(std::string_view text,
                                                                                std::string_view origin) {
  using kind = json_event::kind;
  std::map<std::string, slice_note, std::less<>> slices;
  slice_note* note = nullptr;
  unsigned fields = 0;
  const auto refuse = [&](std::string_view key) {
    fail(errc::corrupt, {origin, ": malformed cairn.slices at \"", key, "\""});
  };
  read_json(text, origin, 4, [&](const json_event& event) {
    if (event.at_depth(0)) return;
    const std::string& key = event.path[0];
    if (event.at_depth(1)) {
      if (event.what == kind::open_object) {
        note = &slices[key];
        fields = 0;
      } else if (event.what != kind::close || fields != 4) {
        refuse(key);
      }
      return;
    }
    const std::string& field = event.path[1];
    if (event.at_depth(3) && field == "shape" && event.what == kind::natural && note->shape.size() < max_dimensions)
      return note->shape.push_back(event.number);
    if (!event.at_depth(2)) return refuse(key);
    if (event.what == kind::close) return;
    ++fields;
    if (field == "leaf" && event.what == kind::string) {
      note->leaf = event.text;
    } else if ((field == "first" || field == "count") && event.what == kind::natural) {
      (field == "first" ? note->first : note->count) = event.number;
    } else if (field != "shape" || event.what != kind::open_array) {
      refuse(key);
    }
  });
  return slices;
}

[[nodiscard]] inline std::uint64_t read_number(const std::string& text, std::string_view key, std::string_view origin) {
  std::uint64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size())
    fail(errc::corrupt, {origin, ": ", key, " is \"", text, "\", no number"});
  return number;
}

[[nodiscard]] inline std::vector<std::uint64_t> read_blocks(const std::string& text, std::uint64_t data_bytes,
                                                            std::string_view origin) {
  if (text.size() != block_count(data_bytes) * checksum_digits)
    fail(errc::corrupt, {origin, ": ", std::to_string(text.size() / checksum_digits), " checksums for ",
                         std::to_string(block_count(data_bytes)), " blocks of data"});
  std::vector<std::uint64_t> blocks;
  blocks.reserve(text.size() / checksum_digits);
  for (std::size_t at = 0; at < text.size(); at += checksum_digits) {
    const auto value = parse_hex(std::string_view(text).substr(at, checksum_digits));
    if (!value) fail(errc::corrupt, {origin, ": a checksum in cairn.blocks is not hexadecimal"});
    blocks.push_back(*value);
  }
  return blocks;
}

/// Every note is about a tensor of the file that is as long as it says.
inline void check_slices(const safetensors_header& header, const shard_notes& notes, std::string_view origin) {
  std::size_t found = 0;
  for (const auto& tensor : header.tensors) {
    const auto at = notes.slices.find(tensor.key);
    if (at == notes.slices.end()) continue;
    ++found;
    const auto& note = at->second;
    std::uint64_t bytes = 0;
    if (!checked_bytes(note.shape, size_of(tensor.type), bytes))
      fail(errc::corrupt, {origin, ": \"", note.leaf, "\" has a shape of more than 2^64 bytes"});
    const std::uint64_t count = bytes / size_of(tensor.type);
    if (tensor.shape != extents{note.count} || note.first > count || note.count > count - note.first)
      fail(errc::corrupt,
           {origin, ": \"", tensor.key, "\" does not fit into the leaf that it is said to be a slice of"});
  }
  if (found != notes.slices.size()) fail(errc::corrupt, {origin, ": cairn.slices names a tensor that is not there"});
}

}  // namespace detail

/// Reads Cairn's metadata of a parsed header. errc::corrupt where they contradict the file, errc::unsupported
/// for what a newer version wrote; both name `origin`.
[[nodiscard]] inline shard_notes read_shard_notes(const safetensors_header& header, std::string_view origin) {
  shard_notes notes;
  const auto& metadata = header.metadata;
  const auto format = metadata.find("cairn.format");
  if (format == metadata.end()) return notes;
  notes.by_cairn = true;
  if (format->second != format_version)
    fail(errc::unsupported, {origin, ": format version \"", format->second, "\" is not ", format_version,
                             ", the only one that this version of cairn reads"});
  const std::uint64_t file_bytes = header.data_start + header.data_bytes;
  bool has_blocks = false;
  for (const auto& [key, value] : metadata) {
    if (key == "cairn.step") {
      notes.step = detail::read_number(value, key, origin);
    } else if (key == "cairn.block_bytes") {
      if (detail::read_number(value, key, origin) != block_bytes)
        fail(errc::unsupported, {origin, ": blocks of ", value, " bytes instead of ", std::to_string(block_bytes)});
    } else if (key == "cairn.blocks") {
      notes.blocks = detail::read_blocks(value, header.data_bytes, origin);
      has_blocks = true;
    } else if (key == "cairn.slices") {
      notes.slices = detail::read_slices(value, origin);
    } else if (key == "cairn.structure") {
      notes.facts = read_facts(value, origin, file_bytes);
    } else if (key.starts_with("cairn.") && key != "cairn.format") {
      fail(errc::unsupported, {origin, ": \"", key, "\" in its metadata is from a newer version of cairn"});
    }
  }
  if (!has_blocks) fail(errc::corrupt, {origin, ": cairn.blocks, the checksums, is missing"});
  detail::check_slices(header, notes, origin);
  return notes;
}

}  // namespace cairn

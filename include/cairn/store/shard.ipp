// SPDX-License-Identifier: MIT
// Definitions of store/shard.hpp.
#pragma once

#include <algorithm>
#include <cstring>

#include "cairn/core/checksum.hpp"
#include "cairn/store/leaf_text.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

bool checked_bytes(const extents& shape, std::uint64_t width, std::uint64_t& bytes) noexcept {
  bytes = width;
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) bytes = 0;
  for (const auto n : shape)
    if (bytes != 0 && __builtin_mul_overflow(bytes, n, &bytes)) return false;
  return true;
}

template <class Io>
void describe(Io& io, described<Io, tensor_entry>& tensor) {
  io.object([&] {
    io.field("dtype", tensor.type);
    io.field("shape", [&] { describe_shape(io, tensor.shape); });
    io.field("data_offsets", [&] { describe_numbers(io, {&tensor.begin, &tensor.end}); });
  });
}

/// A tensor that appears twice is found when the leaves are assembled, which sorts the keys.
template <class Io>
void describe(Io& io, described<Io, safetensors_header>& header) {
  io.object([&] {
    if constexpr (Io::reads)
      io.optional("__metadata__", header.metadata);  // files of other programs may have none
    else
      io.field("__metadata__", header.metadata);
    io.members(header.tensors);
  });
}

std::string write_safetensors_header(const safetensors_header& header) {
  std::vector<std::string_view> keys;
  for (const auto& tensor : header.tensors) {
    keys.push_back(tensor.key);
    if (tensor.key == "__metadata__") fail(errc::invalid, {"no leaf can have the path \"__metadata__\""});
  }
  sort_items(keys, std::less<>());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
    fail(errc::invalid, {"two leaves have the path \"", *twice,
                         "\", or one has it and the name of a part of another, as in "
                         "\"w[0:70]\": a file can have it once"});
  auto text = std::string(8, '\0') + to_json(header);
  text.append((data_alignment - text.size() % data_alignment) % data_alignment, ' ');
  if (text.size() > max_header_bytes)
    fail(errc::invalid, {header.tensors.size(), " leaves are too many for one shard"});
  const std::uint64_t length = text.size() - 8;
  std::memcpy(text.data(), &length, 8);
  return text;
}

/// Checks that sizes match shapes, and that the tensors fill the data section without holes or overlaps.
inline void check_layout(safetensors_header& header, std::string_view origin) {
  const auto corrupt = [&](std::string_view key, const std::string& why) {
    fail(errc::corrupt, {origin, ": \"", key, "\" ", why});
  };
  auto& tensors = header.tensors;
  sort_items(tensors, [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end < b.end : a.key < b.key;
  });
  std::uint64_t filled = 0;
  for (const auto& tensor : tensors) {
    std::uint64_t bytes = 0;
    if (!checked_bytes(tensor.shape, size_of(tensor.type), bytes))
      corrupt(tensor.key, "has a shape of more than 2^64 bytes");
    const auto range = [&] { return "[" + std::to_string(tensor.begin) + ", " + std::to_string(tensor.end) + ")"; };
    if (tensor.end < tensor.begin || tensor.end > header.data_bytes)
      corrupt(tensor.key, "claims bytes " + range() + " of a data section of " + std::to_string(header.data_bytes));
    if (tensor.end - tensor.begin != bytes)
      corrupt(tensor.key, "has " + std::to_string(tensor.end - tensor.begin) + " bytes, but its shape needs " +
                              std::to_string(bytes));
    if (tensor.begin < filled) corrupt(tensor.key, "overlaps another tensor at bytes " + range());
    if (tensor.begin > filled) corrupt(tensor.key, "leaves a hole before it, at byte " + std::to_string(filled));
    filled = tensor.end;
  }
  if (filled != header.data_bytes)
    fail(errc::corrupt, {origin, ": the tensors end at byte ", filled, " of a data section of ", header.data_bytes});
}

safetensors_header read_safetensors_header(const stores::source& file, std::string_view origin,
                                           std::optional<std::uint64_t> expected) {
  const std::uint64_t size = file.size();
  if (size < 8) fail(errc::corrupt, {origin, ": ", size, " bytes are too few for a safetensors file"});
  std::uint64_t length = 0;
  file.read(0, std::as_writable_bytes(std::span(&length, 1)));
  const bool is_possible = length <= size - 8 && length <= max_header_bytes;
  if (is_possible) require_memory(json_memory_factor * length, sentence({origin, ": the header"}));
  const auto text = is_possible ? stores::read_text(file, 0, 8 + length) : std::string();
  if (expected && (!is_possible || checksum(std::as_bytes(std::span(text))) != *expected))
    fail(errc::corrupt, {origin, ": the header does not match its checksum"});
  if (length > size - 8)
    fail(errc::corrupt, {origin, ": the header claims ", length, " bytes, the file has ", size,
                         " (truncated, or no safetensors file; if it is one of PyTorch or numpy, convert it with "
                         "`python -m cairn.convert`)"});
  if (length > max_header_bytes)
    fail(errc::corrupt, {origin, ": the header claims ", length, " bytes, more than any has"});
  safetensors_header header;
  header.data_start = 8 + length;
  header.data_bytes = size - header.data_start;
  header.tensors.reserve(text.size() / 256);
  json_reader io(std::string_view(text).substr(8), origin);
  io.value(header);
  io.end();
  check_layout(header, origin);
  return header;
}

/// {"codec":"lc2","dtype":"F32","shape":[2,3],"relative":1,"max_error":0.5,"relative_l2":0.01}
template <class Io>
void describe(Io& io, described<Io, encoding_info>& how) {
  io.object([&] {
    io.field("codec", how.codec);
    io.field("dtype", how.type);
    io.field("shape", [&] { describe_shape(io, how.shape); });
    io.optional("relative", how.relative);
    describe_loss(io, how.lost);
  });
  io.require(!how.codec.empty(), "is encoded by no codec");
}

/// {"leaf":"w","shape":[10,10],"first":0,"count":70}; a box: {"leaf":"w","shape":[10,10],"begin":[0,4],"end":[3,8]}
template <class Io>
void describe(Io& io, described<Io, slice_info>& slice) {
  std::optional<std::uint64_t> first, count;
  std::optional<box> region;  // its end in place of its shape
  if constexpr (!Io::reads) {
    region = slice.region;
    for (std::size_t d = 0; region && d < region->shape.size(); ++d) region->shape[d] += region->first[d];
    if (!region) first = slice.first;
    if (!region) count = slice.count;
  }
  io.object([&] {
    io.field("leaf", slice.leaf);
    io.field("shape", [&] { describe_shape(io, slice.shape); });
    io.optional("first", first);
    io.optional("count", count);
    io.part("begin", region, &box::first);
    io.part("end", region, &box::shape);
  });
  io.require(first.has_value() == count.has_value() && first.has_value() != region.has_value(),
             "is neither a run nor a box");
  if constexpr (Io::reads) {
    slice.first = first.value_or(0);
    slice.count = count.value_or(0);
    if (!region) return;
    auto& [from, shape] = *region;
    io.require(from.size() == slice.shape.size() && shape.size() == from.size(), "has a box of other dimensions");
    for (std::size_t d = 0; d < from.size(); ++d) {
      io.require(from[d] <= shape[d] && shape[d] <= slice.shape[d], "has a box that is not inside");
      shape[d] -= from[d];
    }
    slice.count = element_count(shape);
    slice.region = std::move(region);
  }
}

[[nodiscard]] inline std::uint64_t required_number(std::string_view text, std::string_view key,
                                                   std::string_view origin) {
  std::uint64_t number = 0;
  if (!read_number(text, number)) fail(errc::corrupt, {origin, ": ", key, " is \"", text, "\", no number"});
  return number;
}

[[nodiscard]] inline std::vector<std::uint64_t> parse_checksums(const std::string& text, std::uint64_t count,
                                                                std::string_view origin) {
  if (text.size() != count * checksum_digits)
    fail(errc::corrupt, {origin, ": ", text.size() / checksum_digits, " checksums for ", count, " blocks of data"});
  std::vector<std::uint64_t> blocks;
  blocks.reserve(text.size() / checksum_digits);
  for (std::size_t at = 0; at < text.size(); at += checksum_digits) {
    const auto value = parse_hex(std::string_view(text).substr(at, checksum_digits));
    if (!value) fail(errc::corrupt, {origin, ": a checksum in cairn.blocks is not hexadecimal"});
    blocks.push_back(*value);
  }
  return blocks;
}

/// Checks that every encoding is of a U8 tensor of the file that is large enough for its elements, and that every slice
/// is a tensor of the file and lies in its leaf.
inline void check_tensors(const safetensors_header& header, const shard_metadata& metadata, std::string_view origin) {
  std::size_t encoded = 0, slices = 0;
  for (const auto& tensor : header.tensors) {
    std::uint64_t bytes = 0;
    if (const auto* how = metadata.encoding_of(tensor)) {
      ++encoded;
      const std::uint64_t stored = tensor.end - tensor.begin;
      if (tensor.type != dtype::u8 || tensor.shape.size() != 1 ||
          !checked_bytes(how->shape, size_of(how->type), bytes) || bytes / max_expansion > stored)
        fail(errc::corrupt, {origin, ": \"", tensor.key, "\" has ", stored, " bytes, too few for the ", name(how->type),
                             to_string(how->shape), " that it is said to hold"});
    }
    if (const auto at = metadata.slices.find(tensor.key); at != metadata.slices.end()) {
      ++slices;
      const auto& slice = at->second;
      const auto [type, shape] = metadata.elements_of(tensor);
      if (!checked_bytes(slice.shape, size_of(type), bytes))
        fail(errc::corrupt, {origin, ": \"", slice.leaf, "\" has a shape of more than 2^64 bytes"});
      const std::uint64_t count = bytes / size_of(type);
      if (*shape != (slice.region ? slice.region->shape : extents{slice.count}) || slice.first > count ||
          slice.count > count - slice.first)
        fail(errc::corrupt,
             {origin, ": \"", tensor.key, "\" does not fit into the leaf that it is said to be a slice of"});
    }
  }
  if (encoded != metadata.encoded.size() || slices != metadata.slices.size())
    fail(errc::corrupt, {origin, ": its metadata name a tensor that is not there"});
}

shard_metadata read_shard_metadata(const safetensors_header& header, std::string_view origin) {
  shard_metadata metadata;
  const auto format = header.metadata.find("cairn.format");
  if (format == header.metadata.end()) return metadata;
  require_version(format->second, origin);
  metadata.is_of_cairn = true;
  bool has_blocks = false;
  for (const auto& [key, value] : header.metadata) {
    const auto malformed = sentence({origin, ": malformed ", key});
    if (key == "cairn.step") {
      metadata.step = required_number(value, key, origin);
    } else if (key == "cairn.block_bytes") {
      if (required_number(value, key, origin) != block_bytes)
        fail(errc::unsupported, {origin, ": blocks of ", value, " bytes instead of ", block_bytes});
    } else if (key == "cairn.blocks") {
      metadata.blocks = parse_checksums(value, block_count(header.data_bytes), origin);
      has_blocks = true;
    } else if (key == "cairn.slices") {
      metadata.slices = from_json<std::map<std::string, slice_info, std::less<>>>(value, malformed);
    } else if (key == "cairn.encoded") {
      metadata.encoded = from_json<encoded_tensors>(value, malformed);
    } else if (key == "cairn.tables") {
      metadata.tables = from_json<stored_tables>(value, malformed);
      for (const auto& [id, lengths] : metadata.tables)
        if (lengths.size() != 256) fail(errc::corrupt, {malformed, ": \"", id, "\" is not 256 digits"});
    } else if (key.starts_with("cairn.") && key != "cairn.format") {
      fail(errc::unsupported, {origin, ": \"", key, "\" in its metadata is from a newer version of cairn"});
    }
  }
  if (!has_blocks) fail(errc::corrupt, {origin, ": cairn.blocks, the checksums, is missing"});
  check_tensors(header, metadata, origin);
  return metadata;
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
    return comes_before(leaves, a, width(a), b, width(b));
  });
}

shard_layout lay_out_shard(std::span<const leaf> leaves, std::vector<write_piece> pieces, std::uint64_t step) {
  sort_pieces(leaves, pieces);
  shard_layout layout;
  std::vector<std::pair<std::string, slice_info>> slices;
  encoded_tensors encoded;
  stored_tables tables;
  std::uint64_t at = 0;
  for (const auto& p : pieces) {
    const leaf& whole = leaves[p.leaf];
    const bool is_whole = p.count == element_count(whole_shape(whole));
    const auto place = place_of(whole, p, 0);
    auto key = is_whole ? whole.path : slice_key(whole.path, place);
    if (!is_whole) slices.push_back({key, {whole.path, whole_shape(whole), place.first, place.count, place.region}});
    const bool is_encoded = p.how != nullptr;
    const std::uint64_t bytes = is_encoded ? p.bytes.size() : p.count * size_of(whole.type);
    if (is_encoded) encoded.emplace(key, *p.how);
    auto shape = is_encoded ? extents{bytes} : p.count == whole.count() ? whole.shape : extents{p.count};
    const auto type = is_encoded ? dtype::u8 : whole.type;
    layout.header.tensors.push_back({std::move(key), type, std::move(shape), at, at + bytes});
    if (p.tables != nullptr) tables.insert(p.tables->begin(), p.tables->end());
    at += bytes;
  }
  auto& metadata = layout.header.metadata;
  metadata["cairn.format"] = format_version;
  metadata["cairn.step"] = std::to_string(step);
  metadata["cairn.block_bytes"] = std::to_string(block_bytes);
  metadata["cairn.blocks"] = std::string(block_count(at) * checksum_digits, '0');
  if (!slices.empty()) {
    json_writer io;
    io.object([&] { io.members(slices); });
    metadata["cairn.slices"] = io.take();
  }
  if (!encoded.empty()) metadata["cairn.encoded"] = to_json(encoded);
  if (!tables.empty()) metadata["cairn.tables"] = to_json(tables);
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

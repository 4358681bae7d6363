// What Cairn's metadata say about a shard, from untrusted bytes.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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
  encodings encoded;  ///< by tensor key
  chain_metadata ties;

  /// The dtype and shape of a tensor's elements, encoded or not.
  [[nodiscard]] std::pair<dtype, const extents*> elements_of(const tensor_entry& tensor) const noexcept {
    const auto at = encoded.find(tensor.key);
    if (at == encoded.end()) return {tensor.type, &tensor.shape};
    return {at->second.type, &at->second.shape};
  }
};

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
    const auto [type, shape] = notes.elements_of(tensor);
    std::uint64_t bytes = 0;
    if (!checked_bytes(note.shape, size_of(type), bytes))
      fail(errc::corrupt, {origin, ": \"", note.leaf, "\" has a shape of more than 2^64 bytes"});
    const std::uint64_t count = bytes / size_of(type);
    if (*shape != extents{note.count} || note.first > count || note.count > count - note.first)
      fail(errc::corrupt,
           {origin, ": \"", tensor.key, "\" does not fit into the leaf that it is said to be a slice of"});
  }
  if (found != notes.slices.size()) fail(errc::corrupt, {origin, ": cairn.slices names a tensor that is not there"});
}

/// Every encoding is of a U8 tensor of the file, which is large enough for the elements that it is said to hold.
inline void check_encodings(const safetensors_header& header, const shard_notes& notes, std::string_view origin) {
  std::size_t found = 0;
  for (const auto& tensor : header.tensors) {
    const auto at = notes.encoded.find(tensor.key);
    if (at == notes.encoded.end()) continue;
    ++found;
    const auto& how = at->second;
    const std::uint64_t stored = tensor.end - tensor.begin;
    std::uint64_t bytes = 0;
    if (tensor.type != dtype::u8 || tensor.shape.size() != 1 || !checked_bytes(how.shape, size_of(how.type), bytes) ||
        bytes / max_expansion > stored)
      fail(errc::corrupt, {origin, ": \"", tensor.key, "\" has ", std::to_string(stored), " bytes, too few for the ",
                           name(how.type), to_string(how.shape), " that it is said to hold"});
    if (how.relative && !notes.ties.parent)
      fail(errc::corrupt,
           {origin, ": \"", tensor.key, "\" is stored relative to a parent, but there is no cairn.parent"});
  }
  if (found != notes.encoded.size()) fail(errc::corrupt, {origin, ": cairn.encoded names a tensor that is not there"});
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
    } else if (key == "cairn.encoded") {
      notes.encoded = read_encodings(value, origin);
    } else if (key == "cairn.parent") {
      notes.ties.parent = read_parent(value, origin);
    } else if (key == "cairn.tables") {
      notes.ties.tables = read_tables(value, origin);
    } else if (key.starts_with("cairn.") && key != "cairn.format") {
      fail(errc::unsupported, {origin, ": \"", key, "\" in its metadata is from a newer version of cairn"});
    }
  }
  if (!has_blocks) fail(errc::corrupt, {origin, ": cairn.blocks, the checksums, is missing"});
  detail::check_encodings(header, notes, origin);
  detail::check_slices(header, notes, origin);
  return notes;
}

}  // namespace cairn

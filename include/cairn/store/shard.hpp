// SPDX-License-Identifier: MIT
// A shard: a safetensors file whose metadata add what only Cairn knows: slices, encodings, code tables, block
// checksums. It is laid out for a writer, and its metadata are read from untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/store/safetensors.hpp"

namespace cairn::inline v0_1::detail {

/// By tensor key.
using encoded_tensors = std::map<std::string, encoding_info, std::less<>>;

/// A stored byte stands for at most this many bytes of elements. This bounds a reader's memory by the size of the file.
inline constexpr std::uint64_t max_expansion = std::uint64_t{1} << 18U;

/// The checkpoint that a delta is built on. The id tells checkpoints of one name apart. It stays the same as long as
/// the checkpoint restores the same values, even when merging stores them in other bytes.
struct checkpoint_ref {
  std::string name;
  std::uint64_t id = 0;

  friend bool operator==(const checkpoint_ref&, const checkpoint_ref&) = default;
};

/// Huffman tables by the digits of their ids, each one hexadecimal digit per byte value. The store does not read them.
using stored_tables = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view format_version = "2";

/// errc::unsupported unless `version` is that of the format which this version of Cairn reads.
inline void require_version(std::string_view version, std::string_view origin) {
  if (version != format_version)
    fail(errc::unsupported, {origin, ": format version \"", version, "\" is not ", format_version,
                             ", the only one that this version of cairn reads"});
}

/// Bytes of a block of a data section, which has one checksum.
inline constexpr std::uint64_t block_bytes = std::uint64_t{64} << 10U;

/// Blocks of `bytes` bytes of data; the last one may be short.
[[nodiscard]] constexpr std::uint64_t block_count(std::uint64_t bytes) noexcept {
  return bytes / block_bytes + (bytes % block_bytes != 0);
}

/// The elements of a leaf that a tensor holds: a run, or a box.
struct slice_info {
  std::string leaf;
  extents shape;            ///< of the whole leaf
  std::uint64_t first = 0;  ///< of a run
  std::uint64_t count = 0;
  std::optional<box> region{};
};

/// What Cairn's metadata say about a shard.
struct shard_metadata {
  bool is_of_cairn = false;  ///< false: another program wrote the file, and nothing of the rest is there
  std::uint64_t step = 0;
  std::vector<std::uint64_t> blocks;                      ///< checksum of every block of the data section
  std::map<std::string, slice_info, std::less<>> slices;  ///< by tensor key
  encoded_tensors encoded;                                ///< by tensor key
  stored_tables tables;

  /// Null for a tensor that is stored as it is.
  [[nodiscard]] const encoding_info* encoding_of(const tensor_entry& tensor) const noexcept {
    const auto at = encoded.find(tensor.key);
    return at == encoded.end() ? nullptr : &at->second;
  }
  /// The dtype and shape of a tensor's elements, encoded or not.
  [[nodiscard]] std::pair<dtype, const extents*> elements_of(const tensor_entry& tensor) const noexcept {
    const auto* const how = encoding_of(tensor);
    return how == nullptr ? std::pair(tensor.type, &tensor.shape) : std::pair(how->type, &how->shape);
  }
};

/// Reads Cairn's metadata of a parsed header. errc::corrupt where they contradict the file, errc::unsupported for
/// another format version and for what a newer version of Cairn wrote; both name `origin`.
[[nodiscard]] shard_metadata read_shard_metadata(const safetensors_header& header, std::string_view origin);

/// The input of the writer. What it refers to must outlive the write.
struct write_piece : piece {
  std::span<const std::byte> bytes{};     ///< the payload, or the elements packed; empty: they are in the leaf's memory
  const encoding_info* how = nullptr;     ///< of the payload; null: the elements are stored as they are
  const stored_tables* tables = nullptr;  ///< the code tables that the payload names; may be null
};

/// A shard to be written: its header with room for checksums, and the piece of every tensor.
struct shard_layout {
  safetensors_header header;
  std::vector<write_piece> pieces;  ///< parallel to header.tensors
  std::string header_text;          ///< the file's first bytes, checksums still zeros
};

/// Lays out the shard that holds `pieces`, in the order of comes_before: an encoded one is of bytes. The same leaves
/// give the same bytes. errc::invalid for a piece that is not part of its leaf.
[[nodiscard]] shard_layout lay_out_shard(std::span<const leaf> leaves, std::vector<write_piece> pieces,
                                         std::uint64_t step);

/// The shape of the array that a leaf is, or is a box of.
[[nodiscard]] inline const extents& whole_shape(const leaf& of) noexcept {
  return of.place ? of.place->whole : of.shape;
}

/// The elements of the whole array that a piece in shard `shard` has.
[[nodiscard]] placed_piece place_of(const leaf& of, const piece& which, std::size_t shard);

/// Puts the checksums of the blocks into the header of the laid-out shard.
void set_block_checksums(shard_layout& layout, std::span<const std::uint64_t> blocks);

}  // namespace cairn::inline v0_1::detail

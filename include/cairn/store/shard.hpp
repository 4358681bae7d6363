// SPDX-License-Identifier: MIT
// The header of any safetensors file; and a shard: such a file whose metadata add what only Cairn knows: slices,
// encodings, code tables, block checksums. Both are laid out for a writer, and read from untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
#include "cairn/store/base.hpp"
#include "cairn/store/layout.hpp"

namespace cairn::inline v0_1::detail {

/// The data section of a shard begins at a multiple of this, so that it can be written with direct I/O.
inline constexpr std::uint64_t data_alignment = 4096;

/// A longer header is refused before it is read. The header of a million tensors has a tenth of this.
inline constexpr std::uint64_t max_header_bytes = std::uint64_t{1} << 30U;

/// One tensor of a file: bytes [begin, end) of the data section.
struct tensor_entry {
  std::string key;
  dtype type{};
  extents shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct safetensors_header {
  std::vector<tensor_entry> tensors;                         ///< in order of their bytes, without gaps
  std::map<std::string, std::string, std::less<>> metadata;  ///< `__metadata__`
  std::uint64_t data_start = 0;                              ///< first byte of the data section in the file
  std::uint64_t data_bytes = 0;
};

/// The product of `shape` and `width`; false when it does not fit 64 bits.
[[nodiscard]] bool checked_bytes(const extents& shape, std::uint64_t width, std::uint64_t& bytes) noexcept;

/// The header at the start of the file: length, JSON, spaces up to a multiple of `data_alignment`. errc::invalid for a
/// key that is not UTF-8, appears twice or is "__metadata__", and for a header above `max_header_bytes`.
[[nodiscard]] std::string write_safetensors_header(const safetensors_header& header);

/// Reads and checks the header of `file`: all sizes and offsets in it are compared with the size of the file before
/// they are used. Accepts any safetensors file, whatever its order and alignment. `origin` names the file in messages.
/// Errors: corrupt; unsupported for a dtype without a C++ type. `expected`: the checksum of all before the data
/// section, if it is known.
[[nodiscard]] safetensors_header read_safetensors_header(const stores::source& file, std::string_view origin,
                                                         std::optional<std::uint64_t> expected = {});

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

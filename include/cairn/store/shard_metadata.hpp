// SPDX-License-Identifier: MIT
// What Cairn's metadata say about a shard, from untrusted bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// By tensor key.
using encoded_tensors = std::map<std::string, encoding_info, std::less<>>;

/// A stored byte stands for at most this many bytes of elements. This bounds a reader's memory by the size of the file.
inline constexpr std::uint64_t max_expansion = std::uint64_t{1} << 18U;

/// {"w":{"codec":"lc2","dtype":"F32","shape":[2,3],"relative":1,"max_error":0.5,"relative_l2":0.01,"delta_l2":0.2}}. The last four are
/// left out where they do not apply. errc::invalid for names that are not UTF-8.
[[nodiscard]] std::string write_encoded_tensors(const encoded_tensors& all);

/// The encodings of `text`. errc::corrupt names `origin`.
[[nodiscard]] encoded_tensors read_encoded_tensors(std::string_view text, std::string_view origin);

/// The checkpoint that a delta is built on. The id tells checkpoints of one name apart. It stays the same as long as the checkpoint
/// restores the same values, even when merging stores them in other bytes.
struct checkpoint_ref {
  std::string name;
  std::uint64_t id = 0;

  friend bool operator==(const checkpoint_ref&, const checkpoint_ref&) = default;
};

/// Huffman tables by the digits of their ids, each one hexadecimal digit per byte value. The store does not read them.
using stored_tables = std::map<std::string, std::string, std::less<>>;

/// {"0123456789abcdef":"<256 digits>"}
[[nodiscard]] std::string write_tables(const stored_tables& tables);

/// The tables of `text`. errc::corrupt names `origin`.
[[nodiscard]] stored_tables read_tables(std::string_view text, std::string_view origin);

/// {"name":"step-000000120","id":"0123456789abcdef"}
void write_parent(json_writer& json, const checkpoint_ref& parent);

/// The form of a parent, which is read into `parent`.
[[nodiscard]] json_form parent_form(checkpoint_ref& parent);

/// The form of a string of 16 hexadecimal digits, whose number is passed to `use`.
[[nodiscard]] json_form digits_form(std::function<void(std::uint64_t)> use);

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

  /// The dtype and shape of a tensor's elements, encoded or not.
  [[nodiscard]] std::pair<dtype, const extents*> elements_of(const tensor_entry& tensor) const noexcept {
    const auto at = encoded.find(tensor.key);
    if (at == encoded.end()) return {tensor.type, &tensor.shape};
    return {at->second.type, &at->second.shape};
  }
};

/// Reads Cairn's metadata of a parsed header. errc::corrupt where they contradict the file, errc::unsupported for another
/// format version and for what a newer version of Cairn wrote; both name `origin`.
[[nodiscard]] shard_metadata read_shard_metadata(const safetensors_header& header, std::string_view origin);

/// "w[0:70]":{"leaf":"w","shape":[10,10],"first":0,"count":70}, or for a box "w[0:3,4:8]":{"leaf":"w","shape":[10,10],"begin":[0,4],"end":[3,8]}
void write_slice(json_writer& json, std::string_view key, const slice_info& slice);

}  // namespace cairn::inline v0_1::detail

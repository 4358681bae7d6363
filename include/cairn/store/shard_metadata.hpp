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
#include "cairn/core/leaf.hpp"
#include "cairn/core/structure.hpp"
#include "cairn/store/chain_metadata.hpp"
#include "cairn/store/encoded_tensors.hpp"
#include "cairn/store/safetensors.hpp"

namespace cairn::inline v0_1::detail {

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

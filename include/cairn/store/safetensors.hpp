// SPDX-License-Identifier: MIT
// The header of a safetensors file: written, and parsed from untrusted bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/store/base.hpp"

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

}  // namespace cairn::inline v0_1::detail

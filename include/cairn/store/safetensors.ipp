// SPDX-License-Identifier: MIT
// Definitions of safetensors.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/store/leaf_text.hpp"
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

}  // namespace cairn::inline v0_1::detail

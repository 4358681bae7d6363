// SPDX-License-Identifier: MIT
// Definitions of safetensors.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>

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

std::string write_safetensors_header(const safetensors_header& header) {
  json_writer json;
  json.begin_object().key("__metadata__").begin_object();
  for (const auto& [key, value] : header.metadata) json.key(key, "the metadata key").text(value, "the metadata");
  json.end_object();
  std::vector<std::string_view> keys;
  for (const auto& tensor : header.tensors) {
    keys.push_back(tensor.key);
    if (tensor.key == "__metadata__") fail(errc::invalid, {"no leaf can have the path \"__metadata__\""});
    json.key(tensor.key, "the path").begin_object().key("dtype").text(name(tensor.type));
    write_shape(json.key("shape"), tensor.shape);
    json.key("data_offsets").begin_list().natural(tensor.begin).natural(tensor.end).end_list().end_object();
  }
  sort_items(keys, std::less<>());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
    fail(errc::invalid, {"two leaves have the path \"", *twice,
                         "\", or one has it and the name of a part of another, as in "
                         "\"w[0:70]\": a file can have it once"});
  auto text = std::string(8, '\0') + json.end_object().take();
  text.append((data_alignment - text.size() % data_alignment) % data_alignment, ' ');
  if (text.size() > max_header_bytes)
    fail(errc::invalid, {header.tensors.size(), " leaves are too many for one shard"});
  const std::uint64_t length = text.size() - 8;
  std::memcpy(text.data(), &length, 8);
  return text;
}

/// The dtype of a tensor. errc::unsupported for one that has no C++ type, corrupt for one that safetensors does not have.
[[nodiscard]] inline dtype read_dtype(std::string_view text, std::string_view key, std::string_view origin) {
  if (const auto type = parse_dtype(text)) return *type;
  for (const std::string_view known : {"F4", "F6_E2M3", "F6_E3M2", "F8_E8M0", "C64"})
    if (text == known)
      fail(errc::unsupported, {origin, ": \"", key, "\" has the dtype ", text, ", which cairn cannot hold"});
  fail(errc::corrupt, {origin, ": \"", key, "\" has the unknown dtype \"", text, "\""});
}

/// The form of a header, whose metadata and tensors are read into `header`. A tensor that appears twice is found when the leaves are
/// assembled, which sorts the keys.
[[nodiscard]] inline json_form header_form(safetensors_header& header, std::string_view origin) {
  const auto set_type = [&header, origin](const json_value& type) {
    auto& tensor = header.tensors.back();
    tensor.type = read_dtype(type.text, tensor.key, origin);
  };
  const auto offsets = std::make_shared<unsigned>(0);  // of the present tensor
  const auto add_offset = [&header, offsets](const json_value& offset) {
    auto& tensor = header.tensors.back();
    if (*offsets == 2) return "has more than two numbers";
    ((*offsets)++ == 0 ? tensor.begin : tensor.end) = offset.natural;
    return "";
  };
  const auto check_offsets = [offsets](std::string_view) {
    return *offsets == 2 ? "" : "lacks one of its two numbers";
  };
  auto tensor = json_object({{"dtype", json_text(set_type)},
                             {"shape", shape_form([&header]() -> extents& { return header.tensors.back().shape; })},
                             {"data_offsets", json_list(json_natural(add_offset), {}, check_offsets)}});
  const auto add_tensor = [&header, offsets](std::string_view key) {
    header.tensors.push_back({std::string(key), {}, {}, 0, 0});
    *offsets = 0;
    return true;
  };
  const auto last = std::make_shared<std::string*>();
  auto metadata = json_map(json_text([last](const json_value& value) { **last = value.text; }),
                           [&header, last](std::string_view key) { return make_member(header.metadata, key, *last); });
  auto root = json_map(std::move(tensor), add_tensor);
  root.fields.push_back({"__metadata__", std::move(metadata), false});
  return root;
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
  read_json(std::string_view(text).substr(8), origin, header_form(header, origin));
  check_layout(header, origin);
  return header;
}

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// Definitions of shard_metadata.hpp.
#pragma once

#include <cstddef>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/leaf_text.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/shard_metadata.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/number_text.hpp"

namespace cairn::inline v0_1::detail {

std::string write_encoded_tensors(const encoded_tensors& all) {
  json_writer json;
  json.begin_object();
  for (const auto& [key, how] : all) {
    json.key(key, "the path").begin_object();
    json.key("codec").text(how.codec, "the codec's name").key("dtype").text(name(how.type));
    write_shape(json.key("shape"), how.shape);
    if (how.relative) json.key("relative").natural(1);
    if (how.lost) write_loss(json, *how.lost);
    json.end_object();
  }
  return json.end_object().take();
}

encoded_tensors read_encoded_tensors(std::string_view text, std::string_view origin) {
  encoded_tensors all;
  encoding_info* how = nullptr;
  const auto lost = [&]() -> loss& { return how->lost ? *how->lost : how->lost.emplace(); };
  const auto set_codec = [&](const json_value& codec) {
    how->codec = codec.text;
    return codec.text.empty() ? "is empty" : "";
  };
  const auto set_relative = [&](const json_value& flag) {
    how->relative = flag.natural == 1;
    return flag.natural > 1 ? "is neither 0 nor 1" : "";
  };
  const auto one = json_object({{"codec", json_text(set_codec)},
                                {"dtype", dtype_form([&]() -> dtype& { return how->type; })},
                                {"shape", shape_form([&]() -> extents& { return how->shape; })},
                                {"relative", json_natural(set_relative), false},
                                loss_field("max_error", lost),
                                loss_field("relative_l2", lost),
                                loss_field("delta_l2", lost)});
  read_json(text, sentence({origin, ": malformed cairn.encoded"}),
            json_map(one, [&](std::string_view key) { return make_member(all, key, how); }));
  return all;
}

void write_parent(json_writer& json, const checkpoint_ref& parent) {
  json.begin_object().key("name").text(parent.name, "the parent's name");
  json.key("id").text(to_hex(parent.id)).end_object();
}

json_form digits_form(std::function<void(std::uint64_t)> use) {
  return json_text([use = std::move(use)](const json_value& digits) {
    const auto value = parse_hex(digits.text);
    if (value) use(*value);
    return value ? "" : "is not 16 hexadecimal digits";
  });
}

json_form parent_form(checkpoint_ref& parent) {
  const auto set_name = [&](const json_value& name) {
    parent.name = name.text;
    return is_checkpoint_name(name.text) ? "" : "cannot name a checkpoint";
  };
  return json_object({{"name", json_text(set_name)}, {"id", digits_form([&](std::uint64_t id) { parent.id = id; })}});
}

std::string write_tables(const stored_tables& tables) {
  json_writer json;
  json.begin_object();
  for (const auto& [id, lengths] : tables) json.key(id, "the table's id").text(lengths, "the table");
  return json.end_object().take();
}

stored_tables read_tables(std::string_view text, std::string_view origin) {
  stored_tables tables;
  std::string* table = nullptr;
  read_json(text, sentence({origin, ": malformed cairn.tables"}),
            json_map(json_text([&](const json_value& lengths) {
                       *table = lengths.text;
                       return lengths.text.size() == 256 ? "" : "is not 256 digits";
                     }),
                     [&](std::string_view id) { return make_member(tables, id, table); }));
  return tables;
}

void write_slice(json_writer& json, std::string_view key, const slice_info& slice) {
  json.key(key, "the path").begin_object().key("leaf").text(slice.leaf, "the path");
  write_shape(json.key("shape"), slice.shape);
  if (!slice.region)
    return static_cast<void>(json.key("first").natural(slice.first).key("count").natural(slice.count).end_object());
  const auto& [first, shape] = *slice.region;
  extents end(first);
  for (std::size_t d = 0; d < end.size(); ++d) end[d] += shape[d];
  write_shape(json.key("begin"), first);
  write_shape(json.key("end"), end);
  json.end_object();
}

[[nodiscard]] inline std::map<std::string, slice_info, std::less<>> read_slices(std::string_view text,
                                                                                std::string_view origin) {
  std::map<std::string, slice_info, std::less<>> slices;
  slice_info* slice = nullptr;
  unsigned members = 0;  // 1: first, 2: count, 4: begin, 8: end
  const auto count_of = [&](unsigned which, std::uint64_t& of, const json_value& number) {
    members |= which;
    of = number.natural;
  };
  const auto region = [&](unsigned which) -> box& {
    members |= which;
    return slice->region ? *slice->region : slice->region.emplace();
  };
  const auto close = [&](std::string_view) {
    if (members == 3 && !slice->region) return "";
    if (members != 12 && members != 0) return "is neither a run nor a box";
    auto& [first, shape] = region(0);  // `shape` is the end so far
    if (first.size() != slice->shape.size() || shape.size() != first.size()) return "has a box of other dimensions";
    slice->count = 1;
    for (std::size_t d = 0; d < first.size(); ++d) {
      if (first[d] > shape[d] || shape[d] > slice->shape[d]) return "has a box that is not inside";
      shape[d] -= first[d];
    }
    slice->count = element_count(shape);
    return "";
  };
  const auto one = json_object(
      {{"leaf", json_text([&](const json_value& path) { slice->leaf = path.text; })},
       {"shape", shape_form([&]() -> extents& { return slice->shape; })},
       {"first", json_natural([&](const json_value& number) { count_of(1, slice->first, number); }), false},
       {"count", json_natural([&](const json_value& number) { count_of(2, slice->count, number); }), false},
       {"begin", shape_form([&]() -> extents& { return region(4).first; }), false},
       {"end", shape_form([&]() -> extents& { return region(8).shape; }), false}},
      [&](std::string_view) { members = 0; }, close);
  read_json(text, sentence({origin, ": malformed cairn.slices"}),
            json_map(one, [&](std::string_view key) { return make_member(slices, key, slice); }));
  return slices;
}

[[nodiscard]] inline std::uint64_t required_number(std::string_view text, std::string_view key,
                                                   std::string_view origin) {
  std::uint64_t number = 0;
  if (!read_number(text, number)) fail(errc::corrupt, {origin, ": ", key, " is \"", text, "\", no number"});
  return number;
}

[[nodiscard]] inline std::vector<std::uint64_t> read_blocks(const std::string& text, std::uint64_t count,
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

/// Checks that every slice is a tensor of the file and lies in its leaf.
inline void check_slices(const safetensors_header& header, const shard_metadata& metadata, std::string_view origin) {
  std::size_t found = 0;
  for (const auto& tensor : header.tensors) {
    const auto at = metadata.slices.find(tensor.key);
    if (at == metadata.slices.end()) continue;
    ++found;
    const auto& slice = at->second;
    const auto [type, shape] = metadata.elements_of(tensor);
    std::uint64_t bytes = 0;
    if (!checked_bytes(slice.shape, size_of(type), bytes))
      fail(errc::corrupt, {origin, ": \"", slice.leaf, "\" has a shape of more than 2^64 bytes"});
    const std::uint64_t count = bytes / size_of(type);
    if (*shape != (slice.region ? slice.region->shape : extents{slice.count}) || slice.first > count ||
        slice.count > count - slice.first)
      fail(errc::corrupt,
           {origin, ": \"", tensor.key, "\" does not fit into the leaf that it is said to be a slice of"});
  }
  if (found != metadata.slices.size()) fail(errc::corrupt, {origin, ": cairn.slices names a tensor that is not there"});
}

/// Checks that every encoding is of a U8 tensor of the file that is large enough for its elements.
inline void check_encodings(const safetensors_header& header, const shard_metadata& metadata, std::string_view origin) {
  std::size_t found = 0;
  for (const auto& tensor : header.tensors) {
    const auto at = metadata.encoded.find(tensor.key);
    if (at == metadata.encoded.end()) continue;
    ++found;
    const auto& how = at->second;
    const std::uint64_t stored = tensor.end - tensor.begin;
    std::uint64_t bytes = 0;
    if (tensor.type != dtype::u8 || tensor.shape.size() != 1 || !checked_bytes(how.shape, size_of(how.type), bytes) ||
        bytes / max_expansion > stored)
      fail(errc::corrupt, {origin, ": \"", tensor.key, "\" has ", stored, " bytes, too few for the ", name(how.type),
                           to_string(how.shape), " that it is said to hold"});
  }
  if (found != metadata.encoded.size())
    fail(errc::corrupt, {origin, ": cairn.encoded names a tensor that is not there"});
}

shard_metadata read_shard_metadata(const safetensors_header& header, std::string_view origin) {
  shard_metadata metadata;
  const auto format = header.metadata.find("cairn.format");
  if (format == header.metadata.end()) return metadata;
  require_version(format->second, origin);
  metadata.is_of_cairn = true;
  bool has_blocks = false;
  for (const auto& [key, value] : header.metadata) {
    if (key == "cairn.step") {
      metadata.step = required_number(value, key, origin);
    } else if (key == "cairn.block_bytes") {
      if (required_number(value, key, origin) != block_bytes)
        fail(errc::unsupported, {origin, ": blocks of ", value, " bytes instead of ", block_bytes});
    } else if (key == "cairn.blocks") {
      metadata.blocks = read_blocks(value, block_count(header.data_bytes), origin);
      has_blocks = true;
    } else if (key == "cairn.slices") {
      metadata.slices = read_slices(value, origin);
    } else if (key == "cairn.encoded") {
      metadata.encoded = read_encoded_tensors(value, origin);
    } else if (key == "cairn.tables") {
      metadata.tables = read_tables(value, origin);
    } else if (key.starts_with("cairn.") && key != "cairn.format") {
      fail(errc::unsupported, {origin, ": \"", key, "\" in its metadata is from a newer version of cairn"});
    }
  }
  if (!has_blocks) fail(errc::corrupt, {origin, ": cairn.blocks, the checksums, is missing"});
  check_encodings(header, metadata, origin);
  check_slices(header, metadata, origin);
  return metadata;
}

}  // namespace cairn::inline v0_1::detail

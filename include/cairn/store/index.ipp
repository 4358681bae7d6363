// SPDX-License-Identifier: MIT
// Definitions of index.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/indexed_leaves.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/store/shard_metadata.hpp"
#include "cairn/store/structure.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

std::uint64_t checkpoint_id(const checkpoint_index& index) noexcept {
  if (index.id) return *index.id;
  running_checksum sum;
  const auto add = [&](const std::uint64_t& number) { sum.add(std::as_bytes(std::span(&number, 1))); };
  for (const auto& shard : index.shards) add(shard.header_checksum);
  if (index.parent) add(index.parent->id);
  return sum.value();
}

inline constexpr std::string_view zero_checksum = "0000000000000000";

std::uint64_t index_checksum(std::string_view text) {
  const auto bytes = [](std::string_view part) { return std::as_bytes(std::span(part.data(), part.size())); };
  running_checksum sum;
  sum.add(bytes(index_opening));
  sum.add(bytes(zero_checksum));
  sum.add(bytes(text.substr(index_opening.size() + checksum_digits)));
  return sum.value();
}

inline void write_info(json_writer& json, const checkpoint_info& info) {
  json.key("metrics").begin_object();
  for (const auto& [name, value] : info.metrics) json.key(name, "the metric").real(value);
  json.end_object();
  if (!info.metadata.empty()) {
    json.key("user").begin_object();
    for (const auto& [name, text] : info.metadata) json.key(name, "the metadata key").text(text, "the metadata");
    json.end_object();
  }
  if (!info.notes.empty()) {
    json.key("notes").begin_object();
    for (const auto& [name, numbers] : info.notes) {
      json.key(name, "the note").begin_list();
      for (const double number : numbers) json.real(number);
      json.end_list();
    }
    json.end_object();
  }
}

std::string write_index(const checkpoint_index& index) {
  json_writer json;
  json.begin_object().key("metadata").begin_object();
  json.key("checksum").text(zero_checksum).key("format").text("cairn").key("version").text(format_version);
  json.key("step").natural(index.info.step).key("total_size").natural(index.total_size);
  if (index.parent) write_parent(json.key("parent"), *index.parent);
  if (index.id) json.key("id").text(to_hex(*index.id));
  write_info(json, index.info);
  json.key("shards").begin_list();
  for (const auto& shard : index.shards) {
    json.line().begin_object().key("file").text(shard.file, "the file").key("bytes").natural(shard.bytes);
    json.key("header_xxh3").text(to_hex(shard.header_checksum));
    if (!shard.role.empty()) json.key("role").text(shard.role, "the role");
    json.end_object();
  }
  json.end_list().end_object().line().key("leaves").begin_list();
  for (std::size_t i = 0; i < index.leaves.size(); ++i) write_leaf(json, index.leaves[i], index.storage[i]);
  json.end_list().line();
  write_structure(json.key("structure"), index.structure);
  json.line().key("weight_map").begin_object();
  for (std::size_t i = 0; i < index.leaves.size(); ++i)
    if (const auto& layout = index.storage[i].layout; layout.cuts == nullptr)
      json.line().key(index.leaves[i].path, "the path").text(index.shards[layout.shard].file, "the file");
  auto text = json.end_object().end_object().take() + '\n';
  if (text.size() > max_header_bytes)
    fail(errc::invalid, {index.leaves.size(), " leaves are too many for one checkpoint"});
  text.replace(index_opening.size(), checksum_digits, to_hex(index_checksum(text)));
  return text;
}

/// The members that are being read.
struct info_members {
  double* metric = nullptr;
  std::string* text = nullptr;
  std::vector<double>* note = nullptr;
};

/// The form of the member `metadata`, which is read into `index`.
[[nodiscard]] inline json_form metadata_form(checkpoint_index& index, std::string_view origin) {
  const auto check_version = [origin](const json_value& version) { require_version(version.text, origin); };
  const auto parent = std::make_shared<checkpoint_ref>();
  auto parent_field = parent_form(*parent);
  parent_field.close = [&index, parent](std::string_view) {
    index.parent = *parent;
    return "";
  };
  const auto numbers = std::make_shared<std::deque<double>>();  // of the present note
  const auto members = std::make_shared<info_members>();
  const auto note = json_list(json_real([numbers](const json_value& number) { numbers->push_back(number.real); }), {},
                              [members, numbers](std::string_view) {  // exactly the memory that it needs
                                members->note->assign(numbers->begin(), numbers->end());
                                numbers->clear();
                                return "";
                              });
  const auto shard = json_object(
      {{"file", json_text([&index](const json_value& file) { index.shards.back().file = file.text; })},
       {"bytes", json_natural([&index](const json_value& bytes) { index.shards.back().bytes = bytes.natural; })},
       {"header_xxh3", digits_form([&index](std::uint64_t value) { index.shards.back().header_checksum = value; })},
       {"role", json_text([&index](const json_value& role) { index.shards.back().role = role.text; }), false}},
      [&index](std::string_view) { index.shards.emplace_back(); });
  return json_object(
      {{"checksum", json_text([](const json_value&) {})},
       {"format", json_text([](const json_value& format) { return format.text == "cairn" ? "" : "is not \"cairn\""; })},
       {"version", json_text(check_version)},
       {"step", json_natural([&index](const json_value& step) { index.info.step = step.natural; })},
       {"total_size", json_natural([&index](const json_value& bytes) { index.total_size = bytes.natural; })},
       {"parent", parent_field, false},
       {"id", digits_form([&index](std::uint64_t id) { index.id = id; }), false},
       {"metrics", json_map(json_real([members](const json_value& number) { *members->metric = number.real; }),
                            [&index, members](std::string_view name) {
                              return make_member(index.info.metrics, name, members->metric);
                            })},
       {"user",
        json_map(
            json_text([members](const json_value& text) { *members->text = text.text; }),
            [&index, members](std::string_view name) { return make_member(index.info.metadata, name, members->text); }),
        false},
       {"notes",
        json_map(note, [&index,
                        members](std::string_view name) { return make_member(index.info.notes, name, members->note); }),
        false},
       {"shards", json_list(shard)}});
}

/// Checks the parts of an index against each other.
inline void check_parts(const checkpoint_index& index, std::string_view origin) {
  std::uint64_t bytes = 0;
  for (const auto& shard : index.shards) bytes += shard.bytes;
  const auto has_leaves = [](const index_shard& shard) { return shard.role.empty(); };
  const auto others = std::find_if_not(index.shards.begin(), index.shards.end(), has_leaves);
  if (std::any_of(others, index.shards.end(), has_leaves))
    fail(errc::corrupt, {origin, ": shards of other roles are not the last ones"});
  const auto shards = static_cast<std::size_t>(others - index.shards.begin());
  constexpr std::uint64_t least_piece_bytes = 32;  // in the header of a shard
  for (std::size_t i = 0; i < index.leaves.size(); ++i) {
    const auto& [path, type, shape] = index.leaves[i];
    const auto& storage = index.storage[i];
    const auto corrupt = [&](std::string_view why) { fail(errc::corrupt, {origin, ": \"", path, "\" ", why}); };
    std::uint64_t needed = 0;
    if (!checked_bytes(shape, size_of(type), needed)) corrupt("has a shape of more than 2^64 bytes");
    const auto stored = storage.encoded ? storage.encoded->stored : needed;
    if (stored > index.total_size || needed / max_expansion > stored)
      corrupt(sentence({"has ", stored, " stored bytes, too few or too many for its elements or its checkpoint"}));
    if (storage.encoded && storage.encoded->relative && !index.parent)
      corrupt("is stored relative to a parent, but there is none");
    if (const auto fault = find_fault(storage.layout, shape, shards, bytes / least_piece_bytes); !fault.empty())
      corrupt(fault);
  }
}

[[noreturn]] inline void refuse_index(std::string_view origin) {
  fail(errc::corrupt, {origin, ": not the index of a cairn checkpoint"});
}

checkpoint_index parse_index(std::string_view text, std::string_view origin, index_part part) {
  const std::size_t opening = index_opening.size();
  if (!text.starts_with(index_opening) || text.size() < opening + checksum_digits) refuse_index(origin);
  const auto stored = parse_hex(text.substr(opening, checksum_digits));
  if (!stored || *stored != index_checksum(text))
    fail(errc::corrupt, {origin, ": its checksum does not match: truncated or damaged"});
  checkpoint_index index{.text_bytes = text.size()};
  leaf_reader leaves(index.leaves, index.storage);
  std::vector<json_field> fields{{"metadata", metadata_form(index, origin), true, part == index_part::metadata}};
  if (part == index_part::all) {
    auto leaves_form = leaves.form(), form_of_structure = structure_form(index.structure, text.size());
    fields.push_back({"leaves", std::move(leaves_form)});
    fields.push_back({"structure", std::move(form_of_structure)});
    fields.push_back({"weight_map", {}});
  }
  read_json(text, sentence({origin, ": malformed index"}), json_object(std::move(fields)));
  for (std::size_t i = 0; i < index.shards.size(); ++i)
    if (index.shards[i].file != shard_file(i, index.shards.size()))
      fail(errc::corrupt, {origin, ": shard ", i, " is called \"", index.shards[i].file, "\""});
  check_parts(index, origin);
  return index;
}

checkpoint_index read_index(const any_store& store, std::string_view name, index_part part) {
  const auto file = store.open(name, index_file);
  const auto origin = sentence({store.location(), "/", name, "/", index_file});
  if (file->size() > max_header_bytes)
    fail(errc::corrupt, {origin, ": ", file->size(), " bytes are more than any index has"});
  const auto opening = stores::read_text(*file, 0, std::min<std::uint64_t>(file->size(), index_opening.size()));
  if (opening != index_opening) refuse_index(origin);  // before all of it is read
  require_memory(json_memory_factor * file->size(), origin);
  return parse_index(stores::read_text(*file, 0, file->size()), origin, part);
}

bool is_published(const any_store& store, checkpoint_ref which) {
  try {
    std::optional<std::uint64_t> child_step;
    while (true) {
      auto index = read_index(store, which.name);
      const auto step = index.info.step;
      if (checkpoint_id(index) != which.id || (child_step && step >= *child_step)) return false;
      if (!index.parent) return true;
      child_step = step;
      which = std::move(*index.parent);
    }
  } catch (const error&) {
    return false;
  }
}

}  // namespace cairn::inline v0_1::detail

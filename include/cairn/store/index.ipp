// Definitions of index.hpp.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/chain_metadata.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/store/shard_metadata.hpp"
#include "cairn/system/json.hpp"

namespace cairn::detail {

CAIRN_INLINE std::uint64_t checkpoint_id(const checkpoint_index& index) noexcept {
  if (index.id) return *index.id;
  running_checksum sum;
  for (const auto& shard : index.shards) sum.add(std::as_bytes(std::span(&shard.header_checksum, 1)));
  return sum.value();
}

inline constexpr std::string_view zero_checksum = "0000000000000000";

CAIRN_INLINE std::uint64_t index_checksum(std::string_view text) {
  const auto bytes = [](std::string_view part) { return std::as_bytes(std::span(part.data(), part.size())); };
  running_checksum sum;
  sum.add(bytes(index_opening));
  sum.add(bytes(zero_checksum));
  sum.add(bytes(text.substr(index_opening.size() + checksum_digits)));
  return sum.value();
}
CAIRN_INLINE std::string write_index(const checkpoint_index& index) {
  json_writer json;
  json.begin_object().key("metadata").begin_object();
  json.key("checksum").text(zero_checksum).key("format").text("cairn").key("version").text(format_version);
  json.key("step").natural(index.info.step).key("total_size").natural(index.total_size);
  if (index.parent) write_parent(json.key("parent"), *index.parent);
  if (index.id) json.key("id").text(to_hex(*index.id));
  json.key("metrics").begin_object();
  for (const auto& [name, value] : index.info.metrics) json.key(name, "the metric").real(value);
  json.end_object();
  if (!index.info.notes.empty()) {
    json.key("notes").begin_object();
    for (const auto& [name, numbers] : index.info.notes) {
      json.key(name, "the note").begin_list();
      for (const double number : numbers) json.real(number);
      json.end_list();
    }
    json.end_object();
  }
  json.key("shards").begin_list();
  for (const auto& shard : index.shards) {
    json.line().begin_object().key("file").text(shard.file, "the file").key("bytes").natural(shard.bytes);
    json.key("header_xxh3").text(to_hex(shard.header_checksum)).end_object();
  }
  json.end_list().end_object().line().key("weight_map").begin_object();
  for (const auto& [key, file] : index.weight_map) json.line().key(key, "the path").text(file, "the file");
  auto text = json.end_object().end_object().take() + '\n';
  if (text.size() > max_header_bytes)
    fail(errc::invalid, {index.weight_map.size(), " leaves are too many for one checkpoint"});
  text.replace(index_opening.size(), checksum_digits, to_hex(index_checksum(text)));
  return text;
}

/// The fields of an index, whose checksum has been compared.
[[nodiscard]] inline checkpoint_index read_index_fields(std::string_view text, std::string_view origin) {
  checkpoint_index index;
  bool has_version = false, has_parent = false;
  checkpoint_ref parent;
  std::deque<double> numbers;  // of the present note
  const auto check_version = [&](std::string_view version) {
    has_version = true;
    if (version != format_version)
      fail(errc::unsupported, {origin, ": format version \"", version, "\" is not ", format_version,
                               ", the only one that this version of cairn reads"});
  };
  auto parent_field = parent_form(parent);
  parent_field.open = [&](std::string_view) { has_parent = true; };
  const auto note = json_list(
      json_real([&](const json_value& number) { numbers.push_back(number.real); }), {}, [&](std::string_view name) {
        index.info.notes[std::string(name)].assign(numbers.begin(), numbers.end());  // exactly the memory that it needs
        numbers.clear();
        return "";
      });
  const auto shard = json_object(
      {{"file", json_text([&](const json_value& file) { index.shards.back().file = file.text; })},
       {"bytes", json_natural([&](const json_value& bytes) { index.shards.back().bytes = bytes.natural; })},
       {"header_xxh3", digits_form([&](std::uint64_t value) { index.shards.back().header_checksum = value; })}},
      [&](std::string_view) { index.shards.emplace_back(); });
  const auto metadata = json_object(
      {{"checksum", {}},
       {"format", {}},
       {"version", json_text([&](const json_value& version) { check_version(version.text); }), false},
       {"step", json_natural([&](const json_value& step) { index.info.step = step.natural; })},
       {"total_size", json_natural([&](const json_value& bytes) { index.total_size = bytes.natural; })},
       {"parent", parent_field, false},
       {"id", digits_form([&](std::uint64_t id) { index.id = id; }), false},
       {"metrics",
        json_map(json_real([&](const json_value& metric) { index.info.metrics.emplace(metric.key, metric.real); }))},
       {"notes", json_map(note), false},
       {"shards", json_list(shard)}});
  const auto weight_map =
      json_map(json_text([&](const json_value& file) { index.weight_map.emplace(file.key, file.text); }));
  read_json(text, sentence({origin, ": malformed index"}),
            json_object({{"metadata", metadata}, {"weight_map", weight_map}}));
  if (!has_version) check_version("");
  if (has_parent) index.parent = std::move(parent);
  return index;
}

CAIRN_INLINE checkpoint_index parse_index(std::string_view text, std::string_view origin) {
  const std::size_t opening = index_opening.size();
  if (!text.starts_with(index_opening) || text.size() < opening + checksum_digits)
    fail(errc::corrupt, {origin, ": not the index of a cairn checkpoint"});
  const auto stored = parse_hex(text.substr(opening, checksum_digits));
  if (!stored || *stored != index_checksum(text))
    fail(errc::corrupt, {origin, ": its checksum does not match: truncated or damaged"});
  auto index = read_index_fields(text, origin);
  for (std::size_t i = 0; i < index.shards.size(); ++i)
    if (index.shards[i].file != shard_file(i, index.shards.size()))
      fail(errc::corrupt, {origin, ": shard ", i, " is called \"", index.shards[i].file, "\""});
  return index;
}

CAIRN_INLINE checkpoint_index read_index(const any_store& store, std::string_view name) {
  const auto file = store.open(name, index_file);
  const auto origin = sentence({store.location(), "/", name, "/", index_file});
  if (file->size() > max_header_bytes)
    fail(errc::corrupt, {origin, ": ", file->size(), " bytes are more than any index has"});
  return parse_index(stores::read_text(*file, 0, file->size()), origin);
}

CAIRN_INLINE bool is_published(const any_store& store, checkpoint_ref which) {
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

}  // namespace cairn::detail

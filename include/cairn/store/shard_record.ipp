// SPDX-License-Identifier: MIT
// Definitions of shard_record.hpp.
#pragma once

#include <memory>
#include <utility>

#include "cairn/store/leaf_text.hpp"
#include "cairn/store/shard_record.hpp"
#include "cairn/store/structure.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

std::string write_shard_record(const shard_record& record) {
  json_writer json;
  json.begin_object().key("shards").begin_list();
  for (const auto& each : record.shards)
    json.begin_object()
        .key("file")
        .text(each.file)
        .key("bytes")
        .natural(each.bytes)
        .key("header")
        .natural(each.header_checksum)
        .end_object();
  json.end_list().key("data").natural(record.data_bytes).key("encoded").begin_list();
  for (const auto& [leaf, how] : record.encoded) {
    json.begin_object().key("leaf").natural(leaf).key("codec").text(how.codec).key("stored").natural(how.stored);
    if (how.relative) json.key("relative").natural(1);
    if (how.lost) write_loss(json, *how.lost);
    json.end_object();
  }
  json.end_list().key("own").begin_list();
  for (const auto& each : record.own) {
    write_shape(json.begin_object().key("path").text(each.path).key("dtype").text(name(each.type)).key("shape"),
                each.shape);
    if (each.place) {
      write_shape(json.key("first"), each.place->first);
      write_shape(json.key("whole"), each.place->whole);
    }
    json.end_object();
  }
  write_structure(json.end_list().key("structure"), record.own_structure);
  json.key("sample").begin_list();
  for (const auto hash : record.sample) json.natural(hash);
  json.end_list();
  return json.end_object().take();
}

shard_record read_shard_record(std::string_view text, std::string_view origin) {
  shard_record record;
  struct numbered {
    std::size_t leaf = 0;
    leaf_encoding how{};
  };
  std::vector<numbered> encoded;
  const auto lost = [&]() -> loss& {
    auto& of = encoded.back().how.lost;
    return of ? *of : of.emplace();
  };
  const auto shard = json_object(
      {{"file", json_text([&](const json_value& file) { record.shards.back().file = file.text; })},
       {"bytes", json_natural([&](const json_value& bytes) { record.shards.back().bytes = bytes.natural; })},
       {"header", json_natural([&](const json_value& hash) { record.shards.back().header_checksum = hash.natural; })}},
      [&](std::string_view) { record.shards.emplace_back(); });
  const auto one = json_object(
      {{"leaf", json_natural([&](const json_value& leaf) { encoded.back().leaf = leaf.natural; })},
       {"codec", json_text([&](const json_value& codec) { encoded.back().how.codec = codec.text; })},
       {"stored", json_natural([&](const json_value& bytes) { encoded.back().how.stored = bytes.natural; })},
       {"relative", json_natural([&](const json_value& flag) { encoded.back().how.relative = flag.natural == 1; }),
        false},
       loss_field("max_error", lost),
       loss_field("relative_l2", lost),
       loss_field("delta_l2", lost)},
      [&](std::string_view) { encoded.emplace_back(); });
  std::shared_ptr<box_place> place;  // of the newest own leaf
  const auto place_of_newest = [&]() -> box_place& {
    if (!place) record.own.back().place = place = std::make_shared<box_place>();
    return *place;
  };
  const auto own =
      json_object({{"path", json_text([&](const json_value& path) { record.own.back().path = path.text; })},
                   {"dtype", dtype_form([&]() -> dtype& { return record.own.back().type; })},
                   {"shape", shape_form([&]() -> extents& { return record.own.back().shape; })},
                   {"first", shape_form([&]() -> extents& { return place_of_newest().first; }), false},
                   {"whole", shape_form([&]() -> extents& { return place_of_newest().whole; }), false}},
                  [&](std::string_view) {
                    record.own.emplace_back();
                    place.reset();
                  });
  read_json(
      text, origin,
      json_object({{"shards", json_list(shard)},
                   {"data", json_natural([&](const json_value& bytes) { record.data_bytes = bytes.natural; })},
                   {"encoded", json_list(one)},
                   {"own", json_list(own)},
                   {"structure", structure_form(record.own_structure, text.size())},
                   {"sample",
                    json_list(json_natural([&](const json_value& hash) { record.sample.push_back(hash.natural); }))}}));
  for (auto& each : encoded) record.encoded.insert_or_assign(each.leaf, std::move(each.how));
  return record;
}

std::string write_losses(const std::map<std::string, loss>& lost) {
  json_writer json;
  json.begin_object().key("lost").begin_list();
  for (const auto& [path, each] : lost) {
    write_loss(json.begin_object().key("path").text(path), each);
    json.end_object();
  }
  return json.end_list().end_object().take();
}

std::map<std::string, loss> read_losses(std::string_view text, std::string_view origin) {
  std::vector<std::pair<std::string, loss>> read;
  const auto of_newest = [&]() -> loss& { return read.back().second; };
  const auto one = json_object({{"path", json_text([&](const json_value& path) { read.back().first = path.text; })},
                                loss_field("max_error", of_newest, true),
                                loss_field("relative_l2", of_newest, true),
                                loss_field("delta_l2", of_newest)},
                               [&](std::string_view) { read.emplace_back(); });
  read_json(text, origin, json_object({{"lost", json_list(one)}}));
  return {read.begin(), read.end()};
}

}  // namespace cairn::inline v0_1::detail

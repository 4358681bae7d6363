// Definitions of shard_record.hpp.
#pragma once

#include "cairn/store/shard_record.hpp"
#include "cairn/system/json.hpp"

namespace cairn::detail {

CAIRN_INLINE std::string write_shard_record(const shard_record& record) {
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
    if (how.lost) json.key("max_error").real(how.lost->max_error).key("relative_l2").real(how.lost->relative_l2);
    json.end_object();
  }
  return json.end_list().end_object().take();
}

CAIRN_INLINE shard_record read_shard_record(std::string_view text, std::string_view origin) {
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
       {"max_error", json_real([&](const json_value& error) { lost().max_error = error.real; }), false},
       {"relative_l2", json_real([&](const json_value& error) { lost().relative_l2 = error.real; }), false}},
      [&](std::string_view) { encoded.emplace_back(); });
  read_json(text, origin,
            json_object({{"shards", json_list(shard)},
                         {"data", json_natural([&](const json_value& bytes) { record.data_bytes = bytes.natural; })},
                         {"encoded", json_list(one)}}));
  for (auto& each : encoded) record.encoded.insert_or_assign(each.leaf, std::move(each.how));
  return record;
}

}  // namespace cairn::detail

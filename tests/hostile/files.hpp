// SPDX-License-Identifier: MIT
// Files that are as hard to read as their size allows: JSON of the smallest members, of every kind that a checkpoint
// has.
#pragma once

#include "cairn/core/checksum.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/shard.hpp"
#include "standard.hpp"

namespace hostile {

/// A different short key for each number.
inline std::string key(std::size_t number) {
  static constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string text;
  for (++number; number > 0; number /= digits.size()) text += digits[--number % digits.size()];
  return text;
}

/// Members until the text has about `bytes` bytes: `member(i)` without a comma.
inline std::string members(std::size_t bytes, const std::function<std::string(std::size_t)>& member) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) {
    if (i > 0) text += ',';
    text += member(i);
  }
  return text;
}

/// `"` and `\` escaped: a JSON text inside another one.
inline std::string as_json_text(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

/// A safetensors file without data.
inline std::string lone_file(const std::string& header, std::size_t data_bytes = 0) {
  std::string file(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  return file + header + std::string(data_bytes, '\0');
}

/// One whose header has these members after Cairn's own metadata; `metadata` and `tensors` begin with a comma if they
/// are not empty.
inline std::string shard_file(const std::string& metadata, const std::string& tensors = {},
                              std::size_t data_bytes = 0) {
  return lone_file(R"({"__metadata__":{"cairn.format":")" + std::string(cairn::detail::format_version) +
                       R"(","cairn.step":"1","cairn.block_bytes":")" + std::to_string(cairn::detail::block_bytes) +
                       R"(","cairn.blocks":")" + std::string(16 * cairn::detail::block_count(data_bytes), '0') + "\"" +
                       metadata + "}" + tensors + "}",
                   data_bytes);
}

/// The index's checksum made to hold again.
inline std::string signed_index(std::string text) {
  return text.replace(cairn::detail::index_opening.size(), cairn::detail::checksum_digits,
                      cairn::detail::to_hex(cairn::detail::index_checksum(text)));
}

/// What a newer version of the library might write.
inline std::string of_newer_version(std::string index) {
  const std::string version = "\"version\":\"" + std::string(cairn::detail::format_version) + "\"";
  return signed_index(index.replace(index.find(version), version.size(), "\"version\":\"99\""));
}

/// An index whose checksum holds.
inline std::string index_file(const std::string& metrics, const std::string& notes, const std::string& shards,
                              const std::string& weight_map, const std::string& leaves = {},
                              const std::string& structure = {}, std::uint64_t total_bytes = 0) {
  return signed_index(std::string(cairn::detail::index_opening) + R"(0000000000000000","format":"cairn","version":")" +
                      std::string(cairn::detail::format_version) + R"(","step":1,"total_size":)" +
                      std::to_string(total_bytes) + R"(,"metrics":{)" + metrics + R"(},"notes":{)" + notes +
                      R"(},"shards":[)" + shards + R"(]},"leaves":[)" + leaves + R"(],"structure":{)" + structure +
                      R"(},"weight_map":{)" + weight_map + "}}");
}

/// The same, with members of `user`.
inline std::string with_user(const std::string& members) { return index_file("},\"user\":{" + members, "", "", ""); }

struct file {
  std::string kind;
  std::string text;
  bool is_index = false;  ///< otherwise a shard
};

/// One file of about `bytes` bytes for every kind of member.
inline std::vector<file> files_of(std::size_t bytes) {
  const auto of = [&](const std::function<std::string(std::size_t)>& member) { return members(bytes, member); };
  const auto name = [](std::size_t i) { return '"' + key(i) + '"'; };
  const auto in_text = [&](const std::string& field, const std::string& member) {
    return shard_file(",\"" + field +
                      "\":" + as_json_text("{" + of([&](std::size_t i) { return name(i) + ":" + member; }) + "}"));
  };
  std::string ones = "1";
  while (ones.size() < 127) ones += ",1";
  const std::string empty = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  std::vector<file> all;
  all.push_back({"metrics", index_file(of([&](std::size_t i) { return name(i) + ":1"; }), "", "", ""), true});
  all.push_back({"user", with_user(of([&](std::size_t i) { return name(i) + ":\"\""; })), true});
  all.push_back({"notes", index_file("", of([&](std::size_t i) { return name(i) + ":[]"; }), "", ""), true});
  all.push_back(
      {"numbers of notes", index_file("", "\"a\":[" + of([](std::size_t) { return "1"; }) + "]", "", ""), true});
  all.push_back(
      {"shards",
       index_file("", "", of([](std::size_t) { return R"({"file":"","bytes":0,"header_xxh3":"0000000000000000"})"; }),
                  ""),
       true});
  all.push_back({"weight_map", index_file("", "", "", of([&](std::size_t i) { return name(i) + ":\"\""; })), true});
  all.push_back({"the longest key", index_file("\"" + std::string(bytes, 'x') + "\":1", "", "", ""), true});
  all.push_back({"the longest number", index_file("\"a\":1." + std::string(bytes, '1'), "", "", ""), true});
  all.push_back({"tensors", lone_file("{" + of([&](std::size_t i) { return name(i) + ":" + empty; }) + "}")});
  all.push_back({"dimensions", lone_file("{" + of([&](std::size_t i) {
                                           return name(i) + R"(:{"dtype":"U8","shape":[0,)" + ones.substr(2) +
                                                  R"(],"data_offsets":[0,0]})";
                                         }) +
                                         "}")});
  all.push_back(
      {"metadata", lone_file("{\"__metadata__\":{" + of([&](std::size_t i) { return name(i) + ":\"\""; }) + "}}")});
  all.push_back({"a long value", lone_file("{\"__metadata__\":{\"a\":\"" + std::string(bytes, 'x') + "\"}}")});
  const auto with_structure = [&](const std::string& members) { return index_file("", "", "", "", "", members); };
  for (const auto& [kind, entry] : {std::pair<std::string, std::string>{"sizes", R"({"size":1})"},
                                    {"maps", R"({"keys":[]})"},
                                    {"types", R"({"type":"a long name of a type"})"}})
    all.push_back(
        {kind, with_structure(of([&, value = entry](std::size_t i) { return name(i) + ":" + value; })), true});
  all.push_back({"keys",
                 with_structure("\"a\":{\"keys\":[" + of([&](std::size_t i) {
                                  auto text = name(i);
                                  return text.size() < 5 ? text + std::string(5 - text.size(), ' ') : text;
                                }) +
                                "]}"),
                 true});
  const auto with_leaves = [&](const std::string& leaves) {
    return index_file(
        "", "", R"({"file":"shard-00000-of-00001.safetensors","bytes":1000000000000,"header_xxh3":"0000000000000000"})",
        "", leaves);
  };
  const auto path = [](std::size_t i) {  // in ascending order
    auto digits = std::to_string(i);
    return R"({"path":")" + std::string(7 - digits.size(), '0') + digits + '"';
  };
  all.push_back({"leaves",
                 with_leaves(of([&](std::size_t i) { return path(i) + R"(,"dtype":"U8","shape":[0],"shard":0})"; })),
                 true});
  all.push_back({"shapes", with_leaves(of([&](std::size_t i) {
                   return path(i) + R"(,"dtype":"U8","shape":[0,)" + ones.substr(2) + R"(],"shard":0})";
                 })),
                 true});
  all.push_back(
      {"losses", with_leaves(of([&](std::size_t i) {
         return path(i) +
                R"(,"dtype":"U8","shape":[0],"shard":0,"codec":"a","stored":0,"lost":[0,0],"restored":[0,0,1]})";
       })),
       true});
  const auto one_leaf = [&](const std::string& shape, const std::string& layout) {
    return with_leaves(path(0) + R"(,"dtype":"U8","shape":)" + shape + "," + layout + "}");
  };
  all.push_back({"runs", one_leaf("[999999999]", "\"runs\":[" + of([](std::size_t) { return "0"; }) + "]"), true});
  all.push_back(
      {"cuts", one_leaf("[999999999]", R"("shards":[],"grid":[[)" + of([](std::size_t) { return "0"; }) + "]]"), true});
  all.push_back(
      {"more boxes than bytes",  // in shards that the index says to be large
       index_file("\"" + std::string(bytes, 'x') + "\":1", "",
                  R"({"file":"shard-00000-of-00001.safetensors","bytes":1000000000000,)"
                  R"("header_xxh3":"0000000000000000"})",
                  R"("weight":"shard-00000-of-00001.safetensors")",
                  R"({"path":"weight","dtype":"F32","shape":[9999999],"grid":[[1]],"shards":[[0,9999999,0]]})", "",
                  40'000'000),
       true});
  all.push_back({"dimensions of a grid",
                 one_leaf("[999999999]", R"("shards":[],"grid":[)" + of([](std::size_t) { return "[]"; }) + "]"),
                 true});
  all.push_back(
      {"series of shards",
       one_leaf("[999999999]", R"("grid":[[1]],"shards":[)" + of([](std::size_t) { return "[0,1,1]"; }) + "]"), true});
  all.push_back(
      {"boxes", one_leaf("[9,9]", "\"boxes\":[" + of([](std::size_t) { return "[0,0,0,1,1]"; }) + "]"), true});
  all.push_back({"short boxes", one_leaf("[9,9]", "\"boxes\":[" + of([](std::size_t) { return "[0]"; }) + "]"), true});
  all.push_back({"slices", in_text("cairn.slices", R"({"leaf":"","shape":[],"first":0,"count":0})")});
  all.push_back({"encodings", in_text("cairn.encoded", R"({"codec":"a","dtype":"U8","shape":[]})")});
  all.push_back({"tables", in_text("cairn.tables", "\"\"")});
  std::string described, tensors;
  for (std::size_t i = 0; tensors.size() < bytes / 2; ++i) {
    if (i > 0) described += ',';
    described += name(i) + R"(:{"codec":"a","dtype":"U8","shape":[]})";
    tensors += ',' + name(i) + ':' + empty;
  }
  all.push_back({"encoded tensors", shard_file(",\"cairn.encoded\":" + as_json_text("{" + described + "}"), tensors)});
  return all;
}

}  // namespace hostile

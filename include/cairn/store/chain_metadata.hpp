// What ties a checkpoint to others of its chain: the parent that it is built on, and code tables that are stored once and used in
// several. As JSON text, and back from untrusted text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/system/json.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/checkpoint_ref.hpp"

namespace cairn {

struct chain_metadata {
  std::optional<checkpoint_ref> parent{};  ///< none: the checkpoint is whole
  /// Huffman tables by the digits of their ids, each one hexadecimal digit per byte value: for codecs, the store only keeps them.
  std::map<std::string, std::string, std::less<>> tables{};
};

/// {"name":"step-000000120","id":"0123456789abcdef"}
[[nodiscard]] inline std::string write_parent(const checkpoint_ref& parent) {
  std::string text = "{\"name\":";
  append_json(text, parent.name, "the parent's name");
  return text + ",\"id\":\"" + to_hex(parent.id) + "\"}";
}

namespace detail {

/// Reads one member of a parent's object; false when it is malformed.
[[nodiscard]] inline bool read_parent_field(std::string_view field, const json_event& event, checkpoint_ref& parent) {
  if (event.what != json_event::kind::string) return false;
  if (field == "name") {
    parent.name = event.text;
    return is_checkpoint_name(event.text);
  }
  const auto id = parse_hex(event.text);
  parent.id = id.value_or(0);
  return field == "id" && id.has_value();
}

}  // namespace detail

/// The parent of `text`. errc::corrupt names `origin`.
[[nodiscard]] inline checkpoint_ref read_parent(std::string_view text, std::string_view origin) {
  checkpoint_ref parent;
  unsigned fields = 0;
  const auto refuse = [&] { fail(errc::corrupt, {origin, ": malformed cairn.parent"}); };
  read_json(text, origin, 1, [&](const json_event& event) {
    if (event.at_depth(0)) return;
    ++fields;
    if (!detail::read_parent_field(event.path[0], event, parent)) refuse();
  });
  if (fields != 2) refuse();
  return parent;
}

/// {"0123456789abcdef":"<256 digits>"}
[[nodiscard]] inline std::string write_tables(const std::map<std::string, std::string, std::less<>>& tables) {
  std::string text = "{";
  for (const auto& [id, lengths] : tables) {
    if (text.size() > 1) text += ',';
    append_json(text, id, "the table's id");
    text += ':';
    append_json(text, lengths, "the table");
  }
  return text + "}";
}

/// The tables of `text`. errc::corrupt names `origin`.
[[nodiscard]] inline std::map<std::string, std::string, std::less<>> read_tables(std::string_view text,
                                                                                 std::string_view origin) {
  std::map<std::string, std::string, std::less<>> tables;
  read_json(text, origin, 1, [&](const json_event& event) {
    if (event.at_depth(0)) return;
    if (event.what != json_event::kind::string) fail(errc::corrupt, {origin, ": malformed cairn.tables"});
    tables.emplace(event.path[0], event.text);
  });
  return tables;
}

}  // namespace cairn

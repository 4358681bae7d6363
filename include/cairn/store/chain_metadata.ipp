// SPDX-License-Identifier: MIT
// Definitions of chain_metadata.hpp.
#pragma once

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/chain_metadata.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::detail {

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

}  // namespace cairn::inline v0_1::detail

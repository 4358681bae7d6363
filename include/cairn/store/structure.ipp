// SPDX-License-Identifier: MIT
// Definitions of store/structure.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "cairn/store/structure.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// The field of an entry's kind, and the form of its value.
struct structure_field {
  std::string_view name;
  json_form::kind value;  // natural, text, or a list of texts
};

/// By the kind of an entry.
inline constexpr std::array<structure_field, 9> structure_fields{{{"size", json_form::kind::natural},
                                                                  {"keys", json_form::kind::list},
                                                                  {"engaged", json_form::kind::natural},
                                                                  {"index", json_form::kind::natural},
                                                                  {"type", json_form::kind::text},
                                                                  {"same", json_form::kind::text},
                                                                  {"ranks", json_form::kind::natural},
                                                                  {"version", json_form::kind::natural},
                                                                  {"names", json_form::kind::list}}};

/// Every key takes at least this many bytes of a file. This bounds a reader's memory by the size of the file.
inline constexpr std::uint64_t least_key_bytes = 8;

/// The least bytes of a key in the text. In the file a comma and two backslashes are added.
inline constexpr std::size_t least_key_text = least_key_bytes - 3;

void write_structure(json_writer& json, const structure& all) {
  json.begin_object();
  for (const auto& [path, entry] : all) {
    const auto& [name, value] = structure_fields[static_cast<std::size_t>(entry.what)];
    json.key(path, "the path").begin_object().key(name);
    if (value == json_form::kind::natural) {
      json.natural(entry.number);
    } else if (value == json_form::kind::text) {
      json.text(entry.text, "the name");
    } else {
      json.begin_list();
      for (const auto& key : entry.keys) json.text(key, "the key", least_key_text);
      json.end_list();
    }
    json.end_object();
  }
  json.end_object();
}

std::string write_structure(const structure& all) {
  json_writer json;
  write_structure(json, all);
  return json.take();
}

json_form structure_form(structure& all, std::uint64_t file_bytes) {
  struct reading {
    structure::mapped_type* entry = nullptr;
    unsigned fields = 0;
    std::uint64_t keys_left = 0;
  };
  const auto now = std::make_shared<reading>();
  now->keys_left = file_bytes / least_key_bytes;
  const auto add_key = [now](const json_value& key) {
    if (now->keys_left-- == 0) return "has more keys than the file has room for";
    auto& keys = now->entry->keys;
    if (keys.size() == keys.capacity())
      keys.reserve(std::min<std::size_t>(2 * keys.size() + 4, keys.size() + 1 + now->keys_left));
    keys.emplace_back(key.text);
    return "";
  };
  std::vector<json_field> forms;
  for (std::size_t i = 0; i < structure_fields.size(); ++i) {
    const auto begin = [now, i] {
      now->entry->what = static_cast<structure_entry::kind>(i);
      ++now->fields;
    };
    const auto set = [now, begin](const json_value& value) {
      begin();
      now->entry->number = value.natural;
      now->entry->text = value.text;
    };
    const auto& [name, value] = structure_fields[i];
    auto form = value == json_form::kind::list ? json_list(json_text(add_key), [begin](std::string_view) { begin(); })
                                               : json_scalar(value, set);
    forms.push_back({name, std::move(form), false});
  }
  const auto open = [now](std::string_view) { now->fields = 0; };
  const auto close = [now](std::string_view) { return now->fields == 1 ? "" : "does not have one kind"; };
  return json_map(json_object(std::move(forms), open, close),
                  [&all, now](std::string_view path) { return make_member(all, path, now->entry); });
}

}  // namespace cairn::inline v0_1::detail

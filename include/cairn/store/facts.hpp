// The facts of a structure as JSON text, and back from untrusted text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cairn/core/error.hpp"
#include "cairn/core/structure.hpp"
#include "cairn/system/json.hpp"

namespace cairn {

namespace detail {

enum class fact_payload : std::uint8_t { number, text, keys };

struct fact_form {
  fact::kind what;
  std::string_view name;
  fact_payload payload;
};

inline constexpr std::array<fact_form, 7> fact_forms{{{fact::kind::size, "size", fact_payload::number},
                                                      {fact::kind::keys, "keys", fact_payload::keys},
                                                      {fact::kind::engaged, "engaged", fact_payload::number},
                                                      {fact::kind::index, "index", fact_payload::number},
                                                      {fact::kind::type, "type", fact_payload::text},
                                                      {fact::kind::same, "same", fact_payload::text},
                                                      {fact::kind::ranks, "ranks", fact_payload::number}}};

/// Every key takes at least this many bytes of a file, so that a reader's memory is bounded by the file's
/// size.
inline constexpr std::uint64_t least_key_bytes = 8;

}  // namespace detail

/// {"layers":{"size":3},"moments":{"keys":["bias","weight"]}}: one member per path, the kind's name as its only
/// key.
[[nodiscard]] inline std::string write_facts(const structure& facts) {
  std::string text = "{";
  for (const auto& [path, about] : facts) {
    const auto& form = detail::fact_forms[static_cast<std::size_t>(about.what)];
    if (text.size() > 1) text += ',';
    append_json(text, path, "the path");
    text += ":{\"";
    text += form.name;
    text += "\":";
    if (form.payload == detail::fact_payload::number) {
      text += std::to_string(about.number);
    } else if (form.payload == detail::fact_payload::text) {
      append_json(text, about.text, "the name");
    } else {
      text += '[';
      for (const auto& key : about.keys) {
        if (&key != &about.keys.front()) text += ',';
        const std::size_t from = text.size();
        append_json(text, key, "the key");
        while (text.size() - from < 5) text += ' ';  // with its comma and two backslashes: least_key_bytes
      }
      text += ']';
    }
    text += '}';
  }
  return text + "}";
}

/// The facts of `text`, which came from a file of `file_bytes` bytes. errc::corrupt names `origin`.
[[nodiscard]] inline structure read_facts(std::string_view text, std::string_view origin, std::uint64_t file_bytes) {
  using kind = json_event::kind;
  structure facts;
  fact* about = nullptr;
  bool filled = false;
  std::uint64_t keys_left = file_bytes / detail::least_key_bytes;
  const auto refuse = [&](std::string_view path) {
    fail(errc::corrupt, {origin, ": malformed cairn.structure at \"", path, "\""});
  };
  read_json(text, origin, 4, [&](const json_event& event) {
    if (event.at_depth(0)) return;
    const std::string& path = event.path[0];
    if (event.at_depth(1)) {
      if (event.what == kind::open_object) {
        about = &facts[path];
        filled = false;
      } else if (event.what != kind::close || !filled) {
        refuse(path);
      }
      return;
    }
    if (event.at_depth(3)) {
      if (event.what != kind::string || about->what != fact::kind::keys || keys_left-- == 0) refuse(path);
      auto& keys = about->keys;
      if (keys.size() == keys.capacity())
        keys.reserve(std::min<std::size_t>(2 * keys.size() + 4, keys.size() + 1 + keys_left));
      keys.emplace_back(event.text);
      return;
    }
    if (event.what == kind::close) return;
    const auto form = std::find_if(detail::fact_forms.begin(), detail::fact_forms.end(),
                                   [&](const auto& f) { return f.name == event.path[1]; });
    if (form == detail::fact_forms.end() || filled) return refuse(path);
    filled = true;
    about->what = form->what;
    constexpr kind expected[] = {kind::natural, kind::string, kind::open_array};
    if (event.what != expected[static_cast<std::size_t>(form->payload)]) refuse(path);
    about->number = event.number;
    about->text = event.text;
  });
  return facts;
}

}  // namespace cairn

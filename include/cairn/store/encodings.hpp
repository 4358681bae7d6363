// What a shard says of its encoded tensors, as JSON text, and back from untrusted text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "cairn/core/encoding.hpp"
#include "cairn/core/error.hpp"
#include "cairn/system/json.hpp"
#include "cairn/store/safetensors.hpp"

namespace cairn {

/// By tensor key.
using encodings = std::map<std::string, encoding_info, std::less<>>;

/// No stored byte stands for more bytes of elements than this, so that what a reader allocates is bounded by the file's size.
inline constexpr std::uint64_t max_expansion = std::uint64_t{1} << 18U;

/// {"w":{"codec":"lc2","dtype":"F32","shape":[2,3],"relative":1,"max_error":0.5,"relative_l2":0.01}}; the last three only where
/// they say something. errc::invalid for names that are not UTF-8.
[[nodiscard]] inline std::string write_encodings(const encodings& all) {
  std::string text = "{";
  for (const auto& [key, how] : all) {
    if (text.size() > 1) text += ',';
    append_json(text, key, "the path");
    text += ":{\"codec\":";
    append_json(text, how.codec, "the codec's name");
    text += ",\"dtype\":\"";
    text += name(how.type);
    text += "\",\"shape\":";
    append_json(text, how.shape);
    if (how.relative) text += ",\"relative\":1";
    if (how.lost) {
      text += ",\"max_error\":";
      append_json(text, how.lost->max_error);
      text += ",\"relative_l2\":";
      append_json(text, how.lost->relative_l2);
    }
    text += '}';
  }
  return text + "}";
}

namespace detail {

/// Reads one field of an encoding; false when it is malformed.
[[nodiscard]] inline bool read_encoding_field(const json_event& event, std::string_view field, encoding_info& how) {
  using kind = json_event::kind;
  if (field == "codec") {
    how.codec = event.text;
    return event.what == kind::string && !event.text.empty();
  }
  if (field == "dtype") {
    const auto type = event.what == kind::string ? parse_dtype(event.text) : std::nullopt;
    how.type = type.value_or(dtype::u8);
    return type.has_value();
  }
  if (field == "relative") {
    how.relative = event.number == 1;
    return event.what == kind::natural && event.number <= 1;
  }
  if (!how.lost) how.lost.emplace();
  if (field == "max_error") return read_real(event, how.lost->max_error);
  return field == "relative_l2" && read_real(event, how.lost->relative_l2);
}

}  // namespace detail

/// The encodings of `text`. errc::corrupt names `origin`.
[[nodiscard]] inline encodings read_encodings(std::string_view text, std::string_view origin) {
  using kind = json_event::kind;
  encodings all;
  encoding_info* how = nullptr;
  bool has_codec = false, has_type = false, has_shape = false;
  const auto refuse = [&](std::string_view key) {
    fail(errc::corrupt, {origin, ": malformed cairn.encoded at \"", key, "\""});
  };
  read_json(text, origin, 4, [&](const json_event& event) {
    if (event.at_depth(0)) return;
    const std::string& key = event.path[0];
    if (event.at_depth(1)) {
      if (event.what == kind::open_object) {
        how = &all[key];
        has_codec = has_type = has_shape = false;
      } else if (event.what != kind::close || !has_codec || !has_type || !has_shape) {
        refuse(key);
      }
      return;
    }
    const std::string& field = event.path[1];
    if (event.at_depth(3)) {
      if (field != "shape" || event.what != kind::natural || how->shape.size() == detail::max_dimensions) refuse(key);
      return how->shape.push_back(event.number);
    }
    if (!event.at_depth(2)) return refuse(key);
    if (field == "shape") {
      has_shape = true;
      if (event.what != kind::open_array && event.what != kind::close) refuse(key);
      return;
    }
    has_codec |= field == "codec";
    has_type |= field == "dtype";
    if (!detail::read_encoding_field(event, field, *how)) refuse(key);
  });
  return all;
}

}  // namespace cairn

// SPDX-License-Identifier: MIT
// Definitions of encoded_tensors.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/store/encoded_tensors.hpp"
#include "cairn/store/shape_text.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

CAIRN_INLINE std::string write_encoded_tensors(const encoded_tensors& all) {
  json_writer json;
  json.begin_object();
  for (const auto& [key, how] : all) {
    json.key(key, "the path").begin_object();
    json.key("codec").text(how.codec, "the codec's name").key("dtype").text(name(how.type));
    write_shape(json.key("shape"), how.shape);
    if (how.relative) json.key("relative").natural(1);
    if (how.lost) json.key("max_error").real(how.lost->max_error).key("relative_l2").real(how.lost->relative_l2);
    json.end_object();
  }
  return json.end_object().take();
}

CAIRN_INLINE encoded_tensors read_encoded_tensors(std::string_view text, std::string_view origin) {
  encoded_tensors all;
  encoding_info* how = nullptr;
  const auto lost = [&]() -> loss& { return how->lost ? *how->lost : how->lost.emplace(); };
  const auto set_codec = [&](const json_value& codec) {
    how->codec = codec.text;
    return codec.text.empty() ? "is empty" : "";
  };
  const auto set_type = [&](const json_value& type) {
    const auto parsed = parse_dtype(type.text);
    how->type = parsed.value_or(dtype::u8);
    return parsed ? "" : "is not a known dtype";
  };
  const auto set_relative = [&](const json_value& flag) {
    how->relative = flag.natural == 1;
    return flag.natural > 1 ? "is neither 0 nor 1" : "";
  };
  const auto one = json_object(
      {{"codec", json_text(set_codec)},
       {"dtype", json_text(set_type)},
       {"shape", shape_form([&]() -> extents& { return how->shape; })},
       {"relative", json_natural(set_relative), false},
       {"max_error", json_real([&](const json_value& error) { lost().max_error = error.real; }), false},
       {"relative_l2", json_real([&](const json_value& error) { lost().relative_l2 = error.real; }), false}});
  read_json(text, sentence({origin, ": malformed cairn.encoded"}),
            json_map(one, [&](std::string_view key) { return make_member(all, key, how); }));
  return all;
}

}  // namespace cairn::inline v0_1::detail

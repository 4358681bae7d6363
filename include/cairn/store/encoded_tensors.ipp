// SPDX-License-Identifier: MIT
// Definitions of encoded_tensors.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/store/encoded_tensors.hpp"
#include "cairn/store/loss_text.hpp"
#include "cairn/store/shape_text.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

std::string write_encoded_tensors(const encoded_tensors& all) {
  json_writer json;
  json.begin_object();
  for (const auto& [key, how] : all) {
    json.key(key, "the path").begin_object();
    json.key("codec").text(how.codec, "the codec's name").key("dtype").text(name(how.type));
    write_shape(json.key("shape"), how.shape);
    if (how.relative) json.key("relative").natural(1);
    if (how.lost) write_loss(json, *how.lost);
    json.end_object();
  }
  return json.end_object().take();
}

encoded_tensors read_encoded_tensors(std::string_view text, std::string_view origin) {
  encoded_tensors all;
  encoding_info* how = nullptr;
  const auto lost = [&]() -> loss& { return how->lost ? *how->lost : how->lost.emplace(); };
  const auto set_codec = [&](const json_value& codec) {
    how->codec = codec.text;
    return codec.text.empty() ? "is empty" : "";
  };
  const auto set_relative = [&](const json_value& flag) {
    how->relative = flag.natural == 1;
    return flag.natural > 1 ? "is neither 0 nor 1" : "";
  };
  const auto one = json_object({{"codec", json_text(set_codec)},
                                {"dtype", dtype_form([&]() -> dtype& { return how->type; })},
                                {"shape", shape_form([&]() -> extents& { return how->shape; })},
                                {"relative", json_natural(set_relative), false},
                                loss_field("max_error", lost),
                                loss_field("relative_l2", lost),
                                loss_field("delta_l2", lost)});
  read_json(text, sentence({origin, ": malformed cairn.encoded"}),
            json_map(one, [&](std::string_view key) { return make_member(all, key, how); }));
  return all;
}

}  // namespace cairn::inline v0_1::detail

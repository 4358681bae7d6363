// SPDX-License-Identifier: MIT
// Definitions of printable.hpp.
#pragma once

#include <cstdint>

#include "cairn/core/printable.hpp"

namespace cairn::inline v0_1::detail {

[[nodiscard]] inline bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
}

std::size_t utf8_bytes(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues_character(text[i])) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool is_no_character = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return is_overlong || is_no_character ? 0 : length;
}

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t head = most / 2, tail = text.size() - most / 2;
  for (int i = 0; i < 3 && head > 0 && continues_character(text[head]); ++i) --head;
  for (int i = 0; i < 3 && tail < text.size() && continues_character(text[tail]); ++i) ++tail;
  return std::string(text.substr(0, head)) + " ... (" + std::to_string(tail - head) + " bytes) ... " +
         std::string(text.substr(tail));
}

/// Whether a terminal obeys the character, or shows nothing for it.
[[nodiscard]] inline bool is_hidden(std::uint32_t code) noexcept {
  const auto within = [&](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0xad || code == 0x34f || code == 0x61c ||
         within(0x115f, 0x1160) || within(0x180b, 0x180f) || within(0x200b, 0x200f) || within(0x2028, 0x202e) ||
         within(0x2060, 0x206f) || code == 0x3164 || within(0xfe00, 0xfe0f) || code == 0xfeff || code == 0xffa0 ||
         within(0xfff9, 0xfffb) || within(0xe0000, 0xe0fff);
}

std::string printable(std::string_view text) {
  std::string shown;
  const auto escape = [&](char kind, std::uint32_t value, unsigned digits) {
    shown += {'\\', kind};
    while (digits-- > 0) shown += "0123456789abcdef"[value >> 4 * digits & 15U];
  };
  while (!text.empty()) {
    const auto length = utf8_bytes(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    std::uint32_t code = length > 1 ? lead & (0xffU >> (length + 1)) : lead;
    for (std::size_t i = 1; i < length; ++i) code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
    if (length != 0 && !is_hidden(code))
      shown += text.substr(0, length);
    else if (length <= 1)
      escape('x', code, 2);
    else if (code <= 0xffff)
      escape('u', code, 4);
    else
      escape('U', code, 8);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

}  // namespace cairn::inline v0_1::detail

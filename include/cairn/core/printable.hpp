// SPDX-License-Identifier: MIT
// Text of unknown origin as it is shown to people: of bounded length, and without characters that a terminal obeys.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::inline v0_1::detail {

/// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none.
[[nodiscard]] std::size_t utf8_bytes(std::string_view text) noexcept;

/// `text` if it has at most `most` bytes; otherwise its beginning and its end, and how many bytes are left out between them.
[[nodiscard]] std::string cut(std::string_view text, std::size_t most);

/// `text` in one line. Control characters, bytes that are not UTF-8, and characters that are invisible or change the direction of writing are
/// escaped, for example as \x1b or \u202e. What is printable already stays as it is, backslashes too.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace cairn::inline v0_1::detail

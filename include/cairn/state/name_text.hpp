// A name as a template argument.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace cairn::detail {

template <std::size_t Size>
struct name_text {
  std::array<char, Size> chars{};

  consteval name_text(const char (&text)[Size]) noexcept {
    for (std::size_t i = 0; i < Size; ++i) chars[i] = text[i];
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {chars.data(), Size - 1}; }
};

}  // namespace cairn::detail

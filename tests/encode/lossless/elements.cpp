// SPDX-License-Identifier: MIT
#include "cairn/encode/lossless/elements.hpp"

#include <vector>

#include "catch.hpp"

using namespace cairn::detail::lossless;

TEST_CASE("only what has an exponent and several bytes is floating") {
  for (std::size_t i = 0; i < cairn::dtype_count; ++i) {
    const auto type = static_cast<cairn::dtype>(i);
    const auto format = format_of(type);
    CHECK(format.width == cairn::size_of(type));
    CHECK(format.floating ==
          (name(type) == "F16" || name(type) == "BF16" || name(type) == "F32" || name(type) == "F64"));
  }
}

TEST_CASE("elements are cut into strips, and are their difference to a reference") {
  constexpr std::size_t count = 2 * strip_elements + 5;
  std::vector<std::byte> values(count * 2), reference(count * 2, std::byte{3});
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::byte>(i * 7);
  for (const bool with_reference : {false, true}) {
    const elements all{{2, false}, values.data(), with_reference ? reference.data() : nullptr, count};
    std::size_t seen = 0, wrong = 0;
    strip_memory memory;
    all.for_each_strip([&](std::size_t first, const elements& strip) {
      wrong += first != seen || strip.count > strip_elements;
      seen += strip.count;
      const std::byte* const words = strip.words(memory);
      for (std::size_t i = 0; i < strip.count * 2; ++i)
        wrong += words[i] != (values[first * 2 + i] ^ (with_reference ? std::byte{3} : std::byte{}));
    });
    CHECK(seen == count);
    CHECK(wrong == 0);
  }
}

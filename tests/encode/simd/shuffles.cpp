// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/lossless_kernels.hpp"

#include "catch.hpp"

namespace {

template <std::size_t Width>
void check_shuffles() {
  using table = cairn::detail::simd::shuffles<Width>;
  const auto& all = cairn::detail::simd::all_shuffles<table>;
  for (std::size_t way = 0; way < table::ways; ++way) {
    std::size_t marked = 0;
    for (std::size_t i = 0; i < table::elements; ++i)
      for (std::size_t b = 0; b < Width; ++b) {
        const std::size_t at = i * Width + b;
        if ((way >> i & 1) == 0) {
          CHECK(all.unpack[way][at] == table::zero);
          continue;
        }
        const std::size_t packed = marked * Width + b;
        CHECK(all.pack[way][packed] == at);
        CHECK(all.unpack[way][at] == packed);
        if (b + 1 == Width) ++marked;
      }
    CHECK(all.marked[way] == marked);
  }
}

}  // namespace

TEST_CASE("shuffles take marked elements to the front and back") {
  check_shuffles<2>();
  check_shuffles<4>();
  check_shuffles<8>();
}

// SPDX-License-Identifier: MIT
#include "cairn/core/dtype.hpp"

#include "catch.hpp"

TEST_CASE("every dtype has a name that parses back and a size") {
  for (std::size_t i = 0; i < cairn::dtype_count; ++i) {
    const auto type = static_cast<cairn::dtype>(i);
    CHECK(cairn::parse_dtype(cairn::name(type)) == type);
    CHECK((cairn::size_of(type) == 1 || cairn::size_of(type) == 2 || cairn::size_of(type) == 4 ||
           cairn::size_of(type) == 8));
  }
}

TEST_CASE("names of the safetensors format, and no others, are known") {
  CHECK(cairn::parse_dtype("BF16") == cairn::dtype::bf16);
  CHECK(cairn::parse_dtype("F8_E4M3") == cairn::dtype::f8_e4m3);
  CHECK_FALSE(cairn::parse_dtype("f32"));
  CHECK_FALSE(cairn::parse_dtype("F4"));
  CHECK_FALSE(cairn::parse_dtype(""));
}

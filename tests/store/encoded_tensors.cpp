// SPDX-License-Identifier: MIT
#include "cairn/store/shard_metadata.hpp"

#include <limits>
#include <random>

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("encodings read back as they were written") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    cairn::detail::encoded_tensors all;
    for (std::size_t i = random() % 6; i > 0; --i) {
      cairn::detail::encoding_info how{
          "codec " + std::to_string(random() % 9), static_cast<cairn::dtype>(random() % cairn::dtype_count), {}};
      for (std::size_t d = random() % 4; d > 0; --d) how.shape.push_back(random());
      how.relative = random() % 2 == 0;
      if (random() % 2 == 0)
        how.lost = cairn::loss{1e-3 * static_cast<double>(random()), static_cast<double>(random() % 7)};
      if (random() % 9 == 0) how.lost = cairn::loss{0, std::numeric_limits<double>::infinity()};
      all["layer \"" + std::to_string(i)] = how;
    }
    CHECK(cairn::detail::read_encoded_tensors(cairn::detail::write_encoded_tensors(all), "here") == all);
  }
}

TEST_CASE("malformed encodings are refused") {
  for (const auto* bad :
       {R"({"w":{}})", R"({"w":1})", R"({"w":{"codec":"x","dtype":"F32"}})", R"({"w":{"codec":"x","shape":[1]}})",
        R"({"w":{"dtype":"F32","shape":[1]}})", R"({"w":{"codec":"","dtype":"F32","shape":[]}})",
        R"({"w":{"codec":"x","dtype":"F33","shape":[]}})", R"({"w":{"codec":"x","dtype":"F32","shape":[-1]}})",
        R"({"w":{"codec":"x","dtype":"F32","shape":1}})", R"({"w":{"codec":"x","dtype":"F32","shape":[[1]]}})",
        R"({"w":{"codec":"x","dtype":"F32","shape":[],"relative":2}})",
        R"({"w":{"codec":"x","dtype":"F32","shape":[],"max_error":"much"}})",
        R"({"w":{"codec":"x","dtype":"F32","shape":[],"newer":1}})", R"([])", "{"}) {
    INFO(bad);
    const auto failure =
        sample::failure_of([&] { static_cast<void>(cairn::detail::read_encoded_tensors(bad, "here")); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
}

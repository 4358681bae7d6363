// SPDX-License-Identifier: MIT
// memcpy as a method.
#include <cstring>
#include <stdexcept>
#include <string>

#include "codecs/method.hpp"

namespace bench {

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + " failed");
}

method copy_method() {
  return {.name = "memcpy",
          .bound = [](const leaf& in) { return in.values.size(); },
          .compress =
              [](const leaf& in, std::span<std::byte> out) {
                std::memcpy(out.data(), in.values.data(), in.values.size());
                return stored{in.values.size()};
              },
          .decompress = [](const leaf&, std::span<const std::byte> in,
                           std::span<std::byte> values) { std::memcpy(values.data(), in.data(), in.size()); }};
}

}  // namespace bench

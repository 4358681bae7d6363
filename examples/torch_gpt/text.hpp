// SPDX-License-Identifier: MIT
// The text that the example learns.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

namespace gpt {

/// The GPL of Debian's /usr/share/common-licenses, or generated text.
inline std::string text() {
  std::ifstream file("/usr/share/common-licenses/GPL-3");
  std::string read{std::istreambuf_iterator<char>(file), {}};
  for (int i = 0; read.size() < 20'000; ++i)
    read += "line " + std::to_string(i * i % 97) + " of a text that repeats itself\n";
  return read;
}

/// As numbers below 128.
inline torch::Tensor as_numbers(const std::string& text) {
  auto made = torch::empty({static_cast<std::int64_t>(text.size())}, torch::kLong);
  auto* to = made.data_ptr<std::int64_t>();
  for (const char each : text) *to++ = each & 0x7f;
  return made;
}

}  // namespace gpt

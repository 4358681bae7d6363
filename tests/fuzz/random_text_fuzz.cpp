// SPDX-License-Identifier: MIT
// Fuzzes the texts of random engines and distributions: each is refused, or its object draws.

#include "../state/random_types.hpp"
#include "../standard.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  if (size == 0) return 0;
  const auto& type = tests::random_types[input[0] % std::size(tests::random_types)];
  (void)type.use(std::string(reinterpret_cast<const char*>(input) + 1, size - 1));
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

/// Texts of real objects as seeds: most changes of them are near what can be read.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* input, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 4 == 0) {
    const std::size_t which = seed / 4 % std::size(tests::random_types);
    const std::string text = tests::random_types[which].text(seed / 256);
    if (text.size() < most) {
      input[0] = static_cast<std::uint8_t>(which);
      std::memcpy(input + 1, text.data(), text.size());
      size = text.size() + 1;
    }
  }
  if (size < 2) return LLVMFuzzerMutate(input, size, most);
  // A number of the text becomes another one; or the bytes change as libFuzzer likes.
  if (seed % 3 != 0) {
    std::size_t at = 1 + seed / 16 % (size - 1);
    if (input[at] >= '0' && input[at] <= '9') {
      input[at] = static_cast<std::uint8_t>('0' + seed / 1024 % 10);
      return size;
    }
  }
  return 1 + LLVMFuzzerMutate(input + 1, size - 1, most - 1);
}

// SPDX-License-Identifier: MIT
// The arrays of well-known models, as sizes for plans: no memory is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cairn/plan/partition.hpp"

namespace bench {

using sizes = std::vector<cairn::plan::leaf_size>;

/// A parameter in fp32: rows of `row` elements.
[[nodiscard]] inline cairn::plan::leaf_size parameter(std::uint64_t rows, std::uint64_t row = 1) {
  return {rows * row, 4 * rows * row, row};
}

/// Matrix and bias.
inline void add_linear(sizes& all, std::uint64_t out, std::uint64_t in) {
  all.push_back(parameter(out, in));
  all.push_back(parameter(out));
}

/// Scale and shift.
inline void add_norm(sizes& all, std::uint64_t width) { all.insert(all.end(), 2, parameter(width)); }

/// The parameters of a BERT with the heads of its pretraining (the decoder is tied to the words), in the order of the
/// model: 30,522 words, inner layers of four times the hidden size.
[[nodiscard]] inline sizes bert(std::size_t layers, std::uint64_t hidden) {
  constexpr std::uint64_t words = 30'522;
  sizes all{parameter(words, hidden), parameter(512, hidden), parameter(2, hidden)};
  add_norm(all, hidden);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (int projection = 0; projection < 4; ++projection)
      add_linear(all, hidden, hidden);  // query, key, value, output
    add_norm(all, hidden);
    add_linear(all, 4 * hidden, hidden);
    add_linear(all, hidden, 4 * hidden);
    add_norm(all, hidden);
  }
  add_linear(all, hidden, hidden);  // pooler
  all.push_back(parameter(words));  // bias of the decoder
  add_linear(all, hidden, hidden);
  add_norm(all, hidden);
  add_linear(all, 2, hidden);
  return all;
}

/// Tables 1 and 3 of Devlin et al. 2019: 336 million parameters.
[[nodiscard]] inline sizes bert_large() { return bert(24, 1024); }

/// The parameters of a GPT (the decoder is tied to the words): 50,257 words, query, key and value in one matrix.
[[nodiscard]] inline sizes gpt(std::size_t layers, std::uint64_t hidden, std::uint64_t context) {
  sizes all{parameter(50'257, hidden), parameter(context, hidden)};
  for (std::size_t layer = 0; layer < layers; ++layer) {
    add_norm(all, hidden);
    add_linear(all, 3 * hidden, hidden);
    add_linear(all, hidden, hidden);
    add_norm(all, hidden);
    add_linear(all, 4 * hidden, hidden);
    add_linear(all, hidden, 4 * hidden);
  }
  add_norm(all, hidden);
  return all;
}

/// Radford et al. 2019: 1.56 billion parameters; 18.7 GB with both moments of Adam.
[[nodiscard]] inline sizes gpt2_xl() { return gpt(48, 1600, 1024); }

/// Table 2.1 of Brown et al. 2020: 175 billion parameters; 2.1 TB with both moments of Adam.
[[nodiscard]] inline sizes gpt3() { return gpt(96, 12'288, 2048); }

/// LeNet-5 as in examples/lenet: 61,706 parameters.
[[nodiscard]] inline sizes lenet() {
  sizes all;
  add_linear(all, 6, 25);
  add_linear(all, 16, 150);
  add_linear(all, 120, 400);
  add_linear(all, 84, 120);
  add_linear(all, 10, 84);
  return all;
}

/// With both moments of Adam.
[[nodiscard]] inline sizes with_adam(const sizes& weights) {
  sizes all;
  for (int array = 0; array < 3; ++array) all.insert(all.end(), weights.begin(), weights.end());
  return all;
}

[[nodiscard]] inline std::uint64_t bytes_of(const sizes& leaves) {
  std::uint64_t sum = 0;
  for (const auto& leaf : leaves) sum += leaf.bytes;
  return sum;
}

}  // namespace bench

// SPDX-License-Identifier: MIT
// A trainer in C++ whose checkpoints Python reads and changes. Usage: trainer DIRECTORY: goes on from the newest
// checkpoint, and prints the state's numbers.
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/core/float_types.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/encode/lossless.hpp"
#include "cairn/schedule/policies.hpp"

namespace {

struct layer {
  std::vector<float> weight;
  std::optional<std::vector<double>> moment;
};

/// Numbers of every type that a checkpoint stores.
struct every_type {
  std::vector<std::uint8_t> u8{1, 255};
  std::vector<std::int8_t> i8{-1, 127};
  std::vector<std::uint16_t> u16{1, 65535};
  std::vector<std::int16_t> i16{-1, 32767};
  std::vector<std::uint32_t> u32{1, 4'000'000'000};
  std::vector<std::int32_t> i32{-1, 2'000'000'000};
  std::vector<std::uint64_t> u64{1, 1ULL << 63U};
  std::vector<std::int64_t> i64{-1, 1LL << 62U};
  std::vector<cairn::float16> f16{cairn::float16(0.5F), cairn::float16(-2.F)};
  std::vector<cairn::bfloat16> bf16{cairn::bfloat16(0.5F), cairn::bfloat16(-2.F)};
  std::vector<float> f32{0.1F, -0.F};
  std::vector<double> f64{0.1, 1e300};
  bool flag = true;
};

struct trainer {
  std::map<std::string, layer> layers;
  every_type numbers;
  std::uint64_t step = 0;
};

trainer start() {
  trainer made;
  made.layers["in"].weight.assign(5000, 0.25F);
  made.layers["out"] = {std::vector<float>(3000, -1.F), std::vector<double>(3000)};
  return made;
}

void train(trainer& state) {
  ++state.step;
  for (auto& [name, each] : state.layers)
    for (std::size_t i = 0; i < each.weight.size(); ++i) {
      each.weight[i] += 1e-3F * static_cast<float>(i % 17);
      if (each.moment) (*each.moment)[i] += 1e-4 * static_cast<double>(i % 5);
    }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: trainer DIRECTORY\n";
    return 2;
  }
  try {
    auto state = start();
    cairn::checkpointer_options options{
        .when = cairn::policies::every_steps{1},
        .codecs = {{"layers.in.*", cairn::codecs::lc<3>{}}, {"*", cairn::codecs::lossless{.xor_parent = true}}}};
    options.chain.anchor_every = 3;
    cairn::checkpointer checkpoints(arguments[1], options);
    if (checkpoints.restore(state)) std::cout << "restored step " << state.step << '\n';
    for (const auto end = state.step + 4; state.step < end;) {
      train(state);
      checkpoints.save(state, {.step = state.step, .loss = 1.0 / static_cast<double>(state.step)});
    }
    double sum = 0;
    for (const float w : state.layers["in"].weight) sum += static_cast<double>(w);
    std::cout << "step " << state.step << " sum " << sum << '\n';
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}

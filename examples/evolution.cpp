// SPDX-License-Identifier: MIT
// The code of docs/evolution.md: a program loads what an earlier version of it saved.
// Each snippet there is the text between two marks.
#include <cairn/load.hpp>
#include <cairn/save.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace first {

// [first]
enum class activation : std::uint8_t { relu, tanh };
struct layer {
  std::vector<float> w;
  std::vector<float> momentum;
  activation act = activation::relu;
};
struct schedule {
  std::int32_t warmup_ms = 0;
  std::vector<float> rates;  // of the weights, then of the biases
};
struct trainer {
  std::vector<layer> layers;
  schedule plan;
};
// [first]

}  // namespace first

namespace second {

// [enum]
enum class activation : std::uint8_t { none, relu, gelu, tangent };
// [enum]

// [members]
struct layer {
  std::vector<float> weight;
  std::vector<float> bias;
  activation act = activation::none;
  using cairn_changes =
      cairn::changes<cairn::renamed<"weight", "w">,  // was `w`
                     cairn::added<"bias">,           // a checkpoint may lack it
                     cairn::removed<"momentum">>;    // a checkpoint may have it
};
// [members]

// [version]
struct schedule {
  double warmup_seconds = 0;
  std::vector<float> weight_rates, bias_rates;

  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "warmup_seconds", "weight_rates", "bias_rates">;
  void cairn_migrate(cairn::stored_parts& old) {
    warmup_seconds = old.get<std::int32_t>("warmup_ms") / 1000.0;
    const auto rates = old.get<std::vector<float>>("rates");
    const auto half = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
    weight_rates.assign(rates.begin(), half);
    bias_rates.assign(half, rates.end());
  }
};
// [version]

struct trainer {
  std::vector<layer> layers;
  schedule plan;
};

}  // namespace second

template <>
struct cairn::by_name<first::activation>
    : cairn::enumerators<first::activation::relu, first::activation::tanh> {};

// [names]
template <>
struct cairn::by_name<second::activation>
    : cairn::enumerators<
          second::activation::none, second::activation::relu, second::activation::gelu,
          cairn::enumerator<"tangent", second::activation::tangent, "tanh">> {};
// [names]

int main() {
  const std::string place = "evolution-checkpoint";
  std::filesystem::remove_all(place);
  const first::trainer old{{{{1, 2}, {3, 4}, first::activation::tanh}},
                           {1500, {0.1F, 0.2F}}};
  cairn::save(place, old);

  second::trainer now;
  cairn::load(place, now);
  const bool is_right =
      now.layers.size() == 1 && now.layers[0].weight == old.layers[0].w &&
      now.layers[0].act == second::activation::tangent &&
      now.plan.warmup_seconds == 1.5 && now.plan.bias_rates == std::vector<float>{0.2F};
  std::cout << (is_right ? "loaded\n" : "differs\n");
  return is_right ? 0 : 1;
}

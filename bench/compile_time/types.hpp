// SPDX-License-Identifier: MIT
// A unit that saves and restores ten states of 150 struct types: what a larger program's state types cost to compile.
#pragma once

#include <cstddef>
#include <string>

namespace bench::units {

/// Fifteen types. `#` stands for the number of the state.
inline const std::string fifteen_types = R"(
struct schedule_# { double initial{}; double decay{}; std::int64_t warmup_steps{}; std::string kind; };
struct sgd_# { double rate{}; double momentum{}; bool nesterov{}; };
struct adam_# { double rate{}; double beta1{}; double beta2{}; double epsilon{}; bool amsgrad{}; };
struct tensor_# { std::vector<std::uint64_t> shape; std::vector<float> values; std::string name; };
struct moments_# { std::vector<float> first; std::vector<float> second; std::int64_t steps{}; };
struct norm_# { tensor_# scale; tensor_# shift; float epsilon{}; std::optional<tensor_#> running_mean; };
struct dense_# { tensor_# weight; std::optional<tensor_#> bias; float dropout{}; };
struct convolution_# {
  tensor_# weight;
  std::array<std::int32_t, 2> stride{}, padding{};
  std::int32_t groups{};
};
struct block_# {
  std::variant<dense_#, convolution_#, norm_#> main;
  std::vector<norm_#> norms;
  std::unique_ptr<dense_#> gate;
};
struct model_# {
  std::vector<block_#> blocks;
  std::map<std::string, tensor_#> buffers;
  std::shared_ptr<tensor_#> embedding;
  std::string architecture;
};
struct optimizer_# {
  std::variant<sgd_#, adam_#> rule;
  schedule_# rate;
  std::map<std::string, moments_#> per_tensor;
  std::optional<double> gradient_clip;
};
struct sample_# { std::uint64_t index{}; float weight{}; std::int32_t label{}; };
struct loader_# {
  std::uint64_t epoch{};
  std::uint64_t position{};
  std::vector<sample_#> order;
  std::set<std::uint64_t> seen;
  std::mt19937_64 engine;
};
class history_# {
 public:
  static auto cairn_fields() { return cairn::fields<&history_#::losses_, &history_#::best_, &history_#::best_step_>{}; }

 private:
  std::deque<double> losses_;
  double best_{};
  std::int64_t best_step_{};
};
struct trainer_# {
  model_# network;
  std::optional<model_#> average;
  optimizer_# updates;
  loader_# input;
  std::unordered_map<std::string, history_#> metrics;
  std::pair<double, std::int64_t> best;
  std::vector<std::string> tags;
  std::uint64_t step{};
};
bool resume_#(cairn::checkpointer& checkpoints, trainer_#& state) {
  const bool found = static_cast<bool>(checkpoints.restore(state));
  static_cast<void>(checkpoints.step(state, {.step = state.step, .loss = state.best.first}));
  return found;
}
)";

[[nodiscard]] inline std::string many_types(std::size_t states = 10) {
  std::string unit =
      "#include <array>\n#include <cstdint>\n#include <deque>\n#include <map>\n#include <memory>\n#include "
      "<optional>\n#include <random>\n#include <set>\n#include <string>\n#include <unordered_map>\n#include "
      "<utility>\n#include <variant>\n#include <vector>\n#include <cairn/cairn.hpp>\n";
  for (std::size_t i = 0; i < states; ++i)
    for (const char c : fifteen_types) unit += c == '#' ? std::to_string(i) : std::string(1, c);
  return unit;
}

}  // namespace bench::units

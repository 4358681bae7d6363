// SPDX-License-Identifier: MIT
// The units that are compiled: a nested state of 50 fields that each library saves and loads, and the quickstart.
#pragma once

#include <string>

namespace bench::units {

/// The state, the same text for all: 50 fields in nine structs.
inline const std::string state = R"(
struct learning_rate { double initial{}; double decay{}; std::int64_t warmup_steps{}; std::string schedule; };
struct adam_options { double beta1{}; double beta2{}; double epsilon{}; double weight_decay{}; bool amsgrad{}; };
struct tensor { std::vector<std::uint64_t> shape; std::vector<float> values; std::string name; };
struct layer {
  tensor weight;
  tensor bias;
  std::string kind;
  float dropout{};
  bool frozen{};
  std::optional<tensor> running_mean;
  std::optional<tensor> running_variance;
};
struct model {
  std::vector<layer> layers;
  std::map<std::string, tensor> buffers;
  std::string architecture;
  std::uint32_t version{};
};
struct moments { std::vector<float> first; std::vector<float> second; std::int64_t steps{}; };
struct optimizer {
  adam_options options;
  learning_rate rate;
  std::map<std::string, moments> per_tensor;
  std::optional<double> gradient_clip;
  std::vector<double> recent_norms;
};
struct loader {
  std::uint64_t epoch{};
  std::uint64_t position{};
  std::vector<std::uint32_t> order;
  std::map<std::string, std::uint64_t> samples_by_source;
  std::string data_set;
  std::vector<std::string> files;
  std::optional<std::string> transform;
};
struct trainer {
  model network;
  std::optional<model> average;
  optimizer updates;
  loader input;
  std::uint64_t step{};
  std::uint64_t seed{};
  double best_loss{};
  std::map<std::string, double> metrics;
  std::map<std::string, std::vector<double>> history;
  std::vector<std::string> tags;
  std::optional<std::string> note;
  std::int32_t restarts{};
};
)";

inline const std::string state_headers =
    "#include <cstdint>\n#include <map>\n#include <optional>\n#include <string>\n#include <vector>\n";

/// Saving and loading behind functions that other units call, as a program has them.
inline const std::string cairn_header = "#include <cairn/load.hpp>\n#include <cairn/save.hpp>\n";
inline const std::string cairn_saves =
    "void save(const std::string& path, const trainer& state) { cairn::save(path, state); }\n";
inline const std::string cairn_loads =
    "void load(const std::string& path, trainer& state) { cairn::load(path, state); }\n";

[[nodiscard]] inline std::string state_only() { return state_headers + state; }
[[nodiscard]] inline std::string cairn_headers() { return state_headers + cairn_header + state; }
[[nodiscard]] inline std::string cairn_save() { return cairn_headers() + cairn_saves; }
[[nodiscard]] inline std::string cairn_load() { return cairn_headers() + cairn_loads; }
[[nodiscard]] inline std::string cairn_save_and_load() { return cairn_headers() + cairn_saves + cairn_loads; }

/// A unit that includes all of Cairn and uses none of it.
[[nodiscard]] inline std::string cairn_include() { return "#include <cairn/cairn.hpp>\nint main() {}\n"; }

/// Describing only: the templates over the state, without the code that handles bytes.
[[nodiscard]] inline std::string cairn_describe() {
  return cairn_headers() +
         "cairn::detail::description describe_it(const trainer& state) { return cairn::detail::describe(state); }\n";
}

/// The smallest state: the part of the library that every unit compiles.
[[nodiscard]] inline std::string cairn_one_int() {
  return cairn_headers() +
         "struct one { int value{}; };\n"
         "void save(const std::string& path, const one& state) { cairn::save(path, state); }\n"
         "void load(const std::string& path, one& state) { cairn::load(path, state); }\n";
}

inline const std::string cereal_header =
    "#include <fstream>\n"
    "#include <cereal/archives/binary.hpp>\n"
    "#include <cereal/types/map.hpp>\n"
    "#include <cereal/types/optional.hpp>\n"
    "#include <cereal/types/string.hpp>\n"
    "#include <cereal/types/vector.hpp>\n";

inline const std::string cereal_fields = R"(
template <class A> void serialize(A& a, learning_rate& s) { a(s.initial, s.decay, s.warmup_steps, s.schedule); }
template <class A> void serialize(A& a, adam_options& s) { a(s.beta1, s.beta2, s.epsilon, s.weight_decay, s.amsgrad); }
template <class A> void serialize(A& a, tensor& s) { a(s.shape, s.values, s.name); }
template <class A> void serialize(A& a, layer& s) {
  a(s.weight, s.bias, s.kind, s.dropout, s.frozen, s.running_mean, s.running_variance);
}
template <class A> void serialize(A& a, model& s) { a(s.layers, s.buffers, s.architecture, s.version); }
template <class A> void serialize(A& a, moments& s) { a(s.first, s.second, s.steps); }
template <class A> void serialize(A& a, optimizer& s) {
  a(s.options, s.rate, s.per_tensor, s.gradient_clip, s.recent_norms);
}
template <class A> void serialize(A& a, loader& s) {
  a(s.epoch, s.position, s.order, s.samples_by_source, s.data_set, s.files, s.transform);
}
template <class A> void serialize(A& a, trainer& s) {
  a(s.network, s.average, s.updates, s.input, s.step, s.seed, s.best_loss, s.metrics, s.history, s.tags, s.note,
    s.restarts);
}
)";

/// What its users include for the quickstart.
[[nodiscard]] inline std::string cereal_include() { return cereal_header + "int main() {}\n"; }

[[nodiscard]] inline std::string cereal_headers() { return state_headers + cereal_header + state; }
[[nodiscard]] inline std::string cereal_save_and_load() {
  return cereal_headers() + cereal_fields +
         "void save(const std::string& path, const trainer& state) {\n"
         "  std::ofstream file(path, std::ios::binary);\n"
         "  cereal::BinaryOutputArchive archive(file);\n"
         "  archive(state);\n"
         "}\n"
         "void load(const std::string& path, trainer& state) {\n"
         "  std::ifstream file(path, std::ios::binary);\n"
         "  cereal::BinaryInputArchive archive(file);\n"
         "  archive(state);\n"
         "}\n";
}

/// examples/quickstart.cpp as a program would have it with cereal: a file that is replaced every 100 steps.
[[nodiscard]] inline std::string cereal_quickstart() {
  return cereal_header + R"(
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <random>
#include <sstream>

constexpr std::uint64_t points = 1000;

struct trainer_state {
  double slope = 0, offset = 0;
  std::mt19937_64 rng{1};
  std::vector<std::uint64_t> order = std::vector<std::uint64_t>(points);
  std::uint64_t epoch = 0, position = 0, step = 0;

  template <class A>
  void save(A& archive) const {
    std::ostringstream engine;
    engine << rng;
    archive(slope, offset, engine.str(), order, epoch, position, step);
  }
  template <class A>
  void load(A& archive) {
    std::string engine;
    archive(slope, offset, engine, order, epoch, position, step);
    std::istringstream(engine) >> rng;
  }
};

void save(const std::string& path, const trainer_state& state) {
  {
    std::ofstream file(path + ".new", std::ios::binary);
    cereal::BinaryOutputArchive archive(file);
    archive(state);
  }
  std::rename((path + ".new").c_str(), path.c_str());
}

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "quickstart.bin";
  trainer_state state;
  if (std::ifstream file(path, std::ios::binary); file) {
    cereal::BinaryInputArchive archive(file);
    archive(state);
    std::cout << "resumed at step " << state.step << '\n';
  }
  for (; state.epoch < 50; ++state.epoch, state.position = 0) {
    if (state.position == 0) {
      std::iota(state.order.begin(), state.order.end(), std::uint64_t{0});
      std::shuffle(state.order.begin(), state.order.end(), state.rng);
    }
    while (state.position < points) {
      for (int i = 0; i < 10; ++i) {
        const double x = 2.0 * static_cast<double>(state.order[state.position++]) / points - 1;
        const double y = 3 * x + 2 + std::normal_distribution<>(0, 0.1)(state.rng);
        const double error = state.slope * x + state.offset - y;
        state.slope -= 0.01 * error * x;
        state.offset -= 0.01 * error;
      }
      if (++state.step % 100 == 0) save(path, state);
    }
  }
  save(path, state);
  std::cout << "step " << state.step << ": y = " << state.slope << " x + " << state.offset << '\n';
}
)";
}

}  // namespace bench::units

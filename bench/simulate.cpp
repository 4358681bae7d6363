// SPDX-License-Identifier: MIT
// Predicts saves and loads of well-known models on 1 to 16,384 ranks, and compares predictions with saves of this
// machine.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/plan/partition.hpp"
#include "common/arguments.hpp"
#include "common/model_shapes.hpp"
#include "common/report.hpp"
#include "schedule/chart.hpp"
#include "simulate/measured.hpp"
#include "simulate/predict.hpp"

namespace {

using namespace bench;

constexpr std::string_view usage =
    "simulate [--reps 15] [--directory /tmp] [--wait 1] [--figure FILE.svg] [--json FILE]\n"
    "  Predicts saves of models on 1 to 16,384 ranks, and measures --reps saves of 1, 2 and 4 threads (0: none) into "
    "--directory.\n";

struct named_state {
  std::string name, key;
  sizes leaves;
};

struct named_machine {
  std::string name, key;
  machine of;
};

/// Weights and both moments of Adam, in fp32.
std::vector<named_state> states() {
  return {{"LeNet-5", "lenet", with_adam(lenet())},
          {"BERT-large", "bert_large", with_adam(bert_large())},
          {"GPT-2 XL", "gpt2_xl", with_adam(gpt2_xl())},
          {"GPT-3", "gpt3", with_adam(gpt3())}};
}

/// The defaults, and a machine of 4 ranks per node whose file system is soon full.
std::vector<named_machine> machines() {
  machine small;
  small.ranks_per_node = 4;
  small.cores_per_node = 32;
  small.rank_link = small.node_link = 1.2e9;
  small.write = small.read = 2e10;
  small.files_per_second = 5e3;
  return {{"large: 8 ranks per node of 12 GB/s, file system of 500 GB/s", "large", {}},
          {"small: 4 ranks per node of 1.2 GB/s, file system of 20 GB/s", "small", small}};
}

/// What one state takes on 1, 2, 4, ... 16,384 ranks.
struct curve {
  std::vector<std::size_t> ranks{};
  std::vector<prediction> of{};

  curve(const sizes& leaves, const machine& on) {
    for (std::size_t n = 1; n <= 16'384; n *= 2) {
      ranks.push_back(n);
      of.push_back(simulate({leaves, std::vector<cairn::plan::rank_load>(n)}, on));
    }
  }
  [[nodiscard]] double speed_up(std::size_t i) const { return of.front().save() / of[i].save(); }
};

std::string three_digits(double value) {
  const auto digits = value > 0 ? 2 - static_cast<int>(std::floor(std::log10(value))) : 0;
  return text_of(value, std::clamp(digits, 0, 5));
}

void print_saves(const named_machine& on, const std::vector<named_state>& all, const std::vector<curve>& curves) {
  std::printf("Machine %s. Save, and speed-up over one rank\n\n", on.name.c_str());
  std::vector<std::string> header{"ranks (ideal)"};
  for (const auto& state : all) {
    header.push_back(state.name + ", s");
    header.emplace_back("speed-up");
  }
  table rows(header);
  for (std::size_t i = 0; i < curves.front().ranks.size(); ++i) {
    std::vector<std::string> cells{std::to_string(curves.front().ranks[i])};
    for (const auto& each : curves) {
      cells.push_back(three_digits(each.of[i].save()));
      cells.push_back(three_digits(each.speed_up(i)));
    }
    rows.row(std::move(cells));
  }
  rows.print();
}

void print_parts(const named_state& state, const curve& of) {
  std::printf("%s, %.2f GB: seconds of each part\n\n", state.name.c_str(),
              static_cast<double>(bytes_of(state.leaves)) / 1e9);
  table rows({"ranks", "copy", "encode", "create", "write", "gather", "publish", "save", "largest / mean", "read",
              "read shared"});
  for (std::size_t i = 0; i < of.ranks.size(); i += 2) {
    const auto& each = of.of[i];
    const auto mean = static_cast<double>(bytes_of(state.leaves)) / static_cast<double>(of.ranks[i]);
    rows.row({std::to_string(of.ranks[i]), three_digits(each.copy), three_digits(each.encode),
              three_digits(each.create), three_digits(each.write), three_digits(each.gather),
              three_digits(each.publish), three_digits(each.save()),
              text_of(static_cast<double>(each.largest_share) / mean, 3), three_digits(each.read),
              three_digits(each.read_shared)});
  }
  rows.print();
}

line_panel panel_of(const named_machine& on, const std::vector<named_state>& all, const std::vector<curve>& curves) {
  line_panel panel{.title = "Machine " + on.name,
                   .unit = "save of 1 rank / save of N ranks",
                   .x_unit = "ranks",
                   .is_logarithmic = true,
                   .is_logarithmic_x = true};
  const auto& ranks = curves.front().ranks;
  line_series ideal{.name = "ideal", .points = {}};
  for (const auto n : ranks) ideal.points.push_back({static_cast<double>(n), static_cast<double>(n)});
  panel.series.push_back(std::move(ideal));
  for (std::size_t s = 0; s < all.size(); ++s) {
    line_series series{.name = all[s].name, .points = {}, .is_own = all[s].key == "bert_large"};
    for (std::size_t i = 0; i < ranks.size(); ++i)
      series.points.push_back({static_cast<double>(ranks[i]), curves[s].speed_up(i)});
    panel.series.push_back(std::move(series));
  }
  return panel;
}

void predict(const arguments& options, report& numbers) {
  const auto all = states();
  std::vector<line_panel> panels;
  for (const auto& on : machines()) {
    std::vector<curve> curves;
    for (const auto& state : all) curves.emplace_back(state.leaves, on.of);
    print_saves(on, all, curves);
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (all[s].key == "bert_large" || all[s].key == "gpt3") print_parts(all[s], curves[s]);
      for (std::size_t i = 0; i < curves[s].ranks.size(); ++i) {
        const auto suffix = "." + on.key + "." + all[s].key + "." + std::to_string(curves[s].ranks[i]);
        numbers.number("save_seconds" + suffix, curves[s].of[i].save());
        numbers.number("load_seconds" + suffix, curves[s].of[i].load());
        numbers.number("speed_up" + suffix, curves[s].speed_up(i));
      }
    }
    panels.push_back(panel_of(on, all, curves));
  }
  write_lines(options.text("figure"), "Predicted saves by many ranks",
              "Weights and both moments of Adam in fp32, divided by the plan: speed-up over one rank", panels);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const arguments options(
        argc, argv, {{"reps", "15"}, {"directory", "/tmp"}, {"wait", "1"}, {"figure", ""}, {"json", ""}}, usage);
    report numbers;
    predict(options, numbers);
    compare_with_saves(options, numbers);
    numbers.print_figures();
    numbers.write_json(options.text("json"));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "simulate: %s\n", failure.what());
    return 1;
  }
}

// SPDX-License-Identifier: MIT
// What a save costs a trainer with libtorch, and what a restore takes: Cairn in the background and durable against
// torch::save and torch::load.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/adapters/torch.hpp"
#include "cairn/checkpointer.hpp"
#include "cairn/schedule/policies.hpp"
#include "common/arguments.hpp"
#include "common/page_cache.hpp"
#include "common/report.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "common/work_directory.hpp"

namespace {

using namespace bench;

constexpr std::string_view usage =
    "torch_trainer [--mib 512] [--reps 7] [--directory .] [--json FILE]\n"
    "  A module and Adam of libtorch that are saved and loaded by Cairn and by torch::save and torch::load, in turn.\n"
    "  --mib        of the module's parameters and Adam's moments together\n"
    "  --reps       saves and loads of each; a first save and load are not counted\n"
    "  --directory  where the files go, in a new directory that is deleted afterwards; the current one by default\n";

/// Square layers, whose moments Adam has made.
struct trainer {
  torch::nn::Sequential model;
  torch::optim::Adam adam;

  explicit trainer(std::size_t mib) : model(make(mib)), adam(model->parameters(), torch::optim::AdamOptions(1e-3)) {
    step();
  }

  void step() {
    for (auto& each : model->parameters()) each.mutable_grad() = torch::rand_like(each);
    adam.step();
    for (auto& each : model->parameters()) each.mutable_grad() = torch::Tensor();
  }
  static auto cairn_fields() { return cairn::fields<&trainer::model, &trainer::adam>{}; }

 private:
  static torch::nn::Sequential make(std::size_t mib) {
    constexpr std::int64_t width = 1024;  // a layer and its moments have 12 MiB
    torch::nn::Sequential layers;
    for (std::size_t i = 0; i < mib / 12; ++i) layers->push_back(torch::nn::Linear(width, width));
    return layers;
  }
};

bool equal(const trainer& a, const trainer& b) {
  const auto x = a.model->parameters(), y = b.model->parameters();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!x[i].equal(y[i])) return false;
  return true;
}

void measure(const arguments& options, report& numbers) {
  const work_directory directory(options.text("directory"), "torch_trainer");
  const std::string place = directory.path() / "cairn", model_file = directory.path() / "model.pt",
                    adam_file = directory.path() / "adam.pt";
  trainer state(options.count("mib")), loaded(options.count("mib"));
  std::vector<double> stall, torch_save, load, torch_load;
  cairn::checkpointer ckpt(place, {.keep_last = 1, .when = cairn::policies::every_steps{1}});
  const auto reps = options.count("reps"), bytes = options.count("mib") << 20U;
  for (std::size_t i = 0; i <= reps; ++i) {
    state.step();
    settle(bytes, std::chrono::seconds(5));
    stall.push_back(seconds_of([&] { static_cast<void>(ckpt.step(state, {.step = i + 1})); }));
    static_cast<void>(ckpt.wait());
    torch_save.push_back(seconds_of([&] {
      torch::save(state.model, model_file);
      torch::save(state.adam, adam_file);
    }));
    settle(bytes, std::chrono::seconds(5));
    read_into_cache(place);  // a durable save of Cairn bypasses the page cache
    load.push_back(seconds_of([&] {
      if (!ckpt.restore(loaded)) throw std::runtime_error("nothing was restored");
    }));
    if (!equal(state, loaded)) throw std::runtime_error("Cairn restored other values");
    loaded.step();
    torch_load.push_back(seconds_of([&] {
      torch::load(loaded.model, model_file);
      torch::load(loaded.adam, adam_file);
    }));
    if (!equal(state, loaded)) throw std::runtime_error("torch::load gave other values");
    loaded.step();
  }
  for (auto* each : {&stall, &torch_save, &load, &torch_load}) each->erase(each->begin());
  table rows({"seconds, medians of " + std::to_string(reps), "Cairn", "libtorch"});
  rows.row({"what the trainer waits for a save", text_of(median(stall), 4), text_of(median(torch_save), 4)});
  rows.row({"load", text_of(median(load), 4), text_of(median(torch_load), 4)});
  rows.print();
  numbers.at_most("torch_stall.over_torch_save", median_ratio(stall, torch_save), 0.1);
  numbers.at_least("torch_load.over_torch_load", median_ratio(torch_load, load), 1);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const arguments options(argc, argv, {{"mib", "512"}, {"reps", "7"}, {"directory", "."}, {"json", ""}}, usage);
    report numbers;
    measure(options, numbers);
    numbers.print_figures();
    numbers.write_json(options.text("json"));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "torch_trainer: %s\n", failure.what());
    return 1;
  }
}

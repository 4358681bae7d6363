// SPDX-License-Identifier: MIT
// What a lossy checkpoint costs in rework: real models, total failures, and restarts from the checkpoints of several methods.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/arguments.hpp"
#include "common/report.hpp"
#include "rework/compare.hpp"
#include "rework/probes.hpp"

namespace {

using namespace bench;
using namespace bench::rework;

constexpr std::string_view usage =
    "rework [--models lr,mf,lenet] [--seeds 10] [--failures 8] [--periods 0] [--data FOLDER] [--sections "
    "methods,buckets,steps,restarts]\n"
    "       [--json FILE] [--short 0]\n"
    "  --models    of lr, mf, lenet, alexnet, gpt and gpt_bf16\n"
    "  --seeds     runs of each model; the intervals are over them\n"
    "  --failures  in each run\n"
    "  --periods   of each run, at least 4; 0: the model's own number\n"
    "  --data      folder with mnist/ and jester/; none: made data\n"
    "  --sections  methods: rework of all methods; buckets: the loss without one of them; steps: bytes that each step "
    "of LC saves, on the\n"
    "              largest model; restarts: 1 to 10 in one run, of the models with an optimizer\n"
    "  --short     1: lr and mf with made data, three seeds; fails if LC costs more rework than TOPN with the same "
    "bytes\n";

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

bool is_in(const std::string& section, const arguments& options) {
  const auto sections = words_of(options.text("sections"));
  return std::find(sections.begin(), sections.end(), section) != sections.end();
}

std::size_t at_least_one(const arguments& options, const std::string& name) {
  const auto count = options.count(name);
  if (count == 0) throw std::runtime_error("--" + name + " is 0; it must be at least 1");
  return count;
}

void run_all(const arguments& options) {
  report numbers;
  double compression = 0;
  std::size_t largest = 0;
  undisturbed_runs largest_runs;
  for (const auto& name : words_of(options.text("models"))) {
    auto model = models::setting_of(name, options.text("data"));
    if (const auto periods = options.count("periods"); periods > 0) model.periods = std::max<std::uint64_t>(periods, 4);
    auto runs = train_all(model, at_least_one(options, "seeds"));
    const auto failures = at_least_one(options, "failures");
    if (is_in("methods", options)) {
      compression = std::max(compression, compare_methods(model, models::part::weights, failures, runs, numbers));
      if (model.has_slots) compare_methods(model, models::part::weights_and_optimizer, failures, runs, numbers);
    }
    if (is_in("buckets", options)) probe_buckets(model, runs, numbers);
    if (is_in("restarts", options) && model.has_slots) probe_restarts(model, runs, {1, 2, 5, 10}, numbers);
    const auto elements = models::elements_of(runs.begin()->second.checkpoints.front().weights);
    if (elements > largest) largest = elements, largest_runs = std::move(runs);
    std::fflush(stdout);
  }
  if (is_in("steps", options) && largest > 0) probe_steps(largest_runs, numbers);
  if (is_in("methods", options)) numbers.at_least("compression.best", compression, 28);
  numbers.print_figures();
  numbers.write_json(options.text("json"));
}

bool run_short(const arguments& options) {
  report numbers;
  bool is_good = true;
  for (const auto* name : {"lr", "mf"}) {
    auto model = models::setting_of(name, "");
    model.periods = 20;
    is_good = compare_shortly(model, 4, train_all(model, 3), numbers) && is_good;
  }
  numbers.write_json(options.text("json"));
  std::printf("%s\n", is_good ? "LC costs no more rework than TOPN with the same bytes"
                              : "LC costs MORE rework than TOPN with the same bytes");
  return is_good;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const arguments options(argc, argv,
                            {{"models", "lr,mf,lenet"},
                             {"seeds", "10"},
                             {"failures", "8"},
                             {"periods", "0"},
                             {"data", ""},
                             {"sections", "methods,buckets,steps,restarts"},
                             {"json", ""},
                             {"short", "0"}},
                            usage);
    if (options.count("short") != 0) return run_short(options) ? 0 : 1;
    run_all(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rework: %s\n", failure.what());
    return 1;
  }
}

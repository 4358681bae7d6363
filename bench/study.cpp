// SPDX-License-Identifier: MIT
// The study of checkpoints in deep-learning frameworks, repeated: what a checkpoint costs in each format, and what a
// restart has to restore.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/report.hpp"
#include "common/statistics.hpp"
#include "common/work_directory.hpp"
#include "lenet/drawn.hpp"
#include "lenet/idx.hpp"
#include "study/ablation.hpp"
#include "study/formats.hpp"

namespace {

using namespace bench;
using namespace bench::study;

constexpr std::string_view usage =
    "study [--sections formats,ablation] [--data DIR] [--directory .] [--json FILE] [--short 0]\n"
    "      [--sizes 1,8,32,100] [--ranks 1,2,4] [--reps 3] [--training 100] [--python python3] [--wait 5]\n"
    "      [--steps 1500] [--batch 64] [--seeds 3]\n"
    "  --sections   what to measure\n"
    "  --data       a folder with MNIST's idx files; CAIRN_TEST_DATA by default, and without that, drawn digits\n"
    "  --directory  where the files go, in a new directory that is deleted afterwards\n"
    "  --short      1: only a small ablation on drawn digits, the same in every run; status 1 where a restart is not "
    "as "
    "expected\n"
    "  formats: seconds and bytes of a checkpoint of a trained MLP and both Adam moments\n"
    "  --sizes      millions of parameters\n"
    "  --ranks      that save together, each a thread\n"
    "  --reps       saves and loads of each format\n"
    "  --training   steps before the saves\n"
    "  --python     with numpy and h5py, for npz and HDF5; none: without them\n"
    "  --wait       seconds to wait at most for idle cores before each save and load; 0: not at all\n"
    "  ablation: restarts that leave out one item each, LeNet-5 with Adam\n"
    "  --steps      of the whole training; it fails after a quarter, a half, and nine tenths of them\n"
    "  --batch      images per step\n"
    "  --seeds      trainings\n";

/// What one kind of restart led to, over all trainings and failures.
struct outcome {
  std::vector<double> weights_differ, state_differs, at_once, at_end;
  std::size_t never = 0, state_never = 0;
};

std::vector<outcome> outcomes_of(const std::vector<ablation_run>& runs, std::size_t kinds) {
  std::vector<outcome> all(kinds);
  const auto note = [](const std::optional<std::uint64_t>& when, std::vector<double>& steps, std::size_t& never) {
    if (when)
      steps.push_back(static_cast<double>(*when));
    else
      ++never;
  };
  for (const auto& run : runs)
    for (std::size_t i = 0; i < kinds; ++i) {
      const auto& result = run.results[i];
      note(result.weights_differ, all[i].weights_differ, all[i].never);
      note(result.state_differs, all[i].state_differs, all[i].state_never);
      all[i].at_once.push_back(100 * (result.accuracy_at_once - run.undisturbed_then));
      all[i].at_end.push_back(100 * (result.accuracy_at_end - run.undisturbed_at_end));
    }
  return all;
}

/// "3", "1 - 3" or "never"; "1, 2 of 3 never" where only some differ.
std::string steps_text(const std::vector<double>& steps, std::size_t never) {
  if (steps.empty()) return "never";
  const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
  auto text = text_of(*least, 0);
  if (*most > *least) text += " - " + text_of(*most, 0);
  if (never > 0) text += ", " + std::to_string(never) + " of " + std::to_string(never + steps.size()) + " never";
  return text;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(values.size());
}

/// Prints the table, and returns in how many kinds of restart the weights did not do what is expected.
std::size_t report_ablations(const std::vector<ablation_run>& runs, report& numbers) {
  const auto kinds = all_ablations();
  const auto outcomes = outcomes_of(runs, kinds.size());
  std::vector<double> undisturbed;
  for (const auto& run : runs) undisturbed.push_back(100 * run.undisturbed_at_end);
  std::printf("LeNet-5, Adam: %zu restarts of each kind; the undisturbed runs end at %.2f %% (mean)\n\n", runs.size(),
              mean(undisturbed));
  table rows({"left out", "weights differ after steps", "state differs", "accuracy at once, points", "at the end, mean",
              "least", "most"});
  std::size_t unexpected = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto& o = outcomes[i];
    const auto [least, most] = std::minmax_element(o.at_end.begin(), o.at_end.end());
    rows.row({kinds[i].name, steps_text(o.weights_differ, o.never), steps_text(o.state_differs, o.state_never),
              text_of(mean(o.at_once)), text_of(mean(o.at_end)), text_of(*least), text_of(*most)});
    const auto key = "study.ablation." + kinds[i].key;
    numbers.number(key + ".breaks", static_cast<double>(o.weights_differ.size()));
    numbers.number(key + ".first_step", median(o.weights_differ));
    numbers.number(key + ".state_first_step", median(o.state_differs));
    numbers.number(key + ".points_at_once", mean(o.at_once));
    numbers.number(key + ".points_at_end", mean(o.at_end));
    const auto wrong = kinds[i].breaks_weights ? o.never : o.weights_differ.size();
    if (wrong > 0) ++unexpected;
  }
  rows.print();
  numbers.number("study.ablation.restarts", static_cast<double>(runs.size()));
  numbers.at_most("study.ablation.unexpected", static_cast<double>(unexpected), 0);
  return unexpected;
}

lenet::digits digits_of(const std::string& folder) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  return folder.empty() ? lenet::draw_digits(all) : lenet::read_digits(folder, all);
}

void measure_ablations(const arguments& options, report& numbers) {
  const auto images = digits_of(options.text("data"));
  std::vector<ablation_run> runs;
  trainer_options how{.steps = options.count("steps"), .batch = options.count("batch")};
  if (how.steps < 10) throw std::invalid_argument("--steps: at least 10");
  if (how.batch == 0 || how.batch > images.train.size())
    throw std::invalid_argument("--batch: 1 to the number of images");
  const auto seeds = options.positive("seeds");
  for (how.seed = 1; how.seed <= seeds; ++how.seed) {
    const work_directory folder(options.text("directory"), "study");
    const auto made = run_ablations(images, how, {how.steps / 4, how.steps / 2, how.steps * 9 / 10}, folder.path());
    runs.insert(runs.end(), made.begin(), made.end());
  }
  report_ablations(runs, numbers);
}

/// A restart within the third epoch, after the warm-up.
bool short_ablation_is_as_expected(const arguments& options, report& numbers) {
  const work_directory folder(options.text("directory"), "study");
  const lenet::digits images{lenet::draw_dataset(400, 28), lenet::draw_dataset(100, 29)};
  const auto runs = run_ablations(images, {.steps = 85, .batch = 16, .seed = 1}, {60}, folder.path());
  return report_ablations(runs, numbers) == 0;
}

int run(const arguments& options) {
  report numbers;
  const auto& json = options.file("json");
  bool is_as_expected = true;
  if (options.count("short") != 0) {
    is_as_expected = short_ablation_is_as_expected(options, numbers);
  } else {
    const auto has = [&](const char* name) { return options.has("sections", name, {"formats", "ablation"}); };
    if (has("formats")) measure_formats(options, numbers);
    if (has("ablation")) measure_ablations(options, numbers);
  }
  numbers.print_figures();
  numbers.write_json(json);
  return is_as_expected ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const folder = std::getenv("CAIRN_TEST_DATA");
  const arguments options(argc, argv,
                          {{"sections", "formats,ablation"},
                           {"data", folder == nullptr ? "" : folder},
                           {"directory", "."},
                           {"json", ""},
                           {"short", "0"},
                           {"sizes", "1,8,32,100"},
                           {"ranks", "1,2,4"},
                           {"reps", "3"},
                           {"training", "100"},
                           {"python", "python3"},
                           {"wait", "5"},
                           {"steps", "1500"},
                           {"batch", "64"},
                           {"seeds", "3"}},
                          usage);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "study: %s\n", error.what());
    return 1;
  }
}

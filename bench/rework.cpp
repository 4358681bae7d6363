// SPDX-License-Identifier: MIT
// What a lossy checkpoint costs in rework: real models, total failures, and restarts from the checkpoints of several
// methods.
#include <algorithm>
#include <cstdio>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/checkpointer.hpp"

#include "common/arguments.hpp"
#include "common/report.hpp"
#include "common/statistics.hpp"
#include "rework/compare.hpp"
#include "rework/methods.hpp"
#include "rework/probes.hpp"

namespace {

using namespace bench;
using namespace bench::rework;

constexpr std::string_view usage =
    "rework [--models lr,mf,lenet] [--seeds 10] [--failures 0] [--periods 0] [--settings all] [--data FOLDER]\n"
    "       [--sections methods,buckets,steps,restarts] [--json FILE] [--resume FOLDER] [--short 0]\n"
    "  --models    of lr, mf, lenet, alexnet, gpt and gpt_bf16\n"
    "  --seeds     runs of each model; the intervals are over them\n"
    "  --failures  in each run; 0: the model's own number\n"
    "  --periods   of each run, 4 to 1000000; 0: the model's own number\n"
    "  --settings  of Cairn's codecs, beside lc2 and lc3, such as lossless,lc3_bound; all: all of them\n"
    "  --data      folder with mnist/ and jester/; none: made data\n"
    "  --sections  methods: rework of all methods; buckets: the change of the loss without one of them; steps: bytes "
    "that each step "
    "of LC saves;\n"
    "              restarts: 1 to 10 in one run, of the models whose optimizer has arrays\n"
    "  --resume    saves the results in FOLDER after each seed; the same command continues from there, and one with "
    "other settings\n"
    "              measures only what is not known yet\n"
    "  --short     1: lr and mf with made data, three seeds; fails if LC costs more rework than TOPN with the same "
    "bytes\n";

/// lc2, lc3 and the settings of `--settings`, in their order; "all" for all.
std::vector<codec_setting> chosen_settings(const arguments& options) {
  const auto all = codec_settings();
  if (options.text("settings") == "all") return all;
  std::vector<codec_setting> chosen(all.begin(), all.begin() + 2);
  for (const auto& name : options.list("settings")) {
    const auto is_named = [&](const codec_setting& setting) { return setting.name == name; };
    const auto at = std::find_if(all.begin(), all.end(), is_named);
    if (at == all.end()) throw std::runtime_error("no setting is called " + name);
    if (std::none_of(chosen.begin(), chosen.end(), is_named)) chosen.push_back(*at);
  }
  return chosen;
}

/// What is measured.
struct request {
  std::vector<models::setting> models;
  std::size_t seeds;
  std::vector<codec_setting> settings;
  bool methods, buckets, steps, restarts;
  std::string data, resume;
};

/// Throws for an option that is wrong, before a model is trained.
request requested(const arguments& options) {
  const auto has = [&](const char* section) {
    return options.has("sections", section, {"methods", "buckets", "steps", "restarts"});
  };
  request asked{.models = {},
                .seeds = options.positive("seeds"),
                .settings = chosen_settings(options),
                .methods = has("methods"),
                .buckets = has("buckets"),
                .steps = has("steps"),
                .restarts = has("restarts"),
                .data = options.text("data"),
                .resume = options.text("resume")};
  const auto periods = options.count("periods"), failures = options.count("failures");
  if (periods != 0 && (periods < 4 || periods > 1'000'000))
    throw std::invalid_argument("--periods: 4 to 1000000, or 0");
  for (const auto& name : options.list_of("models", {"lr", "mf", "lenet", "alexnet", "gpt", "gpt_bf16"})) {
    auto& model = asked.models.emplace_back(models::setting_of(name, asked.data));
    if (periods > 0) model.periods = periods;
    if (failures > 0) model.failures = failures;
    try {
      static_cast<void>(failure_periods(model.periods, model.failures));
    } catch (const std::runtime_error& failure) {
      throw std::invalid_argument("--failures: " + name + ": " + failure.what());
    }
  }
  return asked;
}

void print_run(const models::setting& model, std::size_t seeds, const undisturbed_run& first) {
  std::printf("%s: %zu parameters, %zu seeds, %llu iterations, a checkpoint every %llu; loss %s to %s, accuracy %s\n\n",
              model.name.c_str(), models::elements_of(first.checkpoints.front().weights), seeds,
              static_cast<unsigned long long>(model.period * model.periods),
              static_cast<unsigned long long>(model.period), text_of(first.losses.front(), 4).c_str(),
              text_of(first.losses.back(), 4).c_str(), text_of(first.test.accuracy, 4).c_str());
}

/// The results of a model, seed by seed.
struct progress {
  std::string options;      ///< those that they depend on
  std::uint64_t saves = 0;  ///< of these results
  measurements weights{}, weights_and_optimizer{};
  std::map<std::uint64_t, models::score> tests{};
};

std::string options_of(const models::setting& model, const request& asked) {
  return model.name + ", " + std::to_string(model.periods) + " periods, methods: " + (asked.methods ? "yes" : "no") +
         ", failures: " + std::to_string(model.failures) + ", data: " + asked.data;
}

/// Restores the results that an earlier run with the same options, except --settings and --seeds, has left in `folder`.
/// Saves them, so that a folder that cannot be written is refused before hours of training.
std::unique_ptr<cairn::checkpointer> resume(const std::string& folder, std::size_t seeds, progress& known) {
  const auto options = known.options;
  auto saved = std::make_unique<cairn::checkpointer>(folder, cairn::checkpointer_options{.keep_last = 1});
  saved->restore(known);
  if (known.options != options)
    throw std::runtime_error(folder + " has results of other options: " + known.options + "; now: " + options);
  if (const auto done = known.tests.size(); done > seeds)
    throw std::runtime_error(folder + " has results of " + std::to_string(done) + " seeds, more than --seeds");
  saved->save(known, {.step = ++known.saves});
  return saved;
}

/// What all models have in common.
struct summary {
  double compression = 0;    ///< the best
  std::size_t elements = 0;  ///< of the largest model
  saved_percent steps{};     ///< of LC, on the largest model
};

void run_model(const models::setting& model, const request& asked, const std::string& json, report& numbers,
               summary& all) {
  progress known{.options = options_of(model, asked)};
  comparison weights(model, models::part::weights, asked.settings, known.weights),
      whole(model, models::part::weights_and_optimizer, asked.settings, known.weights_and_optimizer);
  std::unique_ptr<cairn::checkpointer> saved;
  if (!asked.resume.empty()) saved = resume(asked.resume + '/' + model.name, asked.seeds, known);

  std::optional<undisturbed_run> run = train_undisturbed(model, 1);
  print_run(model, asked.seeds, *run);
  if (asked.buckets) probe_buckets(model, 1, *run, numbers);
  if (asked.steps) {
    const auto steps = probe_steps(model.name, *run, numbers);
    const auto elements = models::elements_of(run->checkpoints.front().weights);
    if (elements > all.elements) all.elements = elements, all.steps = steps;
  }
  const auto done = !asked.methods    ? known.tests.size()
                    : model.has_slots ? std::min(weights.seeds(), whole.seeds())
                                      : weights.seeds();
  for (std::uint64_t seed = done + 1; seed <= asked.seeds; ++seed) {
    if (seed > 1) {
      run.reset();  // a GPT's takes 2 GB
      run = train_undisturbed(model, seed);
    }
    known.tests.emplace(seed, run->test);
    if (asked.methods) {
      weights.add(seed, *run);
      if (model.has_slots) whole.add(seed, *run);
    }
    if (saved) saved->save(known, {.step = ++known.saves});
  }
  run.reset();
  if (asked.methods) {
    const double best =
        weights.finish(numbers) * model.start(1)->bytes_per_weight() / 4;  // finish() divides FP32 bytes
    numbers.number("compression." + model.name, best);
    all.compression = std::max(all.compression, best);
    if (model.has_slots) whole.finish(numbers);
    numbers.write_json(json);  // what follows may take as long again
  }
  if (asked.restarts && model.has_slots) probe_restarts(model, known.tests, {1, 2, 5, 10}, numbers);
}

void run_all(const arguments& options) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a run that is killed after hours has printed its results
  report numbers;
  summary all;
  const auto& json = options.file("json");
  const auto asked = requested(options);
  for (const auto& model : asked.models) run_model(model, asked, json, numbers, all);
  if (asked.steps) {
    numbers.at_least("breakdown.e", all.steps.e, 78);
    numbers.at_least("breakdown.ep", all.steps.ep, 93.7);
    numbers.at_least("breakdown.eph", all.steps.cairn, 95.9);
  }
  if (asked.methods) numbers.at_least("compression.best", all.compression, 28);
  numbers.print_figures();
  numbers.write_json(json);
}

bool run_short(const arguments& options) {
  const auto& json = options.file("json");
  report numbers;
  bool is_good = true;
  const auto settings = codec_settings();
  for (const auto* name : {"lr", "mf"}) {
    auto model = models::setting_of(name, "");
    model.periods = 20, model.failures = 4;
    is_good = compare_shortly(model, std::span(settings).first(2), 3, numbers) && is_good;
  }
  numbers.write_json(json);
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
                             {"failures", "0"},
                             {"periods", "0"},
                             {"settings", "all"},
                             {"data", ""},
                             {"sections", "methods,buckets,steps,restarts"},
                             {"json", ""},
                             {"resume", ""},
                             {"short", "0"}},
                            usage);
    if (options.count("short") != 0) return run_short(options) ? 0 : 1;
    run_all(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rework: %s\n", failure.what());
    return 1;
  }
}

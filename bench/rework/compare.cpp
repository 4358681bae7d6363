// SPDX-License-Identifier: MIT
// Which methods are compared, and the tables and figures of the comparison.
#include "rework/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "common/statistics.hpp"
#include "rework/methods.hpp"

namespace bench::rework {
namespace {

using models::part;
using models::training;

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr std::pair<double, const char*> shares[] = {{0.05, ".5"}, {0.10, ".10"}};

method cairn_method(const codec_setting& how) {
  return {how.name, [how](training& run, part what) { return write_by_cairn(run, what, how); }, unlimited};
}

method scar() { return {"scar", write_by_scar, unlimited}; }
method topn() { return {"topn", write_by_topn, unlimited}; }
method full() { return {"full", write_full, unlimited}; }

std::string percent_of(double share) { return text_of(100 * share, 2); }

/// Results by their keys: "lc2" is what it takes by itself, "lc2.5" with 5 %, and "topn.as_lc2" with the bytes of lc2.
class results {
 public:
  results(const experiment& how, const undisturbed_runs& runs) : how_(how), runs_(runs) {}

  /// Measures one seed after another; `with.share` may depend on the seed.
  void add(const std::string& key, method with, const std::function<double(std::size_t)>& share) {
    auto& into = all_[key];
    into.name = key;
    std::size_t i = 0;
    for (const auto& [seed, run] : runs_) {
      with.share = share(i++);
      measure(how_, run, seed, with, into);
    }
    order_.push_back(key);
  }

  void add(const std::string& key, const method& with, double share) {
    add(key, with, [=](std::size_t) { return share; });
  }

  /// With a share in which the method, measured without a limit as `own`, may fit as it is.
  void add_with_share(const std::string& own, const method& with, double share, const std::string& key) {
    if (fits(all_.at(own), share)) {
      all_[key] = all_.at(own);
      order_.push_back(key);
    } else {
      add(key, with, share);
    }
  }

  [[nodiscard]] const result& at(const std::string& key) const { return all_.at(key); }

  void print() const {
    table rows({"method", "bytes per period, %", "per checkpoint, %", "rework, periods", "95 % interval", "whole",
                "fixed target", "unreached"});
    for (const auto& key : order_) {
      const auto& r = all_.at(key);
      const auto [mean, low, high] = mean_rework(r);
      rows.row({key, percent_of(mean_of(r.share)), percent_of(mean_of(r.stored_share)), text_of(mean, 3),
                text_of(low, 3) + " - " + text_of(high, 3), text_of(whole_rework(r)), text_of(mean_of(r.delay)),
                std::to_string(r.unreached)});
    }
    rows.print();
    for (const auto& key : order_)
      if (const auto n = all_.at(key).unreached; n > 0)
        std::printf("%s: %zu restarts did not reach the loss again; it has no mean\n\n", key.c_str(), n);
  }

  void add_to(report& numbers, const std::string& prefix) const {
    for (const auto& key : order_) {
      const auto& r = all_.at(key);
      const auto [mean, low, high] = mean_rework(r);
      const std::string name = prefix + ".measured." + key;
      numbers.number(name, mean);
      numbers.number(name + ".low", low);
      numbers.number(name + ".high", high);
      numbers.number(name + ".whole", whole_rework(r));
      numbers.number(name + ".fixed_target", mean_of(r.delay));
      numbers.number(name + ".share", mean_of(r.share));
    }
  }

 private:
  const experiment& how_;
  const undisturbed_runs& runs_;
  std::map<std::string, result> all_;
  std::vector<std::string> order_;
};

/// A ratio with its interval; with a bound where the issue has one.
void add_ratio(report& numbers, const std::string& name, const estimate& ratio, double bound) {
  if (bound > 0)
    numbers.at_least(name, ratio.mean, bound);
  else
    numbers.number(name, ratio.mean);
  numbers.number(name + ".low", ratio.low);
  numbers.number(name + ".high", ratio.high);
}

/// The peers over LC, and over the best of our settings, with the same share.
void add_ratios(const results& all, const std::string& model, const std::string& prefix, report& numbers) {
  const bool is_small = model == "lr" || model == "mf", is_image = model == "lenet" || model == "alexnet";
  for (const auto& [share, suffix] : shares) {
    const bool five = share == 0.05;
    const std::string at = suffix;
    std::string best;
    for (const auto& setting : codec_settings()) {
      const auto mean = mean_rework(all.at(setting.name + at)).mean;
      if (std::isfinite(mean) && (best.empty() || mean < mean_rework(all.at(best)).mean)) best = setting.name + at;
    }
    for (const auto& [peer, bound_lc2, bound_best] : {std::tuple("scar", 2.5, 2.8), std::tuple("topn", 2.0, 2.1)}) {
      const auto& of = all.at(peer + at);
      const auto name = [&](const std::string& under) { return prefix + '.' + peer + "_over_" + under + at; };
      add_ratio(numbers, name("lc2"), rework_ratio(of, all.at("lc2" + at)), five && is_small ? bound_lc2 : 0);
      add_ratio(numbers, name("lc3"), rework_ratio(of, all.at("lc3" + at)), 0);
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      add_ratio(numbers, name("best"), best.empty() ? estimate{none, none, none} : rework_ratio(of, all.at(best)),
                five && is_image ? bound_best : 0);
    }
    if (!best.empty()) std::printf("best of our settings with %s %%: %s\n", percent_of(share).c_str(), best.c_str());
  }
  std::printf("\n");
}

}  // namespace

undisturbed_runs train_all(const models::setting& model, std::size_t seeds) {
  undisturbed_runs runs;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) runs.emplace(seed, train_undisturbed(model, seed));
  const auto& first = runs.begin()->second;
  std::printf("%s: %zu parameters, %zu seeds, %llu iterations, a checkpoint every %llu; loss %s to %s, accuracy %s\n\n",
              model.name.c_str(), models::elements_of(first.checkpoints.front().weights), runs.size(),
              static_cast<unsigned long long>(model.period * model.periods),
              static_cast<unsigned long long>(model.period), text_of(first.losses.front(), 4).c_str(),
              text_of(first.losses.back(), 4).c_str(), text_of(first.test.accuracy, 4).c_str());
  return runs;
}

double compare_methods(const models::setting& model, part what, std::size_t failures, const undisturbed_runs& runs,
                       report& numbers) {
  const experiment how{model, what, failure_periods(model.periods, failures)};
  results all(how, runs);
  all.add("lc3_default", cairn_method(default_lc3()), unlimited);
  for (const auto& setting : codec_settings()) all.add(setting.name, cairn_method(setting), unlimited);
  for (const auto& [share, suffix] : shares) {
    for (const auto& setting : codec_settings())
      all.add_with_share(setting.name, cairn_method(setting), share, setting.name + suffix);
    for (const auto& peer : {scar(), topn(), full()}) all.add(peer.name + suffix, peer, share);
  }
  for (const std::string lc : {"lc2", "lc3"})
    for (const auto& peer : {scar(), topn()})
      all.add(peer.name + ".as_" + lc, peer, [&](std::size_t seed) { return all.at(lc).share[seed]; });

  std::printf("%s, %s\n", model.name.c_str(), what == part::weights ? "weights" : "weights and optimizer");
  all.print();
  const bool is_whole = what == part::weights_and_optimizer || !model.has_slots;
  const std::string prefix = "rework." + model.name + (what == part::weights ? "" : ".optimizer");
  all.add_to(numbers, prefix);
  if (is_whole) numbers.at_most("rework." + model.name + ".lc3", mean_rework(all.at("lc3_default")).mean, 1.0);
  add_ratios(all, model.name, prefix, numbers);

  double best = 0;
  for (const auto& setting : codec_settings()) best = std::max(best, 1 / mean_of(all.at(setting.name).stored_share));
  const auto run = model.start(1);
  const double iteration = seconds_of([&] {
                             for (int i = 0; i < 5; ++i) run->step();
                           }) /
                           5;
  numbers.number(prefix + ".overhead.lc3", mean_of(all.at("lc3").save_seconds) / iteration);
  return best;
}

bool compare_shortly(const models::setting& model, std::size_t failures, const undisturbed_runs& runs,
                     report& numbers) {
  const experiment how{model, part::weights, failure_periods(model.periods, failures)};
  results all(how, runs);
  bool is_good = true;
  const auto settings = codec_settings();
  for (const auto& setting : std::span(settings).first(2)) {
    all.add(setting.name, cairn_method(setting), unlimited);
    all.add("topn.as_" + setting.name, topn(), [&](std::size_t seed) { return all.at(setting.name).share[seed]; });
    const double ours = mean_rework(all.at(setting.name)).mean,
                 theirs = mean_rework(all.at("topn.as_" + setting.name)).mean;
    is_good = is_good && std::isfinite(ours) && !(ours > theirs);
  }
  all.print();
  all.add_to(numbers, "rework." + model.name);
  return is_good;
}

}  // namespace bench::rework

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

/// Results in the order in which they were measured.
void print_results(const std::map<std::string, result>& all, const std::vector<std::string>& order) {
  table rows({"method", "bytes per period, %", "per checkpoint, %", "rework, periods", "95 % interval", "whole",
              "fixed target", "unreached"});
  for (const auto& key : order) {
    const auto& r = all.at(key);
    const auto [mean, low, high] = mean_rework(r);
    rows.row({key, percent_of(mean_of(r.share)), percent_of(mean_of(r.stored_share)), text_of(mean, 3),
              text_of(low, 3) + " - " + text_of(high, 3), text_of(whole_rework(r)), text_of(mean_of(r.delay)),
              std::to_string(unreached(r))});
  }
  rows.print();
  for (const auto& key : order)
    if (const auto n = unreached(all.at(key)); n > 0)
      std::printf("%s: %zu restarts did not reach the loss again; the method has no mean\n\n", key.c_str(), n);
}

void add_result(report& numbers, const std::string& name, const result& r) {
  const auto [mean, low, high] = mean_rework(r);
  numbers.number(name, mean);
  numbers.number(name + ".low", low);
  numbers.number(name + ".high", high);
  numbers.number(name + ".whole", whole_rework(r));
  numbers.number(name + ".fixed_target", mean_of(r.delay));
  numbers.number(name + ".share", mean_of(r.share));
}

/// A ratio with its interval, and with its bound, if it has one (0: none).
void add_ratio(report& numbers, const std::string& name, const estimate& ratio, double bound) {
  if (bound > 0)
    numbers.at_least(name, ratio.mean, bound);
  else
    numbers.number(name, ratio.mean);
  numbers.number(name + ".low", ratio.low);
  numbers.number(name + ".high", ratio.high);
}

}  // namespace

comparison::comparison(models::setting model, part what, std::vector<codec_setting> settings, measurements& found)
    : how_{std::move(model), what, {}}, settings_(std::move(settings)), found_(found) {
  how_.failures = failure_periods(how_.model.periods, how_.model.failures);
  plan();
}

/// What is measured of a seed, in this order.
void comparison::plan() {
  const auto add = [&](const std::string& key, method with, double share, const std::string& base = "") {
    with.share = share;
    planned_.push_back({key, std::move(with), false, base});
  };
  std::vector peers{scar(), topn(), full()};
  add("lc3_default", cairn_method(default_lc3()), unlimited);
  for (const auto& setting : settings_) add(setting.name, cairn_method(setting), unlimited);
  for (const auto& [share, suffix] : shares) {
    for (const auto& setting : settings_) add(setting.name + suffix, cairn_method(setting), share, setting.name);
    for (const auto& peer : peers) add(peer.name + suffix, peer, share);
  }
  for (const auto& setting : settings_)
    if (setting.name == "lossless") peers.push_back(cairn_method(setting));
  for (const auto* lc : {"lc2", "lc3"})
    for (const auto& peer : peers) planned_.push_back({peer.name + ".as_" + lc, peer, true, lc});
}

std::uint64_t comparison::seeds() const {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const auto& each : planned_) {
    const auto known = found_.find(each.key);
    fewest = std::min(fewest, known == found_.end() ? 0 : known->second.rework.size());
  }
  return fewest;
}

void comparison::add(std::uint64_t seed, const undisturbed_run& run) {
  const auto at = static_cast<std::size_t>(seed - 1);
  trial restarts(how_, run, seed);
  for (auto [key, with, has_share_of_base, base] : planned_) {
    auto& into = found_[key];
    if (into.rework.size() > at) continue;
    if (has_share_of_base) {
      with.share = found_.at(base).share[at];
    } else if (!base.empty() && fits(found_.at(base).spent[at], with.share)) {
      add_seed(found_.at(base), at, into);
      continue;
    }
    restarts.measure(with, into);
  }
}

double comparison::finish(report& numbers) const {
  std::printf("%s, %s\n", how_.model.name.c_str(), how_.what == part::weights ? "weights" : "weights and optimizer");
  std::vector<std::string> order;
  for (const auto& each : planned_) order.push_back(each.key);
  print_results(found_, order);
  add_to(numbers);
  double best = 0;
  for (const auto& setting : settings_) best = std::max(best, 1 / mean_of(found_.at(setting.name).stored_share));
  return best;
}

void comparison::add_to(report& numbers) const {
  const auto& model = how_.model;
  const std::string prefix = "rework." + model.name + (how_.what == part::weights ? "" : ".optimizer");
  for (const auto& each : planned_) add_result(numbers, prefix + ".measured." + each.key, found_.at(each.key));
  const bool is_whole = how_.what == part::weights_and_optimizer || !model.has_slots;
  if (is_whole) numbers.at_most("rework." + model.name + ".lc3", mean_rework(found_.at("lc3_default")).mean, 1.0);
  add_ratios(numbers, prefix);
  const auto run = model.start(1);
  const double iteration = seconds_of([&] {
                             for (int i = 0; i < 5; ++i) run->step();
                           }) /
                           5;
  numbers.number(prefix + ".overhead.lc3", mean_of(found_.at("lc3").save_seconds) / iteration);
}

/// The peers over LC, and over the best of our settings, with the same share.
void comparison::add_ratios(report& numbers, const std::string& prefix) const {
  const auto& model = how_.model.name;
  const bool is_small = model == "lr" || model == "mf", is_image = model == "lenet" || model == "alexnet";
  for (const auto& [share, suffix] : shares) {
    const bool five = share == 0.05;
    const std::string at = suffix;
    std::string best;
    for (const auto& setting : settings_) {
      const auto mean = mean_rework(found_.at(setting.name + at)).mean;
      if (std::isfinite(mean) && (best.empty() || mean < mean_rework(found_.at(best)).mean)) best = setting.name + at;
    }
    for (const auto& [peer, bound_lc2, bound_best] : {std::tuple("scar", 2.5, 2.8), std::tuple("topn", 2.0, 2.1)}) {
      const auto& of = found_.at(peer + at);
      const auto name = [&](const std::string& under) { return prefix + '.' + peer + "_over_" + under + at; };
      add_ratio(numbers, name("lc2"), rework_ratio(of, found_.at("lc2" + at)), five && is_small ? bound_lc2 : 0);
      add_ratio(numbers, name("lc3"), rework_ratio(of, found_.at("lc3" + at)), 0);
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      add_ratio(numbers, name("best"), best.empty() ? estimate{none, none, none} : rework_ratio(of, found_.at(best)),
                five && is_image ? bound_best : 0);
    }
    if (!best.empty()) std::printf("best of our settings with %s %%: %s\n", percent_of(share).c_str(), best.c_str());
  }
  std::printf("\n");
}

bool compare_shortly(const models::setting& model, std::span<const codec_setting> settings, std::size_t seeds,
                     report& numbers) {
  const experiment how{model, part::weights, failure_periods(model.periods, model.failures)};
  std::map<std::string, result> all;
  std::vector<std::string> order;
  for (const auto& setting : settings) order.insert(order.end(), {setting.name, "topn.as_" + setting.name});
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto run = train_undisturbed(model, seed);
    trial restarts(how, run, seed);
    for (const auto& setting : settings) {
      auto& ours = all[setting.name];
      restarts.measure(cairn_method(setting), ours);
      auto peer = topn();
      peer.share = ours.share.back();
      restarts.measure(peer, all["topn.as_" + setting.name]);
    }
  }
  print_results(all, order);
  for (const auto& [key, of] : all) add_result(numbers, "rework." + model.name + ".measured." + key, of);
  return std::all_of(settings.begin(), settings.end(), [&](const codec_setting& setting) {
    const double ours = mean_rework(all.at(setting.name)).mean,
                 theirs = mean_rework(all.at("topn.as_" + setting.name)).mean;
    return std::isfinite(ours) && !(ours > theirs);
  });
}

}  // namespace bench::rework

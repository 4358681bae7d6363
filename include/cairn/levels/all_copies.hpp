// SPDX-License-Identifier: MIT
// The copiers of a run to all places but the first, and how often each of them copies.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/policy_memory.hpp"
#include "cairn/levels/copier.hpp"
#include "cairn/levels/joint_copy.hpp"
#include "cairn/levels/level_list.hpp"
#include "cairn/options.hpp"
#include "cairn/report.hpp"
#include "cairn/run/progress.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/level_schedule.hpp"
#include "cairn/schedule/observed_run.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

/// Chooses the periods of copies. The cost of a copy is its time, times the relative slowdown of iterations during
/// copies, at least 1 %; iterations during saves are ignored.
class all_copies final : public level_copies {
 public:
  all_copies(const std::shared_ptr<level_list>& all, const checkpointer_options& options, unsigned rank, unsigned ranks,
             const observer& on_event)
      : all_(all), joint_(*all, options, rank, ranks), schedule_(all->size() - 1) {
    if (rank != 0) return;
    for (std::size_t i = 1; i < all->size(); ++i)
      copiers_.push_back(std::make_shared<level_copier>(*all, i, joint_, options, on_event));
    all_->set_copiers({copiers_.begin(), copiers_.end()});
  }

  void published(const std::string& name) override {
    all_->published(0, name);
    for (const auto& each : copiers_) each->published(name);
  }
  [[nodiscard]] std::set<std::string> copying() const override {
    std::set<std::string> names;
    for (const auto& each : copiers_)
      if (auto name = each->copying()) names.insert(std::move(*name));
    return names;
  }
  [[nodiscard]] bool complete(double seconds) override {
    const auto end = later(std::chrono::steady_clock::now(), seconds);
    for (const auto& each : copiers_) each->hurry();
    return std::ranges::all_of(copiers_, [&](const auto& each) { return each->complete(end); });
  }
  [[nodiscard]] bool finish(double seconds) override {
    const auto end = later(std::chrono::steady_clock::now(), seconds);
    return std::ranges::all_of(copiers_, [&](const auto& each) { return each->finish(end); });
  }
  [[nodiscard]] std::vector<level_stats> stats() const override {
    std::vector<level_stats> all;
    for (const auto& each : copiers_) all.push_back(each->stats());
    return all;
  }

  [[nodiscard]] std::string request() const override { return joint_.request(); }
  void requested(const std::string& text) override { joint_.requested(text); }
  [[nodiscard]] std::uint64_t done() const override { return joint_.done(); }
  [[nodiscard]] std::string failure() const override { return joint_.failure(); }
  void answered(std::uint64_t number, const std::vector<std::string>& failures) override {
    joint_.answered(number, failures);
  }
  void hurry() override { joint_.hurry(); }

  void stepped(double seconds, bool is_saving) noexcept override {
    try {
      observe(seconds, std::exchange(was_saving_, is_saving) || is_saving);
      worked_ += seconds;
      constexpr double seldom = 1;  // second
      if (learn() || worked_ >= seldom) choose();
    } catch (...) {  // no memory: the periods stay as they are
    }
  }
  void restarted(const restart& how, const policy_memory& notes) noexcept override {
    try {
      schedule_.recall(notes);
      schedule_.restarted(how);
      choose();
    } catch (...) {  // no memory
    }
  }
  void remember(policy_memory& notes) const noexcept override {
    try {
      schedule_.remember(notes);
    } catch (...) {  // no memory
    }
  }

 private:
  /// Adds an iteration, unless a save ran beside it.
  void observe(double seconds, bool is_saving) noexcept {
    if (is_saving) return;
    moment now{.iteration_seconds = seconds};
    for (const auto& each : copiers_) {
      now.is_saving = now.is_saving || each->is_copying();
      now.saved_step += each->begun();
    }
    iterations_.observe(now);
  }
  /// What the copies that have ended took from the training. Returns whether there are any.
  bool learn() {
    constexpr double least_slowdown = 0.01;
    bool has_ended = false;
    for (std::size_t i = 0; i < copiers_.size(); ++i) {
      const auto [made, failed] = copiers_[i]->take_ended();
      if (made + failed == 0) continue;
      has_ended = true;
      iterations_.saved(made + failed);
      if (made > 0) schedule_.copied(i, std::max(iterations_.slowdown(), least_slowdown) * made, made);
    }
    return has_ended;
  }
  void choose() {
    schedule_.worked(std::exchange(worked_, 0.0));
    for (std::size_t i = 0; i < copiers_.size(); ++i)
      if (const auto seconds = schedule_.period(i)) copiers_[i]->set_period(*seconds);
  }

  std::shared_ptr<level_list> all_;
  joint_copy joint_;
  std::vector<std::shared_ptr<level_copier>> copiers_;
  // For the training thread:
  schedule::level_schedule schedule_;
  schedule::iteration_times iterations_;
  double worked_ = 0;  // seconds that the schedule does not know of
  bool was_saving_ = false;
};

}  // namespace cairn::inline v0_1::detail

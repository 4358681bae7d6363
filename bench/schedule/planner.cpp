// SPDX-License-Identifier: MIT
// Definitions of planner.hpp.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cairn/core/float_bits.hpp"
#include "schedule/failure_models.hpp"
#include "cairn/schedule/interval.hpp"
#include "schedule/optimum.hpp"
#include "schedule/planner.hpp"

namespace bench::schedule {
namespace detail {

inline constexpr double few_saves = 16;         // left: then the optimum decides
inline constexpr std::size_t most_cells = 512;  // into which what is left is divided

/// The early stops of a run that has reached the part `from`, as those of a run that begins there.
struct rest_of {
  const any_early_stop* run;
  double from;

  [[nodiscard]] double alive(double part) const {
    const double now = run->alive(from);
    return now > 0 ? run->alive(from + part * (1 - from)) / now : 1;
  }
};

}  // namespace detail

bool planner::is_due(const cairn::moment& now, double worked, const current_costs& all,
                     const std::optional<cairn::loss_curve>& curve) {
  if (!first_step_ || now.step <= *first_step_) first_step_ = now.step > 0 ? now.step - 1 : 0;
  const bool has_new_curve = wants_curve() && curve != curve_;
  if (has_new_curve) {
    curve_ = curve;
    const auto first = static_cast<double>(first_step()), last = static_cast<double>(*run_.last_step);
    const double fall = curve ? curve->at(first) - curve->at(last) : 0;
    scale_ = fall > 0 && cairn::detail::is_finite(1 / fall) ? 1 / fall : 0;
  }
  const bool has_saved = now.saved_step != saved_step_;
  if (has_saved) integral_ = 0;
  saved_step_ = now.saved_step;
  if (has_new_curve || has_saved || now.step >= look_again_) look_ahead(now, all);

  const double here = density(static_cast<double>(now.step), all);
  integral_ += here * worked;
  failures_before_ += worked / all.mtbf;
  if (few_left_) return next_save_ && now.step >= *next_save_;
  return integral_ * (integral_ + here * all.iteration_seconds) >= 1;  // see schedule::is_due
}

/// T / D: seconds per unit of loss.
double planner::price_of_loss(const current_costs& all) const noexcept {
  if (run_.seconds) return scale_ * *run_.seconds;
  return scale_ * static_cast<double>(*run_.last_step - first_step()) * all.iteration_seconds;
}

/// Saves per second.
double planner::density(double step, const current_costs& all) const noexcept {
  const double even = 1 / std::max(cairn::schedule::daly_interval(all.save_seconds, all.mtbf), 1e-9);
  if (run_.what == objective::coci) return even * std::exp(-failures_before_ / 2);
  if (run_.what != objective::exploratory || scale_ == 0 || step > static_cast<double>(*run_.last_step)) return even;
  const double price = -curve_->slope(step) / all.iteration_seconds * price_of_loss(all);
  return price > 0 && cairn::detail::is_finite(price) ? even * std::sqrt(price) : 0;
}

/// Until the end of the run, at the current costs. O(32).
double planner::saves_left(const cairn::moment& now, const current_costs& all) const noexcept {
  constexpr int parts = 32;
  const auto from = static_cast<double>(checkpoint_step(now)), left = static_cast<double>(*run_.last_step) - from;
  double sum = 0;
  for (int i = 0; i < parts; ++i) sum += density(from + left * (i + 0.5) / parts, all);
  return sum * left * all.iteration_seconds / parts;
}

void planner::look_ahead(const cairn::moment& now, const current_costs& all) {
  few_left_ = knows_end(now) && all.iteration_seconds > 0 && saves_left(now, all) <= detail::few_saves;
  if (few_left_) next_save_ = next_of_optimum(now, all);
  look_again_ = now.step + (knows_end(now) ? (*run_.last_step - now.step) / 8 + 1 : 1'000'000);
}

/// The step of the first save of the best plan for the rest of the run; nothing where no save pays.
std::optional<std::uint64_t> planner::next_of_optimum(const cairn::moment& now, const current_costs& all) const {
  const auto last = static_cast<double>(*run_.last_step), from = static_cast<double>(checkpoint_step(now)),
             left = last - from;
  const auto first = static_cast<double>(first_step());
  const std::size_t cells = std::min<std::size_t>(detail::most_cells, *run_.last_step - checkpoint_step(now));
  const double steps = left / static_cast<double>(cells), seconds = steps * all.iteration_seconds;
  const bool by_loss = scale_ > 0 && wants_curve();
  const double unit = price_of_loss(all);

  prices value;
  for (std::size_t k = 0; k <= cells; ++k) {
    const double x = from + steps * static_cast<double>(k);
    const double fallen = by_loss ? (curve_->at(from) - curve_->at(x)) * unit : 0;
    value.work.push_back(by_loss ? std::max(fallen, k > 0 ? value.work.back() : 0) : seconds * static_cast<double>(k));
    value.wait.push_back(by_loss && run_.what != objective::exploratory
                             ? std::max(-curve_->slope(x) / all.iteration_seconds * unit, 0.0)
                             : 1);
  }
  // A failure counts only if there was none before, saves always: they cost more by comparison.
  if (run_.what == objective::coci)
    for (auto& price : value.wait) price *= std::exp(failures_before_);
  const auto best = optimum(cost_model_of(std::move(value), run_.what == objective::coci,
                                          {.seconds = std::vector<double>(cells, seconds)},
                                          {.stall = all.save_seconds, .background = all.background},
                                          failures::exponential{std::chrono::duration<double>(all.mtbf)},
                                          detail::rest_of{&run_.stops, (from - first) / (last - first)}));
  if (best.saves.empty()) return std::nullopt;
  return checkpoint_step(now) + static_cast<std::uint64_t>(std::llround(steps * best.saves.front()));
}

}  // namespace bench::schedule

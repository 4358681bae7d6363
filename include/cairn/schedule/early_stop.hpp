// Models of jobs that end before their plan does: with what probability a job is still wanted at some part of its plan.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace cairn {

/// `alive(part)` is the probability that the job gets as far as that part of its plan, 0 to 1: 1 at 0, and never rising. What is left
/// at 1 runs to the end.
template <class Model>
concept early_stop_model = std::copy_constructible<Model> && requires(const Model& self, double part) {
  { self.alive(part) } -> std::convertible_to<double>;
};

class any_early_stop {
 public:
  template <class Model>
  requires(!std::same_as<std::remove_cvref_t<Model>, any_early_stop> && early_stop_model<std::remove_cvref_t<Model>>)
  any_early_stop(Model&& model)  // NOLINT: a model is meant to become one by itself
      : alive_([self = std::forward<Model>(model)](double part) { return double(self.alive(part)); }) {}

  [[nodiscard]] double alive(double part) const { return alive_(part); }

 private:
  std::function<double(double)> alive_;
};

namespace early_stops {

/// Every job runs to its end.
struct none {
  [[nodiscard]] double alive(double /*part*/) const noexcept { return 1; }
};

/// With `probability` (0 to 1; no number: 0) the job is stopped, anywhere between two parts of its plan alike; at `from` where `to` lies
/// not behind it. Where a part is no number, never.
struct uniform {
  double from = 0.4, to = 0.6;
  double probability = 1;

  [[nodiscard]] double alive(double part) const noexcept {
    const double first = std::max(from, 0.0);
    if (!(std::min(part, 1.0) > from && part > 0) || !(probability > 0) || std::isnan(to)) return 1;
    const double passed = to > first ? std::min((std::min(part, 1.0) - first) / (to - first), 1.0) : 1;
    return 1 - std::min(probability, 1.0) * passed;
  }
};

/// As past jobs did: the part of its plan that each of them reached, 1 and more for those that ran to the end (Kaplan's and Meier's
/// estimate, where only the end censors). What is no number is passed over; without past jobs: none. O(log n).
class past_jobs {
 public:
  explicit past_jobs(std::vector<double> reached) : reached_(std::move(reached)) {
    std::erase_if(reached_, [](double part) { return std::isnan(part); });
    std::sort(reached_.begin(), reached_.end());
  }

  [[nodiscard]] double alive(double part) const noexcept {
    if (reached_.empty() || !(part > 0)) return 1;
    const auto left = reached_.end() - std::lower_bound(reached_.begin(), reached_.end(), std::min(part, 1.0));
    return static_cast<double>(left) / static_cast<double>(reached_.size());
  }

 private:
  std::vector<double> reached_;  // rising
};

}  // namespace early_stops
}  // namespace cairn

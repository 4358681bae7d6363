// SPDX-License-Identifier: MIT
// Curves of a loss, and the contract of estimators: losses, one by one -> the curve they follow, if one can be trusted.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/schedule/base.hpp"

namespace cairn::inline v0_1 {

/// A loss as a function of the step x.
struct loss_curve {
  /// The formulas of the curves.
  enum class family : std::uint8_t {
    exponential,        ///< exp(a x + b): COCI
    exponential_floor,  ///< a exp(-b x) + c; SLAQ's geometric u^(x - b) + c is the same with u = exp(-b)
    inverse_linear,     ///< 1 / (a x + b) + c: Optimus
    inverse_quadratic,  ///< 1 / (a x^2 + b x + c) + d: SLAQ
    power_law           ///< a (x + 1)^-b + c
  };

  family shape{};             ///< which formula
  std::array<double, 4> p{};  ///< a, b, c, d

  friend bool operator==(const loss_curve&, const loss_curve&) = default;

  /// The loss after x steps.
  [[nodiscard]] double at(double x) const noexcept {
    switch (shape) {
      case family::exponential:
        return std::exp(p[0] * x + p[1]);
      case family::exponential_floor:
        return p[0] * std::exp(-p[1] * x) + p[2];
      case family::inverse_linear:
        return 1 / (p[0] * x + p[1]) + p[2];
      case family::inverse_quadratic:
        return 1 / ((p[0] * x + p[1]) * x + p[2]) + p[3];
      case family::power_law:
        return p[0] * std::pow(x + 1, -p[1]) + p[2];
    }
    return 0;
  }

  /// Its change per step.
  [[nodiscard]] double slope(double x) const noexcept {
    switch (shape) {
      case family::exponential:
        return p[0] * std::exp(p[0] * x + p[1]);
      case family::exponential_floor:
        return -p[0] * p[1] * std::exp(-p[1] * x);
      case family::inverse_linear: {
        const double below = p[0] * x + p[1];
        return -p[0] / (below * below);
      }
      case family::inverse_quadratic: {
        const double below = (p[0] * x + p[1]) * x + p[2];
        return -(2 * p[0] * x + p[1]) / (below * below);
      }
      case family::power_law:
        return -p[0] * p[1] * std::pow(x + 1, -p[1] - 1);
    }
    return 0;
  }
};

[[nodiscard]] constexpr int parameter_count(loss_curve::family shape) noexcept {
  switch (shape) {
    case loss_curve::family::exponential:
      return 2;
    case loss_curve::family::inverse_quadratic:
      return 4;
    default:
      return 3;
  }
}

[[nodiscard]] constexpr std::string_view name(loss_curve::family shape) noexcept {
  constexpr std::string_view names[] = {"exponential", "exponential to a floor", "inverse linear", "inverse quadratic",
                                        "power law"};
  static_assert(std::size(names) == static_cast<std::size_t>(loss_curve::family::power_law) + 1);
  const auto number = static_cast<std::size_t>(shape);
  return number < std::size(names) ? names[number] : "unknown";
}

/// Predicts the curve of a loss from the losses seen so far. `observe` takes any numbers in any order. `curve` gives
/// nothing while the estimator does not trust its fit; a policy then works without a curve. An estimator may also have
/// the members of `remembering_estimator`; a `remember` or `recall` with another signature is a compile-time error.
template <class Estimator>
concept estimator = std::copy_constructible<Estimator> && requires(Estimator& self, double step, double loss) {
  self.observe(step, loss);
  { self.curve() } -> std::convertible_to<std::optional<loss_curve>>;
};

/// `remember` adds what a checkpoint keeps. `recall` gets it back; it ignores names and sizes that it does not know.
template <class Estimator>
concept remembering_estimator = estimator<Estimator> && requires(const Estimator& self, Estimator& restored,
                                                                 policy_memory& memory, const policy_memory& kept) {
  self.remember(memory);
  restored.recall(kept);
};

/// Any estimator, chosen at run time. A copy observes independently.
class any_estimator {
 public:
  template <class Estimator>
  requires(!std::same_as<std::remove_cvref_t<Estimator>, any_estimator> && estimator<std::remove_cvref_t<Estimator>>)
  any_estimator(Estimator&& chosen)  // NOLINT: any estimator converts to an any_estimator
      : self_(std::make_unique<model<std::remove_cvref_t<Estimator>>>(std::forward<Estimator>(chosen))) {
    using type = std::remove_cvref_t<Estimator>;
    static_assert(
        remembering_estimator<type> || !(detail::has_function_remember<type> || detail::has_function_recall<type>),
        "an estimator with a memory has both `void remember(cairn::policy_memory&) const` and "
        "`void recall(const cairn::policy_memory&)`");
  }

  void observe(const double& step, const double& loss) { self_->observe(step, loss); }
  [[nodiscard]] std::optional<loss_curve> curve() { return self_->curve(); }
  void remember(policy_memory& memory) const { self_->remember(memory); }
  void recall(const policy_memory& kept) { self_->recall(kept); }

 private:
  struct interface {
    virtual ~interface() = default;
    [[nodiscard]] virtual std::unique_ptr<interface> clone() const = 0;
    virtual void observe(const double& step, const double& loss) = 0;
    virtual std::optional<loss_curve> curve() = 0;
    virtual void remember(policy_memory& memory) const = 0;
    virtual void recall(const policy_memory& kept) = 0;
  };

  template <class Estimator>
  struct model final : interface {
    template <class E>
    explicit model(E&& chosen) : held(std::forward<E>(chosen)) {}
    [[nodiscard]] std::unique_ptr<interface> clone() const override { return std::make_unique<model>(held); }
    void observe(const double& step, const double& loss) override { held.observe(step, loss); }
    std::optional<loss_curve> curve() override { return held.curve(); }
    void remember([[maybe_unused]] policy_memory& memory) const override {
      if constexpr (remembering_estimator<Estimator>) held.remember(memory);
    }
    void recall([[maybe_unused]] const policy_memory& kept) override {
      if constexpr (remembering_estimator<Estimator>) held.recall(kept);
    }
    Estimator held;
  };

  detail::cloned<interface> self_;
};

}  // namespace cairn::inline v0_1

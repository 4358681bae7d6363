// Curves of a loss over the steps of a training, as a few parameters.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace cairn {

/// A loss as a function of the step x.
struct loss_curve {
  enum class family : std::uint8_t {
    exponential,        ///< exp(a x + b): COCI
    exponential_floor,  ///< a exp(-b x) + c; SLAQ's geometric u^(x - b) + c is the same with u = exp(-b)
    inverse_linear,     ///< 1 / (a x + b) + c: Optimus
    inverse_quadratic,  ///< 1 / (a x^2 + b x + c) + d: SLAQ
    power_law           ///< a (x + 1)^-b + c
  };

  family shape{};
  std::array<double, 4> p{};  ///< a, b, c, d

  friend bool operator==(const loss_curve&, const loss_curve&) = default;

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
  switch (shape) {
    case loss_curve::family::exponential:
      return "exponential";
    case loss_curve::family::exponential_floor:
      return "exponential to a floor";
    case loss_curve::family::inverse_linear:
      return "inverse linear";
    case loss_curve::family::inverse_quadratic:
      return "inverse quadratic";
    case loss_curve::family::power_law:
      return "power law";
  }
  return "unknown";
}

}  // namespace cairn

// The contract of `schedule/`: what was observed, as plain numbers -> whether to save now.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace cairn {

/// A point of a run, as a policy sees it. Time is given, never taken: a test drives it.
struct moment {
  std::uint64_t step = 0;        ///< the step just done
  double seconds = 0;            ///< since the run began or was restored
  std::uint64_t saved_step = 0;  ///< of this run's newest checkpoint; else the step it began or was restored at
  double saved_seconds = 0;      ///< when that was
  std::optional<double> loss{};
};

/// Decides whether to save now. Asked once per step, with steps and seconds that never fall.
template <class Policy>
concept policy = std::copy_constructible<Policy> && requires(Policy& self, const moment& now) {
  { self.should_save(now) } -> std::convertible_to<bool>;
};

/// Any policy, chosen at run time.
class any_policy {
 public:
  template <class Policy>
  requires(!std::same_as<std::remove_cvref_t<Policy>, any_policy> && policy<std::remove_cvref_t<Policy>>)
  any_policy(Policy&& chosen)  // NOLINT: a policy is meant to become an any_policy by itself
      : decide_(
            [self = std::forward<Policy>(chosen)](const moment& now) mutable { return bool(self.should_save(now)); }) {}

  [[nodiscard]] bool should_save(const moment& now) { return decide_(now); }

 private:
  std::function<bool(const moment&)> decide_;
};

}  // namespace cairn

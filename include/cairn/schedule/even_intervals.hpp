// SPDX-License-Identifier: MIT
// Even intervals from the cost of a save and the mean time between failures: Young's and Daly's rules.
#pragma once

#include <chrono>
#include <optional>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/observed_run.hpp"

namespace cairn::inline v0_1::policies {

/// What Young's and Daly's rules need to know of failures and saves.
struct even_interval_options {
  mtbf_prior mtbf{};                                     ///< of one worker; learned from the run
  std::optional<std::chrono::duration<double>> stall{};  ///< that a save takes from the training; none: measured
  /// The longest time between two saves. Infinite: no limit; not positive: an hour.
  std::chrono::duration<double> longest_interval = std::chrono::hours{1};
};

/// Saves every `Interval(stall, MTBF)` seconds, at the end of an iteration (see schedule::is_due), and after the
/// longest interval at the latest. The job's MTBF is that of a worker divided by their number. A stall that is not
/// given is measured: then the first save is made `probe_steps` steps after the run began. O(1) per step.
template <double (*Interval)(double stall, double mtbf)>
class even_interval {
 public:
  explicit even_interval(const even_interval_options& options = {})
      : run_(options.mtbf, options.stall, schedule::sane_longest(options.longest_interval)) {}

  [[nodiscard]] bool should_save(const moment& now) {
    run_.observe(now);
    const auto cost = run_.save_seconds();
    return cost ? run_.is_due(Interval(*cost, run_.mtbf())) : run_.is_probe_due();
  }
  void saved(const save_cost& cost) { run_.saved(cost); }
  void restarted(const restart& how) { run_.restarted(how); }
  [[nodiscard]] policy_memory remember() const {
    policy_memory memory;
    run_.remember(memory);
    return memory;
  }
  void recall(const policy_memory& memory) { run_.recall(memory); }

 private:
  schedule::observed_run run_;
};

/// Young, A first order approximation to the optimum checkpoint interval, 1974: every sqrt(2 S M).
using young = even_interval<schedule::young_interval>;
/// Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, 2006: two more terms.
using daly = even_interval<schedule::daly_interval>;

}  // namespace cairn::inline v0_1::policies

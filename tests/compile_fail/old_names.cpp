// SPDX-License-Identifier: MIT
// Options of development versions that are gone: one error each, which names the option. The changelog names each of
// them, too.
#include "cairn/chain/options.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/schedule/adaptive.hpp"

// lines: 7 the function, the error, its line; perhaps a name that is similar, and where that is declared
void check(cairn::chain_options& options) {
  options.merge_every = 5;        // error no member named .merge_every.
  options.merge_to_whole = true;  // error no member named .merge_to_whole.
}
void check(cairn::codecs::lc<3>& options) {
  options.value = 1;            // error no member named .value.
  options.max_relative_l2 = 1;  // error no member named .max_relative_l2.
}
void check(cairn::policies::adaptive_options& options) {
  options.objective = 1;  // error no member named .objective.
  options.last_step = 1;  // error no member named .last_step.
  options.run_time = 1;   // error no member named .run_time.
  options.stops = 1;      // error no member named .stops.
  options.failures = 1;   // error no member named .failures.
  options.estimator = 1;  // error no member named .estimator.
}

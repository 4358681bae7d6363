// SPDX-License-Identifier: MIT
// Definitions of session.hpp: restores, and how the run continues after them.
#pragma once

#include <set>
#include <string_view>

#include "cairn/core/as_error.hpp"
#include "cairn/run/session.hpp"
#include "cairn/state/describe.hpp"

namespace cairn::inline v0_1::detail {

std::optional<load_report> session::restore(any_mutable_state state, const load_options& options) {
  enter("restore");
  auto report = with_errors(store().location() + " cannot be restored",
                            [&] { return history_.restore(state, for_restore(options)); });
  continue_from(report, state, options);
  return report;
}

std::optional<load_report> session::restore_best(any_mutable_state state, std::optional<metric_order> order,
                                                 const load_options& options) {
  enter("restore_best");
  if (!order && options_.keep_best) order = {options_.keep_best->metric, options_.keep_best->lower_is_better};
  return restore_by(state, order.value_or(metric_order{}), options);
}

std::optional<load_report> session::restore_finite(any_mutable_state state, const load_options& options) {
  enter("restore_finite");
  return restore_by(state, std::nullopt, options);
}

std::optional<load_report> session::restore_by(any_mutable_state state, const std::optional<metric_order>& order,
                                               const load_options& options) {
  auto report = with_errors(store().location() + " cannot be restored",
                            [&] { return history_.restore_by(state, order, for_restore(options)); });
  continue_from(report, state, options);
  return report;
}

/// Continues the run from the restored checkpoint, or begins it. The state has changed: no error fails the restore.
void session::continue_from(const std::optional<load_report>& report, any_state state, const load_options& options) {
  is_loss_finite_ = true;
  if (report) {
    has_run_ = true;
    note_losses(*report, state, options);
    record_.published({.step = report->step});
    policy_.restored(*report, record_);
  }
  const policy_driver::pause preparing(policy_);
  prepare(state);
}

/// Notes what the arrays of the state have lost: those that this and earlier restores loaded, the others as before.
void session::note_losses(const load_report& report, any_state state, const load_options& options) noexcept {
  if (report.restored.empty() && earlier_losses_.empty()) return;
  try {
    const std::set<std::string_view> loaded(report.loaded.begin(), report.loaded.end());
    restored_losses losses;
    for (const auto& each : describe(state).leaves) {
      const auto stored = options.rename ? options.rename(each.path) : each.path;
      const bool was_loaded = loaded.contains(stored);
      const auto& known = was_loaded ? report.restored : earlier_losses_;
      const auto at = known.find(was_loaded ? stored : each.path);
      if (at != known.end()) losses.emplace(each.path, at->second);
    }
    earlier_losses_ = std::move(losses);
  } catch (...) {  // the first save describes the state again, and fails
  }
}

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// Definitions of report.hpp.
#pragma once

#include "cairn/report.hpp"
#include "cairn/run/save_progress.hpp"

namespace cairn::inline v0_1 {

bool save_handle::done() const { return !save_ || save_->done(); }

void save_handle::wait() const {
  if (save_) save_->wait();
}

save_report save_handle::get() const {
  if (!save_) fail(errc::invalid, {"this step started no save"});
  return save_->get();
}

}  // namespace cairn::inline v0_1

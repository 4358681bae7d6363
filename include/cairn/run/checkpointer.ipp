// SPDX-License-Identifier: MIT
// Definitions of checkpointer.hpp, and of save_handle of report.hpp.
#pragma once

#include "cairn/checkpointer.hpp"
#include "cairn/group/base.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/run/progress.hpp"
#include "cairn/run/session.hpp"

namespace cairn::inline v0_1 {

bool save_handle::done() const { return !save_ || save_->done(); }

void save_handle::wait() const {
  if (save_) save_->wait();
}

save_report save_handle::get() const {
  if (!save_) fail(errc::invalid, {"this step started no save"});
  return save_->get();
}

void detail::session_end::operator()(session* ended) const noexcept {
  if (ended->is_owned()) delete ended;
}

checkpointer::checkpointer(const std::string& root, checkpointer_options options) {
  const bool durable = std::exchange(options.durable, true);
  self_.reset(new detail::session(stores::directory(root, {.durable = durable}), std::move(options)));
}

checkpointer::checkpointer(any_store store, checkpointer_options options)
    : self_(new detail::session(std::move(store), std::move(options))) {}

checkpointer::checkpointer(const std::string& root, checkpointer_options options, any_group ranks) {
  const bool durable = std::exchange(options.durable, true);
  self_.reset(new detail::session(stores::directory(root, {.durable = durable}), std::move(options), std::move(ranks)));
}

checkpointer::checkpointer(any_store store, checkpointer_options options, any_group ranks)
    : self_(new detail::session(std::move(store), std::move(options), std::move(ranks))) {}

std::vector<std::uint64_t> checkpointer::steps() const { return self_->steps(); }

std::optional<std::uint64_t> checkpointer::latest() const {
  const auto all = steps();
  return all.empty() ? std::nullopt : std::optional(all.back());
}

checkpointer::checkpointer(checkpointer&&) noexcept = default;
checkpointer& checkpointer::operator=(checkpointer&&) noexcept = default;
checkpointer::~checkpointer() = default;

std::optional<load_report> checkpointer::restore(any_mutable_state state, const load_options& options) {
  return self_->restore("restore", {}, state, options);
}

std::optional<load_report> checkpointer::restore_best(any_mutable_state state, std::optional<metric_order> order,
                                                      const load_options& options) {
  return self_->restore("restore_best", {detail::restore_choice::way::best, std::move(order)}, state, options);
}

std::optional<load_report> checkpointer::restore_finite(any_mutable_state state, const load_options& options) {
  return self_->restore("restore_finite", {detail::restore_choice::way::finite}, state, options);
}

step_outcome checkpointer::step(any_state state, const observation& now) { return self_->step(state, now); }

save_report checkpointer::save(any_state state, const observation& now) { return self_->save(state, now); }

bool checkpointer::poll() const noexcept { return self_->poll(); }

void checkpointer::progress() { self_->progress(); }

void checkpointer::wait() { self_->wait(); }

std::vector<removal> checkpointer::retention_plan() { return self_->retention_plan(); }

std::uint64_t checkpointer::remove_after(std::uint64_t step) { return self_->remove_after(step); }

save_stats checkpointer::stats() const { return self_->stats(); }

const any_store& checkpointer::store() const noexcept { return self_->store(); }

}  // namespace cairn::inline v0_1

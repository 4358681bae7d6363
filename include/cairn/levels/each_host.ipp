// SPDX-License-Identifier: MIT
// Definitions of cairn/each_host.hpp.
#pragma once

#include "cairn/each_host.hpp"
#include "cairn/levels/host_slots.hpp"

namespace cairn::inline v0_1 {

each_host::each_host(std::string root, each_host_options options)
    : self_(std::make_shared<detail::host_slots>(std::move(root), std::move(options))) {}

std::string each_host::location() const { return self_->root(); }
stores::ownership each_host::lock() { return self_->lock(); }
std::chrono::milliseconds each_host::lease() const { return self_->lease(); }
std::unique_ptr<stores::transaction> each_host::begin(std::string_view name) {
  return self_->begin(name, detail::attempt_after(self_->publications({}), stores::detail::random_number()));
}
std::unique_ptr<stores::transaction> each_host::join(std::string_view name, std::string_view attempt) {
  return self_->begin(name, attempt);
}
std::vector<std::string> each_host::list() const { return self_->list(); }
std::shared_ptr<const stores::publication> each_host::open(std::string_view name) const {
  return self_->open(std::string(name));
}
void each_host::remove(std::string_view name) { self_->remove(std::string(name)); }
std::shared_ptr<detail::host_set> each_host::host_set_of_places() const { return self_; }

}  // namespace cairn::inline v0_1

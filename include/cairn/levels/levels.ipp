// SPDX-License-Identifier: MIT
// Definitions of cairn/levels.hpp.
#pragma once

#include "cairn/levels.hpp"
#include "cairn/levels/all_copies.hpp"
#include "cairn/levels/copier.hpp"
#include "cairn/levels/level_list.hpp"
#include "cairn/store/directory.hpp"

namespace cairn::inline v0_1 {

namespace detail {

std::unique_ptr<level_copies> level_list::start(const checkpointer_options& options, unsigned rank, unsigned ranks,
                                                std::function<void(const event&)> on_event) {
  return std::make_unique<all_copies>(shared_from_this(), options, rank, ranks, on_event);
}

void level_list::remove(const std::string& name) {
  for (const auto& each : copiers()) each->forget(name);
  bool was_there = false;
  for (std::size_t i = size(); i-- > 0;) {
    try {
      place(i).remove(name);
      was_there = true;
    } catch (const error& cause) {
      if (cause.code() != errc::not_found) throw;
    }
    removed(i, name);
  }
  if (!was_there) fail(errc::not_found, {"there is no checkpoint ", place(0).location(), "/", name});
}

void level_list::remove_abandoned() {
  for (std::size_t i = size(); i-- > 0;)
    for (const auto& name : abandoned(i)) {
      place(i).remove(name);
      removed(i, name);
    }
}

}  // namespace detail

level::level(const std::string& root, const level_options& how) : place(stores::directory(root)), options(how) {}

levels::levels(std::vector<level> places) : self_(std::make_shared<detail::level_list>(std::move(places))) {}

std::string levels::location() const { return self_->place(0).location(); }
stores::ownership levels::lock() { return self_->lock(); }
std::chrono::milliseconds levels::lease() const { return self_->lease(); }
std::unique_ptr<stores::transaction> levels::begin(std::string_view name) { return self_->place(0).begin(name); }
std::unique_ptr<stores::transaction> levels::join(std::string_view name, std::string_view attempt) {
  return self_->place(0).join(name, attempt);
}
std::vector<std::string> levels::list() const { return self_->list(); }
std::shared_ptr<const stores::publication> levels::open(std::string_view name) const {
  return self_->open(std::string(name));
}
void levels::remove(std::string_view name) { self_->remove(std::string(name)); }
std::shared_ptr<detail::level_set> levels::level_set_of_places() const { return self_; }
std::shared_ptr<detail::host_set> levels::host_set_of_places() const { return self_->place(0).hosts(); }

}  // namespace cairn::inline v0_1

// SPDX-License-Identifier: MIT
// See code_tables.hpp.
#pragma once

#include <utility>

#include "cairn/encode/code_tables.hpp"

namespace cairn::inline v0_1 {

void code_tables::add(const code_table& table) {
  const auto [known, is_new] = position_.try_emplace(table.id, tables_.size());
  if (!is_new) {
    const auto from = std::exchange(known->second, tables_.size() - 1);
    tables_.erase(tables_.begin() + static_cast<std::ptrdiff_t>(from));
    for (auto at = from; at < tables_.size(); ++at) position_[tables_[at].id] = at;
  }
  tables_.push_back(table);
}

const code_lengths* code_tables::find(std::uint64_t id) const {
  const auto known = position_.find(id);
  return known == position_.end() ? nullptr : &tables_[known->second].lengths;
}

void code_tables::keep_newest(std::size_t most) {
  if (tables_.size() <= most) return;
  tables_.erase(tables_.begin(), tables_.end() - static_cast<std::ptrdiff_t>(most));
  position_.clear();
  for (std::size_t at = 0; at < tables_.size(); ++at) position_.emplace(tables_[at].id, at);
}

void code_tables::clear() noexcept {
  tables_.clear();
  position_.clear();
}

}  // namespace cairn::inline v0_1

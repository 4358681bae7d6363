// SPDX-License-Identifier: MIT
// Definitions of column_copy.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/state/column_copy.hpp"

namespace cairn::inline v0_1::detail {

void check_text_end(const text_column& stored, std::uint64_t begin, std::uint64_t end) {
  if (end < begin || end > stored.text.size())
    fail(errc::mismatch,
         {"has a text and ends in the checkpoint that are no list of strings; leave them out with filter"});
}

void sort_pointers(std::vector<const void*>& all, bool (*less)(const void*, const void*)) {
  std::vector<std::pair<const void*, std::size_t>> numbered;
  numbered.reserve(all.size());
  for (const auto* each : all) numbered.emplace_back(each, numbered.size());
  std::sort(numbered.begin(), numbered.end(), [&](const auto& a, const auto& b) {
    if (less(a.first, b.first)) return true;
    return !less(b.first, a.first) && a.second < b.second;
  });
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = numbered[i].first;
}

}  // namespace cairn::inline v0_1::detail

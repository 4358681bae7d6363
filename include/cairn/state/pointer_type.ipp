// SPDX-License-Identifier: MIT
// Definitions of pointer_type.hpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include "cairn/state/pointer_type.hpp"
#include "cairn/state/stable_name.hpp"

namespace cairn::inline v0_1::detail {

class_list::class_list(std::span<const listed_type> types) : types_(types) {
  for (const auto& each : types) {
    auto& names = names_.emplace_back(each.given.begin(), each.given.end());
    names.push_back(stable_name(*each.dynamic, each.type->name));
    names.push_back(portable_name(each.type->name));
  }
}

const listed_type* class_list::find(const type_id& type) const noexcept {
  const auto at =
      std::find_if(types_.begin(), types_.end(), [&](const listed_type& each) { return *each.type == type; });
  return at == types_.end() ? nullptr : &*at;
}

const listed_type* class_list::find(const std::type_info& type) const noexcept {
  const auto at =
      std::find_if(types_.begin(), types_.end(), [&](const listed_type& each) { return *each.dynamic == type; });
  return at == types_.end() ? nullptr : &*at;
}

const listed_type* class_list::find(std::string_view stored) const {
  const auto called = [&](std::string_view name) -> const listed_type* {
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (names_[i].front() == name) return &types_[i];
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (std::find(names_[i].begin(), names_[i].end(), name) != names_[i].end()) return &types_[i];
    return nullptr;
  };
  const listed_type* const found = called(stored);
  return found ? found : called(portable_name(stored));
}

const std::string& class_list::name(const listed_type& type) const noexcept {
  return names_[static_cast<std::size_t>(&type - types_.data())].front();
}

}  // namespace cairn::inline v0_1::detail

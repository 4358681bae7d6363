// SPDX-License-Identifier: MIT
// Definitions of overlaps.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/core/strided.hpp"
#include "cairn/state/overlaps.hpp"

namespace cairn::inline v0_1::detail {

/// Adds the memory of all that an object owns, and the places of the owners in it.
class freed_memory::collector final : public walker {
 public:
  collector(walk_position& at, freed_memory& to, std::size_t by) noexcept : walker(at), to_(to), by_(by) {}

  [[nodiscard]] cairn::purpose purpose() const noexcept override { return purpose::check; }
  [[nodiscard]] bool runs_archive_functions() const noexcept override { return false; }
  shared_answer shared(const found_object& /*found*/, const std::shared_ptr<void>& /*object*/) override {
    return {.destroys = true};
  }
  void note_dropped(const std::shared_ptr<void>& object, const void* pointer, walk_function walk) override {
    to_.add_dropped(object, pointer, walk, by_);
  }
  void copy(void* object, const copy_operations& how) override {
    note_owner(object, &how, nullptr);
    if (!how.for_each_freed) return;
    how.for_each_freed(object, nullptr, this, [](void* self, const void* memory, std::size_t bytes) {
      const collector& of = *static_cast<collector*>(self);
      of.to_.add_range(memory, bytes, of.by_);
    });
  }
  void note_owner(const void* object, const void* /*type*/, const void* /*content*/) override {
    to_.add_range(object, 1, by_);
  }
  void walk_temporary(void* object, walk_function /*walk*/, void (*destroy)(void*)) override { destroy(object); }

 private:
  void add(memory_view view, const device_copies* device) override {
    if (device || !view.memory || view.bytes() == 0) return;  // a device's memory is not the host's
    const auto [first, last] = address_range(view);
    to_.add_range(first, static_cast<std::uint64_t>(last - first), by_);
  }

  freed_memory& to_;
  std::size_t by_;
};

std::size_t freed_memory::index_of(const owner& of, std::string_view path) {
  if (owners_.empty() || owners_.back().of != of || owners_.back().path != path)
    owners_.push_back({of, std::string(path)});
  return owners_.size() - 1;
}

void freed_memory::add_range(const void* memory, std::uint64_t bytes, std::size_t by) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  if (bytes > 0) ranges_.push_back({begin, begin + bytes, by});
}

void freed_memory::add_dropped(const std::shared_ptr<void>& object, const void* pointer, walk_function walk,
                               std::size_t by) {
  const auto [at, is_new] = dropped_.try_emplace(object);
  if (is_new) at->second.by = by;
  at->second.parts.emplace(object.get(), walk);
  at->second.pointers.insert(pointer);
  to_check_.push_back(&*at);
}

void freed_memory::add(const void* memory, std::uint64_t bytes, const owner& of, std::string_view path) {
  add_range(memory, bytes, index_of(of, path));
}

void freed_memory::add_object(void* object, walk_function walk, walk_position& at, const owner& of) {
  collector all(at, *this, index_of(of, at.path));
  walk(all, object);
}

void freed_memory::add_shared(const std::shared_ptr<void>& object, const void* pointer, walk_function walk,
                              const owner& of, std::string_view path) {
  add_dropped(object, pointer, walk, index_of(of, path));
}

void freed_memory::keep(const void* memory, std::uint64_t bytes, std::string_view path, bool is_view) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  kept_.push_back({begin, begin + bytes, std::string(path), is_view});
}

void freed_memory::destroy_dropped(walk_position& at) {
  while (!to_check_.empty()) {  // an object that is destroyed may drop others
    auto& [object, of] = *to_check_.back();
    to_check_.pop_back();
    const auto dropped = static_cast<long>(of.pointers.size());
    if (object.use_count() > dropped + 1 || std::exchange(of.is_destroyed, true)) continue;  // the map has one, too
    collector all(at, *this, of.by);
    for (const auto& [part, walk] : std::map(of.parts)) walk(all, part);
  }
}

std::vector<freed_memory::overlap> freed_memory::find(walk_position& at, const owner_paths& owners) {
  struct kept_part {
    std::uintptr_t begin, end;
    std::string_view path;
    bool is_view;
  };
  destroy_dropped(at);
  std::vector<kept_part> parts;
  if (!ranges_.empty()) {
    for (const auto& each : kept_) parts.push_back({each.begin, each.end, each.path, each.is_view});
    for (const auto& [of, paths] : owners) {
      const auto address = reinterpret_cast<std::uintptr_t>(of.object);
      for (const auto& path : paths) parts.push_back({address, address + 1, path, false});
    }
  }
  std::ranges::sort(parts, {}, &kept_part::begin);
  std::ranges::sort(ranges_, {}, &range::begin);
  std::unordered_map<owner, overlap, owner::hash> first_of;
  std::vector<range> near;  // that may reach the part
  auto next = ranges_.begin();
  for (const kept_part& part : parts) {
    const auto is_own = [&](std::string_view name) {
      return !part.is_view && (is_within(part.path, name) || is_within(name, part.path));
    };
    while (next != ranges_.end() && next->begin < part.end) near.push_back(*next++);
    std::erase_if(near, [&](const range& each) { return each.end <= part.begin; });
    for (const range& each : near) {
      const freeing_owner& by = owners_[each.by];
      const auto known = first_of.find(by.of);
      if (each.begin >= part.end || (known != first_of.end() && known->second.part <= part.path) || is_own(by.path))
        continue;
      const auto names = owners.find(by.of);
      if (names == owners.end() || std::ranges::none_of(names->second, is_own))
        first_of[by.of] = {by.path, std::string(part.path)};
    }
  }
  std::vector<overlap> found;
  for (auto& [by, each] : first_of) found.push_back(std::move(each));
  std::ranges::sort(found, {}, &overlap::part);
  *this = {};
  return found;
}

}  // namespace cairn::inline v0_1::detail

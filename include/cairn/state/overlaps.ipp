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
  void note_dropped(const std::shared_ptr<void>& object, walk_function walk) override {
    to_.add_dropped(object, walk, by_);
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

void freed_memory::add_dropped(const std::shared_ptr<void>& object, walk_function walk, std::size_t by) {
  ++dropped_.try_emplace(object.get(), dropped_object{object, walk, by}).first->second.pointers;
}

void freed_memory::add(const void* memory, std::uint64_t bytes, const owner& of, std::string_view path) {
  add_range(memory, bytes, index_of(of, path));
}

void freed_memory::add_object(void* object, walk_function walk, walk_position& at, const owner& of) {
  collector all(at, *this, index_of(of, at.path));
  walk(all, object);
}

void freed_memory::add_shared(const std::shared_ptr<void>& object, walk_function walk, const owner& of,
                              std::string_view path) {
  add_dropped(object, walk, index_of(of, path));
}

void freed_memory::keep(const void* memory, std::uint64_t bytes, std::string_view path) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  kept_.push_back({begin, begin + bytes, std::string(path)});
}

void freed_memory::destroy_dropped(walk_position& at) {
  for (bool is_new = true; is_new;) {  // an object that is destroyed may drop others
    is_new = false;
    for (auto& [address, each] : dropped_) {
      const bool is_shared = each.object.use_count() > each.pointers + 1;  // this list has one pointer, too
      if (is_shared || std::exchange(each.is_destroyed, true)) continue;
      collector all(at, *this, each.by);
      each.walk(all, each.object.get());
      is_new = true;
    }
  }
}

std::vector<freed_memory::overlap> freed_memory::find(walk_position& at, const owner_paths& owners) {
  destroy_dropped(at);
  std::ranges::sort(ranges_, {}, &range::begin);
  std::uintptr_t reach = 0;
  for (auto& each : ranges_) each.reach = reach = std::max(reach, each.end);
  std::vector<overlap> found;
  const auto search = [&](std::uintptr_t begin, std::uintptr_t end, const std::string& path) {
    const auto is_own = [&](const std::string& name) { return is_within(path, name) || is_within(name, path); };
    auto next = std::ranges::lower_bound(ranges_, end, {}, &range::begin);
    while (next != ranges_.begin() && (--next)->reach > begin) {
      freeing_owner& by = owners_[next->by];
      if (next->end <= begin || by.is_found || is_own(by.path)) continue;
      const auto names = owners.find(by.of);
      if (names != owners.end() && std::ranges::any_of(names->second, is_own)) continue;
      by.is_found = true;
      found.push_back({by.path, path});
    }
  };
  if (ranges_.empty()) return found;
  for (const auto& each : kept_) search(each.begin, each.end, each.path);
  return found;
}

}  // namespace cairn::inline v0_1::detail

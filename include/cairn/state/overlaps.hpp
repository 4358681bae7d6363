// SPDX-License-Identifier: MIT
// Finds parts of a state that share memory: with memory that a load frees or moves, since the object that owns it gets
// another structure; and arrays that a load would give different values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/stored_state.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

/// Whether `path` is `outer` or below it. An empty `outer` is the whole state.
[[nodiscard]] inline bool is_within(std::string_view path, std::string_view outer) noexcept {
  return path.starts_with(outer) && (outer.empty() || path.size() == outer.size() || path[outer.size()] == '.');
}

/// An object that owns others: a container, an optional, a variant, a pointer. `type` is the address of the operations
/// of its type: an object and its first member have the same address. `content`: of a pointer, the address of the
/// object that it owns.
struct owner {
  const void* object = nullptr;
  const void* type = nullptr;
  const void* content = nullptr;

  friend bool operator==(const owner&, const owner&) = default;
  struct hash {
    [[nodiscard]] std::size_t operator()(const owner& of) const noexcept {
      const std::hash<const void*> one;
      return (one(of.object) * 31 + one(of.type)) * 31 + one(of.content);
    }
  };
};

/// The paths of each owner in the state.
using owner_paths = std::unordered_map<owner, std::vector<std::string>, owner::hash>;

/// What a load frees, moves and keeps, as the check of it finds that.
class freed_memory {
 public:
  struct overlap {
    std::string owner;  ///< its path; empty: it is the whole state
    std::string part;   ///< the path of something in the memory that it frees
  };

  /// The owner at `path` frees or moves that memory.
  void add(const void* memory, std::uint64_t bytes, const owner& of, std::string_view path) {
    add_range(memory, bytes, index_of(of, path));
  }

  /// It destroys an object. Private copies in it are not searched.
  void add_object(void* object, walk_function walk, walk_position& at, const owner& of);
  /// It takes the pointer at `pointer` away from an object that others may share, which is destroyed if these are all
  /// that there are.
  void add_shared(const std::shared_ptr<void>& object, const void* pointer, walk_function walk, const owner& of,
                  std::string_view path) {
    add_dropped(object, pointer, walk, index_of(of, path));
  }

  /// The load keeps the array at `path`. `is_view`: of memory that belongs to something else.
  void keep(const void* memory, std::uint64_t bytes, std::string_view path, bool is_view) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    kept_.push_back({begin, begin + bytes, std::string(path), is_view});
  }

  /// Which of the kept arrays and of `owners` are in memory that is freed: for each owner that frees some, the one with
  /// the first path. It is no fault if it belongs to that owner, under any of its paths. Forgets all. O(n log n) where
  /// few of the ranges overlap.
  [[nodiscard]] std::vector<overlap> find(walk_position& at, const owner_paths& owners) {
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

 private:
  class collector;
  struct range {
    std::uintptr_t begin, end;
    std::size_t by;  // index in `owners_`
  };
  struct kept_array {
    std::uintptr_t begin, end;
    std::string path;
    bool is_view;
  };
  struct freeing_owner {
    owner of;
    std::string path;
  };
  /// What pointers lead to that share one count.
  struct dropped_object {
    std::map<void*, walk_function> parts{};
    std::set<const void*> pointers{};  // that are dropped
    std::size_t by = 0;
    bool is_destroyed = false;
  };
  using dropped_map = std::map<std::shared_ptr<void>, dropped_object, std::owner_less<>>;

  std::size_t index_of(const owner& of, std::string_view path) {
    if (owners_.empty() || owners_.back().of != of || owners_.back().path != path)
      owners_.push_back({of, std::string(path)});
    return owners_.size() - 1;
  }

  void add_range(const void* memory, std::uint64_t bytes, std::size_t by) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    if (bytes > 0) ranges_.push_back({begin, begin + bytes, by});
  }

  void add_dropped(const std::shared_ptr<void>& object, const void* pointer, walk_function walk, std::size_t by) {
    const auto [at, is_new] = dropped_.try_emplace(object);
    if (is_new) at->second.by = by;
    at->second.parts.emplace(object.get(), walk);
    at->second.pointers.insert(pointer);
    to_check_.push_back(&*at);
  }

  /// Adds the memory of the dropped objects that nothing else shares.
  void destroy_dropped(walk_position& at);

  std::vector<range> ranges_;
  std::vector<kept_array> kept_;
  std::vector<freeing_owner> owners_;
  dropped_map dropped_;
  std::vector<dropped_map::value_type*> to_check_;
};

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

inline void freed_memory::add_object(void* object, walk_function walk, walk_position& at, const owner& of) {
  collector all(at, *this, index_of(of, at.path));
  walk(all, object);
}

inline void freed_memory::destroy_dropped(walk_position& at) {
  while (!to_check_.empty()) {  // an object that is destroyed may drop others
    auto& [object, of] = *to_check_.back();
    to_check_.pop_back();
    const auto dropped = static_cast<long>(of.pointers.size());
    if (object.use_count() > dropped + 1 || std::exchange(of.is_destroyed, true)) continue;  // the map has one, too
    collector all(at, *this, of.by);
    for (const auto& [part, walk] : std::map(of.parts)) walk(all, part);
  }
}

/// The arrays that a load fills. Those with gaps between their elements are compared with arrays of the same strides,
/// type and size that begin at the same address, packed ones with all packed arrays that overlap them.
class tied_arrays {
 public:
  /// Stored leaf `index` is loaded into all of `view`.
  void add(const memory_view& view, const device_copies* device, std::size_t index);

  /// The paths in the checkpoint of arrays that share memory and differ in it. Reads the values of arrays that share
  /// memory. O(n log n).
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> find_conflicts(fetched_leaves& by,
                                                                                const catalog& from);

 private:
  struct array {
    const void* space;  // the memory that the addresses are in
    std::vector<std::int64_t> strides;
    std::uintptr_t begin, end;  // if there are strides, of the first element only
    std::uint64_t count;
    dtype type;
    std::size_t leaf;
  };

  [[nodiscard]] static std::vector<std::byte> values_of(fetched_leaves& by, const catalog& from, const array& of);

  std::vector<array> arrays_;
};

inline void tied_arrays::add(const memory_view& view, const device_copies* device, std::size_t index) {
  if (!view.memory || view.bytes() == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(view.memory);
  const std::uint64_t bytes = view.contiguous() ? view.bytes() : size_of(view.type);
  arrays_.push_back(
      {memory_key(view.memory, device).space, view.strides, begin, begin + bytes, view.count(), view.type, index});
}

inline std::vector<std::byte> tied_arrays::values_of(fetched_leaves& by, const catalog& from, const array& of) {
  std::vector<std::byte> values(of.count * size_of(of.type));
  fetch_leaf(by, from, of.leaf, {of.type, from.leaves[of.leaf].shape, values.data(), {}});
  return values;
}

inline std::vector<std::pair<std::string, std::string>> tied_arrays::find_conflicts(fetched_leaves& by,
                                                                                    const catalog& from) {
  std::vector<std::pair<std::string, std::string>> found;
  using group = std::tuple<const void*, const std::vector<std::int64_t>&, dtype, std::uint64_t>;
  const auto group_of = [](const array& of) {  // arrays with gaps are compared with those of the same type and size
    const bool has_gaps = !of.strides.empty();
    return group(of.space, of.strides, has_gaps ? of.type : dtype{}, has_gaps ? of.count : 0);
  };
  const auto order = [&](const array& a, const array& b) {
    const auto left = group_of(a), right = group_of(b);
    return left != right ? left < right : a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  std::sort(arrays_.begin(), arrays_.end(), order);
  const array* outer = nullptr;  // of the arrays until now, the one that ends last
  std::vector<std::byte> outer_values;
  for (const array& each : arrays_) {
    const bool is_near = outer && group_of(*outer) == group_of(each);
    if (is_near && each.begin < outer->end) {
      if (each.leaf == outer->leaf && each.begin == outer->begin) continue;
      if (outer_values.empty()) outer_values = values_of(by, from, *outer);
      const auto values = values_of(by, from, each);
      const auto shared = outer_values.begin() + static_cast<std::ptrdiff_t>(each.begin - outer->begin);
      const auto size = std::min(values.size(), static_cast<std::size_t>(outer_values.end() - shared));
      if (!std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size), shared))
        found.emplace_back(from.leaves[outer->leaf].path, from.leaves[each.leaf].path);
    }
    if (!is_near || each.end > outer->end) {
      outer = &each;
      outer_values.clear();
    }
  }
  return found;
}

}  // namespace cairn::inline v0_1::detail

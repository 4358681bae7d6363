// SPDX-License-Identifier: MIT
// Finds parts of a state in memory that a load frees or moves, since the object that owns it gets another structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
  void add(const void* memory, std::uint64_t bytes, const owner& of, std::string_view path);
  /// It destroys an object. Private copies in it are not searched.
  void add_object(void* object, walk_function walk, walk_position& at, const owner& of);
  /// It takes the pointer at `pointer` away from an object that others may share, which is destroyed if these are all
  /// that there are.
  void add_shared(const std::shared_ptr<void>& object, const void* pointer, walk_function walk, const owner& of,
                  std::string_view path);
  /// The load keeps the array at `path`. `is_view`: of memory that belongs to something else.
  void keep(const void* memory, std::uint64_t bytes, std::string_view path, bool is_view);

  /// Which of the kept arrays and of `owners` are in memory that is freed: for each owner that frees some, the one with
  /// the first path. It is no fault if it belongs to that owner, under any of its paths. Forgets all. O(n log n) where
  /// few of the ranges overlap.
  [[nodiscard]] std::vector<overlap> find(walk_position& at, const owner_paths& owners);

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

  std::size_t index_of(const owner& of, std::string_view path);
  void add_range(const void* memory, std::uint64_t bytes, std::size_t by);
  void add_dropped(const std::shared_ptr<void>& object, const void* pointer, walk_function walk, std::size_t by);
  /// Adds the memory of the dropped objects that nothing else shares.
  void destroy_dropped(walk_position& at);

  std::vector<range> ranges_;
  std::vector<kept_array> kept_;
  std::vector<freeing_owner> owners_;
  dropped_map dropped_;
  std::vector<dropped_map::value_type*> to_check_;
};

}  // namespace cairn::inline v0_1::detail

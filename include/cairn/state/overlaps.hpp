// SPDX-License-Identifier: MIT
// Finds parts of a state in memory that a load frees or moves, since the object that owns it gets another structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/core/leaf.hpp"
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

/// Elements that a load frees or moves.
struct freed_memory {
  std::uintptr_t begin;
  std::uintptr_t end;
  owner of;
  std::string path;  ///< of the owner; empty: it is the whole state
};

/// What of an owner a load destroys.
struct destroyed_parts {
  std::string path;                          ///< of the owner
  std::set<std::string, std::less<>> names;  ///< of the parts; an empty name: all that it owns
};

struct freed_objects {
  std::vector<freed_memory> memory;
  std::unordered_map<owner, destroyed_parts, owner::hash> parts;
};

/// Finds objects and arrays that a load keeps, but whose memory it frees. The state is walked three times. The first
/// walk finds the shared objects that are kept. The second one finds the memory of the parts that are destroyed. The
/// third one finds the kept parts that are in that memory. These are no fault where they belong to the owner of the
/// memory, under any path of that owner. Private copies are not searched.
class overlap_search final : public walker {
 public:
  struct overlap {
    std::string owner;  ///< its path
    std::string part;   ///< the path of something in the memory that it frees
  };

  overlap_search(walk_position& at, freed_objects freed) : walker(at), freed_(std::move(freed)) {}

  [[nodiscard]] cairn::purpose purpose() const noexcept override { return purpose::check; }
  [[nodiscard]] bool runs_archive_functions() const noexcept override { return false; }
  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override;
  void versioned(void* object, const version_operations& how) override;
  void copy(void* object, const copy_operations& how) override;
  void note_owner(const void* object, const void* type, const void* content) override;
  /// Temporary objects are no part of the state.
  void walk_temporary(void* object, walk_function /*walk*/, void (*destroy)(void*)) override { destroy(object); }

  void begin_second();
  void begin_third();
  /// At most one for each owner that frees memory.
  [[nodiscard]] const std::vector<overlap>& found() const noexcept { return found_; }

 private:
  struct range : freed_memory {
    std::uintptr_t reach = 0;  // the largest `end` up to here
  };
  /// An owner that frees memory.
  struct origin {
    std::vector<std::string>
        names;  // paths that lead to it; the first one is that of the load, which may have a former name
    bool is_found = false;
  };

  /// An owner on the way to the current object.
  struct outer_owner {
    owner of;
    std::size_t depth;
    std::string path;
  };
  enum class step : unsigned char { first, second, third };

  void add(memory_view view, const device_copies* device) override;
  /// The owner that destroys the current object, or an object that contains it; null if there is none.
  [[nodiscard]] const owner* destroyer();
  [[nodiscard]] bool is_on_the_way(const outer_owner& of) const;
  void add_memory(const void* begin, std::uint64_t bytes, const owner& of);
  void search_owner(const owner& now);
  void search(std::uintptr_t begin, std::uintptr_t end);
  /// `path`: of the memory that the owner frees.
  void report_unless_own(const owner& of, const std::string& path);

  freed_objects freed_;
  step step_ = step::first;
  std::vector<outer_owner> outer_;
  std::set<std::pair<const void*, type_id>> visited_, kept_;  // shared objects
  std::vector<range> ranges_;                                 // ascending by `begin`
  std::unordered_map<owner, owner, owner::hash> destroyed_;   // owners that are destroyed, and what destroys them
  std::unordered_map<owner, origin, owner::hash> origins_;
  std::vector<overlap> found_;
};

}  // namespace cairn::inline v0_1::detail

// Finds parts of a state in memory that a load frees, because an object there gets another structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

/// Whether `path` is `outer` or below it. An empty `outer` is the whole state.
[[nodiscard]] inline bool is_within(std::string_view path, std::string_view outer) noexcept {
  return path.starts_with(outer) && (outer.empty() || path.size() == outer.size() || path[outer.size()] == '.');
}

/// An object that owns others: a container, an optional, a variant, a pointer. Its type is told by the address of its operations, since an object
/// and its first member have one address.
struct owner {
  const void* object = nullptr;
  const void* type = nullptr;

  friend bool operator==(const owner&, const owner&) = default;

  struct hash {
    [[nodiscard]] std::size_t operator()(const owner& of) const noexcept {
      return std::hash<const void*>()(of.object) * 31 + std::hash<const void*>()(of.type);
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

/// A part of an owner that a load destroys.
struct freed_part {
  owner of;
  std::string path;  ///< of the owner
};

struct freed_objects {
  std::vector<freed_memory> memory;
  std::map<std::string, freed_part, std::less<>>
      parts;  ///< by their paths; all that an owner owns, by the path of the owner
};

/// Finds objects and arrays, outside of private copies, in memory that a load frees. The parts of an owner may be in the memory that this owner
/// itself frees, under any path that leads to it. The first walk finds the memory of the parts that are destroyed; walk the state again after
/// `begin_search`.
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
  void note_owner(const void* object, const void* type) override;

  void begin_search();
  /// At most one for each owner that frees memory.
  [[nodiscard]] const std::vector<overlap>& found() const noexcept { return found_; }

 private:
  struct range : freed_memory {
    std::uintptr_t reach = 0;  // the largest `end` up to here
  };
  /// An owner that frees memory.
  struct origin {
    std::vector<std::string>
        names;  // paths that lead to it; the first is the one in the load, which may be a former name
    bool is_found = false;
  };

  void add(memory_view view, const device_copies* device) override;
  /// The part that is destroyed and has the current object; null if there is none.
  [[nodiscard]] const freed_part* destroyed() const;
  void search(std::uintptr_t begin, std::uintptr_t end);
  void check(const owner& of);

  freed_objects freed_;
  bool is_searching_ = false;
  std::vector<range> ranges_;                                // ascending by `begin`
  std::unordered_map<owner, owner, owner::hash> destroyed_;  // owners that are destroyed, and what owns them
  std::unordered_map<owner, origin, owner::hash> origins_;
  std::set<std::pair<const void*, std::type_index>> shared_;  // that were visited
  std::vector<overlap> found_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/overlaps.ipp"  // IWYU pragma: keep
#endif

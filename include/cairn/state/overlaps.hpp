// Finds parts of a state in memory that a load frees or moves, because a container there gets another size.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// Memory of elements that a load frees or moves.
struct freed_memory {
  std::uintptr_t begin;
  std::uintptr_t end;
  const void* container;
  std::string path;  ///< of the container; empty: it is the whole state
};

/// Finds objects and arrays, outside of private copies, in memory that a load frees. The elements of a container may be in the memory that this
/// container itself frees, under any path that leads to it.
class overlap_search final : public walker {
 public:
  struct overlap {
    std::string container;  ///< its path
    std::string part;       ///< the path of something in the memory that it frees
  };

  overlap_search(walk_position& at, std::vector<freed_memory> memory);

  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override;
  void copy(void* /*object*/, const copy_operations& /*how*/) override {}

  /// At most one for each container.
  [[nodiscard]] const std::vector<overlap>& found() const noexcept { return found_; }
  /// Pairs of paths that lead to the same container.
  [[nodiscard]] std::set<std::pair<std::string, std::string>> aliases() const;

 private:
  struct range : freed_memory {
    std::uintptr_t reach = 0;        // the largest `end` up to here
    std::vector<std::string> names;  // paths of the container: first the one in the load, which may be a former name
    bool is_found = false;
  };

  void add(memory_view view, const device_copies* device) override;
  void visit(const void* object) override;
  void visit(std::uintptr_t begin, std::uintptr_t end);

  std::vector<range> ranges_;  // ascending by `begin`
  std::unordered_multimap<const void*, std::size_t> of_container_;
  std::set<std::pair<const void*, std::type_index>> shared_;  // that were visited
  std::vector<overlap> found_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/overlaps.ipp"  // IWYU pragma: keep
#endif

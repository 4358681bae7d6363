// Finds parts of a state in memory that a load frees or moves, because a container there gets another size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/leaf.hpp"

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

/// The parts of the containers themselves may be in that memory, under any path that leads to the container.
class overlap_search {
 public:
  struct overlap {
    std::string container;  ///< its path
    std::string part;       ///< the path of something in the memory that it frees
  };

  explicit overlap_search(std::vector<freed_memory> memory);

  /// Call it for all objects of the state, each before its parts, and for all arrays.
  void visit_object(const std::string& path, const void* object);
  void visit_array(const std::string& path, const memory_view& view);

  /// At most one for each container.
  [[nodiscard]] const std::vector<overlap>& found() const noexcept { return found_; }

 private:
  struct range : freed_memory {
    std::uintptr_t reach = 0;        // the largest `end` up to here
    std::vector<std::string> names;  // paths of the container
    bool is_found = false;
  };

  void visit(const std::string& path, std::uintptr_t begin, std::uintptr_t end);

  std::vector<range> ranges_;  // ascending by `begin`
  std::unordered_multimap<const void*, std::size_t> of_container_;
  std::vector<overlap> found_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/overlaps.ipp"  // IWYU pragma: keep
#endif

// Collects the leaves and facts of a state; what is shared is collected once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cairn/core/config.hpp"
#include "cairn/state/base.hpp"

namespace cairn::detail {

struct describing {
  cairn::description result;
  std::shared_ptr<const void> owner;  // of the memory being walked, where that is a copy

  /// Adds the leaf, or the fact that it is the same memory as an earlier one.
  void add(std::string path, memory_view view);

  void state(std::string path, fact what);

  /// The path at which the object at `address` was met before; else it is remembered under `path`.
  [[nodiscard]] const std::string* met_before(const void* address, std::type_index type, std::string path);

 private:
  void claim(const std::string& path);

  [[noreturn]] static void fail_twice(const std::string& path);

  std::unordered_set<std::string> paths_;
  std::unordered_map<const void*, std::size_t> arrays_;                     // memory -> leaf
  std::map<std::pair<const void*, std::type_index>, std::string> objects_;  // shared object -> path
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/describing.ipp"  // IWYU pragma: keep
#endif

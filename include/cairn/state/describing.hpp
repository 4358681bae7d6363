// Collects the leaves and facts of a state; what is shared is collected once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/state/base.hpp"

namespace cairn::detail {

struct describing {
  cairn::description result;
  std::shared_ptr<const void> owner;  // of the memory being walked, where that is a copy

  /// Adds the leaf, or the fact that it is the same memory as an earlier one.
  void add(std::string path, memory_view view) {
    if (path == "__metadata__")
      fail(errc::invalid,
           {"the path __metadata__ is reserved by the file format; rename that member or key"});
    claim(path);
    if (!owner && !view.shape.empty() && view.contiguous() && view.bytes() > 0) {
      const auto [at, first] = arrays_.try_emplace(view.memory, result.leaves.size());
      if (!first) {
        const leaf& earlier = result.leaves[at->second];
        if (earlier.type == view.type && earlier.bytes() == view.bytes())
          return state(std::move(path),
                       {.what = fact::kind::same, .number = 0, .text = earlier.path, .keys = {}});
      }
    }
    leaf added;
    static_cast<memory_view&>(added) = std::move(view);
    added.path = std::move(path);
    added.owner = owner;
    result.leaves.push_back(std::move(added));
  }

  void state(std::string path, fact what) {
    if (!result.facts.try_emplace(path, std::move(what)).second) fail_twice(path);
  }

  /// The path at which the object at `address` was met before; else it is remembered under `path`.
  [[nodiscard]] const std::string* met_before(const void* address, std::type_index type, std::string path) {
    const auto [at, first] = objects_.try_emplace({address, type}, std::move(path));
    return first ? nullptr : &at->second;
  }

 private:
  void claim(const std::string& path) {
    if (!paths_.insert(path).second) fail_twice(path);
  }

  [[noreturn]] static void fail_twice(const std::string& path) {
    fail(errc::invalid, {"two parts of the state have the path ", path, "; rename a member or a map key"});
  }

  std::unordered_set<std::string> paths_;
  std::unordered_map<const void*, std::size_t> arrays_;                     // memory -> leaf
  std::map<std::pair<const void*, std::type_index>, std::string> objects_;  // shared object -> path
};

}  // namespace cairn::detail

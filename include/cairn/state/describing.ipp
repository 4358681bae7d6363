// Definitions of describing.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/state/describing.hpp"

namespace cairn::detail {

CAIRN_INLINE void describing::add(std::string path, memory_view view) {
  if (path == "__metadata__")
    fail(errc::invalid, {"the path __metadata__ is reserved by the file format; rename that member or key"});
  claim(path);
  if (!owner && !view.shape.empty() && view.contiguous() && view.bytes() > 0) {
    const auto [at, first] = arrays_.try_emplace(view.memory, result.leaves.size());
    if (!first) {
      const leaf& earlier = result.leaves[at->second];
      if (earlier.type == view.type && earlier.bytes() == view.bytes())
        return state(std::move(path), {.what = fact::kind::same, .text = earlier.path});
    }
  }
  leaf added;
  static_cast<memory_view&>(added) = std::move(view);
  added.path = std::move(path);
  added.owner = owner;
  result.leaves.push_back(std::move(added));
}

CAIRN_INLINE void describing::state(std::string path, fact what) {
  if (!result.facts.try_emplace(path, std::move(what)).second) fail_twice(path);
}

CAIRN_INLINE const std::string* describing::met_before(const void* address, std::type_index type, std::string path) {
  const auto [at, first] = objects_.try_emplace({address, type}, std::move(path));
  return first ? nullptr : &at->second;
}

CAIRN_INLINE void describing::claim(const std::string& path) {
  if (!paths_.insert(path).second) fail_twice(path);
}

CAIRN_INLINE void describing::fail_twice(const std::string& path) {
  fail(errc::invalid, {"two parts of the state have the path ", path, "; rename a member or a map key"});
}

}  // namespace cairn::detail

// Definitions of describer.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/state/describer.hpp"

namespace cairn::detail {

CAIRN_INLINE void describer::add(std::string path, memory_view view, const device_copies* device) {
  if (path == "__metadata__")
    fail(errc::invalid, {"the path __metadata__ is reserved by the file format; rename that member or key"});
  if (!paths_.insert(path).second) fail_twice(path);
  if (!owner_ && !view.shape.empty() && view.contiguous() && view.bytes() > 0) {
    const auto [at, first] = arrays_.try_emplace(memory_key(view.memory, device), result_.leaves.size());
    if (!first) {
      const leaf& earlier = result_.leaves[at->second];
      if (earlier.type == view.type && earlier.bytes() == view.bytes())
        return note(std::move(path), {.what = structure_entry::kind::same, .text = earlier.path});
    }
  }
  leaf added;
  if (device) {
    const host_buffer buffer(path, view, *device);
    buffer.read_device();
    added.owner = buffer.memory();
  } else {
    added.owner = owner_;
  }
  static_cast<memory_view&>(added) = std::move(view);
  added.path = std::move(path);
  result_.leaves.push_back(std::move(added));
}

CAIRN_INLINE size_answer describer::sequence(std::string path, std::uint64_t size, bool) {
  note(std::move(path), {.what = structure_entry::kind::size, .number = size});
  return {size};
}

CAIRN_INLINE presence describer::optional(std::string path, bool engaged) {
  note(std::move(path), {.what = structure_entry::kind::engaged, .number = engaged});
  return engaged ? presence::walk : presence::keep;
}

CAIRN_INLINE pointee_answer describer::polymorphic(std::string path, bool engaged, std::string_view type,
                                                   std::string_view base) {
  if (!engaged) return {optional(std::move(path), false), {}};
  if (type.empty()) fail(errc::invalid, {path, " points to a type that cairn::polymorphic<", base, "> does not list"});
  note(std::move(path), {.what = structure_entry::kind::type, .text = std::string(type)});
  return {presence::walk, type};
}

CAIRN_INLINE shared_answer describer::shared(std::string path, const std::shared_ptr<void>& object,
                                             std::type_index pointee, std::string_view type, std::string_view base) {
  if (object) {
    const auto [at, first] = objects_.try_emplace({object.get(), pointee}, path);
    if (!first) {
      note(std::move(path), {.what = structure_entry::kind::same, .text = at->second});
      return {};
    }
  }
  if (base.empty()) return {optional(std::move(path), object != nullptr), {}, {}};
  const auto found = polymorphic(std::move(path), object != nullptr, type, base);
  return {found.what, found.type, {}};
}

CAIRN_INLINE alternative_answer describer::alternative(std::string path, std::uint64_t index, std::uint64_t count) {
  if (index >= count) fail(errc::invalid, {path, " is a variant without a value"});
  note(std::move(path), {.what = structure_entry::kind::index, .number = index});
  return {presence::walk, index};
}

CAIRN_INLINE void describer::keys(std::string path, std::vector<std::string> keys) {
  note(std::move(path), {.what = structure_entry::kind::keys, .keys = std::move(keys)});
}

CAIRN_INLINE std::uint64_t describer::ranks(std::string path, std::string_view, std::uint64_t ranks, bool) {
  note(std::move(path), {.what = structure_entry::kind::ranks, .number = ranks});
  return ranks;
}

CAIRN_INLINE void describer::note(std::string path, structure_entry entry) {
  const auto [at, first] = result_.structure.try_emplace(std::move(path), std::move(entry));
  if (!first) fail_twice(at->first);
}

CAIRN_INLINE void describer::fail_twice(const std::string& path) {
  fail(errc::invalid, {"two parts of the state have the path ", path, "; rename a member or a map key"});
}

}  // namespace cairn::detail

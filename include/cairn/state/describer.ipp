// Definitions of describer.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/stable_name.hpp"

namespace cairn::detail {

CAIRN_INLINE void describer::add(std::string path, memory_view view, const device_copies* device) {
  if (path == "__metadata__")
    fail(errc::invalid, {"the path __metadata__ is reserved by the file format; rename that member or key"});
  const auto [stable_path, is_new] = paths_.insert(path);
  if (!is_new) fail_twice(path);
  shared_.add_path(*stable_path);
  if (temporaries_ > 0 && !device) return add_bytes_of(std::move(path), view);
  if (!owner_ && temporaries_ == 0 && !view.shape.empty() && view.contiguous() && view.bytes() > 0) {
    const auto [at, first] = arrays_.try_emplace(memory_key(view.memory, device), result_.leaves.size());
    if (!first) {
      const leaf& earlier = result_.leaves[at->second];
      const bool has_entry = result_.structure.contains(path);  // that of a holder; a path has at most one
      if (earlier.type == view.type && earlier.bytes() == view.bytes() && !has_entry)
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

CAIRN_INLINE void describer::add_bytes_of(std::string path, const memory_view& view) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(view.bytes());
  gather(view, 0, *bytes);
  leaf added;
  static_cast<memory_view&>(added) = {view.type, view.shape, bytes->data(), {}};
  added.path = std::move(path);
  added.owner = bytes;
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

CAIRN_INLINE pointee_answer describer::pointee(std::string path, const found_object& found) {
  if (!found.by->list || !found.address) return {optional(std::move(path), found.address != nullptr), nullptr};
  note(path, {.what = structure_entry::kind::type, .text = stored_name(path, found)});
  return {presence::walk, found.type};
}

CAIRN_INLINE shared_answer describer::shared(std::string path, const found_object& found,
                                             const std::shared_ptr<void>& object) {
  if (object) {
    if (temporaries_ > 0) shared_temporaries_.push_back(object);
    if (found.by->list) (void)stored_name(path, found);
    const std::string_view first = shared_.begin(path, found, object, result_.leaves.size());
    if (!first.empty()) {
      note(std::move(path), {.what = structure_entry::kind::same, .text = std::string(first)});
      return {};
    }
  }
  const auto answer = pointee(std::move(path), found);
  return {answer.what, answer.type};
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
  shared_.add_path(at->first);
}

CAIRN_INLINE std::string describer::stored_name(const std::string& path, const found_object& found) {
  const class_list& list = found.by->list();
  if (const listed_type* const type = list.find(*found.type)) return list.name(*type);
  fail(errc::invalid, {path, " points to a '", readable_name(*found.type), "', which cairn::polymorphic<",
                       found.by->spelled, "> does not list: add it to the list"});
}

CAIRN_INLINE description describer::take() {
  shared_.refuse_overlaps(result_.leaves);
  return std::move(result_);
}

CAIRN_INLINE void describer::fail_twice(const std::string& path) {
  fail(errc::invalid, {"two parts of the state have the path ", path, "; rename a member or a map key"});
}

}  // namespace cairn::detail

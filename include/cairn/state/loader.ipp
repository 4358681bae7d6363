// Definitions of loader.hpp, but those for maps: walk_map.ipp.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "cairn/core/error.hpp"
#include "cairn/state/container_copies.hpp"
#include "cairn/state/fetch_leaf.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/loader.hpp"

namespace cairn::detail {

/// Finds the stored size of a container that is saved as columns: the first dimension of the first stored column.
class size_probe final : public walker {
 public:
  size_probe(walk_position& at, const stored_state& stored) noexcept : walker(at), stored_(stored) {}

  shared_answer shared(const found_object&, const std::shared_ptr<void>&) override { return {}; }
  void copy(void* /*object*/, const copy_operations& /*how*/) override {}
  /// Members may have other names in the checkpoint: any part of the object has as many rows.
  void changed_parts(std::span<const named_part> all, std::span<const change> /*changes*/) override {
    if (size_) return;
    if (const stored_leaf* const found = stored_.first_below(at_.path))
      size_ = found->shape.front();
    else
      parts(all);  // which the load's options may rename
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept { return size_; }

 private:
  void add(memory_view /*view*/, const device_copies* /*device*/) override {
    if (size_) return;
    const std::string stored = stored_.stored_path(path());
    const std::size_t index = stored_.find_leaf(stored);
    if (index == catalog::npos || !stored_.accepts(stored)) return;
    if (const extents& shape = stored_.contents().leaves[index].shape; !shape.empty()) size_ = shape.front();
  }

  const stored_state& stored_;
  std::optional<std::uint64_t> size_;
};

CAIRN_INLINE bool loader::enters() {
  if (load_.stored.selects(at_.path)) return true;
  ++load_.left_out;
  return false;
}

CAIRN_INLINE void loader::contiguous(void* container, std::uint64_t size, void* first,
                                     const contiguous_operations& how) {
  if (how.resize) {
    size_probe probe(at_, load_.stored);
    probe.columns(0, 0, how.sample, how.walk_element);
    if (const auto now = size, stored = probe.size().value_or(now); stored != now) {
      const bool changes = resizes(now, stored, how.width);
      if (!admits(how.limits, stored)) return;
      if (now > 0) frees(container, first, now * how.width);
      first = changes ? resize(container, now, stored, how) : nullptr;
      size = stored;
    }
  }
  if (size > 0 && first) return columns(size, how.width, first, how.walk_element);
  ++prototypes_;  // there are no elements: the sample stands for them
  columns(size, how.width, how.sample, how.walk_element);
  --prototypes_;
}

CAIRN_INLINE void loader::prototype(void* object, walk_function walk, void (*destroy)(void*)) {
  ++prototypes_;
  walker::prototype(object, walk, destroy);
  --prototypes_;
}

CAIRN_INLINE size_answer loader::sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) {
  const auto* stored = find(structure_entry::kind::size);
  if (!stored || stored->number == size) return {size};
  check_size(stored->number, empty_elements);
  const bool changes = resizes(size, stored->number, 0);
  return admits(limits, stored->number) ? size_answer{stored->number, changes} : size_answer{};
}

CAIRN_INLINE presence loader::optional(bool engaged) {
  const auto* stored = find(structure_entry::kind::engaged);
  if (!stored) return walker::optional(engaged);
  if (stored->what == structure_entry::kind::engaged && stored->number == 0) return null_;
  return engaged ? presence::walk : fresh_;
}

CAIRN_INLINE alternative_answer loader::alternative(std::uint64_t index, std::uint64_t count) {
  const auto* stored = find(structure_entry::kind::index);
  if (!stored) return {presence::walk, index};
  if (stored->number >= count) {
    reject("holds alternative " + std::to_string(stored->number) + " of a variant of " + std::to_string(count));
    return {};
  }
  return {index == stored->number ? presence::walk : fresh_, stored->number};
}

CAIRN_INLINE std::uint64_t loader::saved_ranks(bool takes_all) {
  const auto* stored = find(structure_entry::kind::ranks);
  if (!stored) return 0;
  mark_used();
  if (stored->number == 0) reject("is per-rank state saved by no rank");
  if (takes_all && stored->number != here().ranks) check_size(stored->number, false);
  return stored->number;
}

CAIRN_INLINE void loader::copy(void* object, const copy_operations& how) {
  std::shared_ptr<void> copy;
  with_path([&] { copy.reset(how.make(), how.destroy); });
  loader& inside = begin_copy();
  how.walk_copy(inside, copy.get());
  const auto answer = inside.end_copy();
  if (answer == copy_answer::drop) return;
  with_path([&] {
    how.check(object, copy.get());
    if (answer == copy_answer::put)
      how.put(object, copy.get());
    else
      how.try_put(object, copy.get());
  });
}

CAIRN_INLINE bool loader::has_stored(std::string_view name) {
  enter(name);
  const bool has = load_.stored.has_part(path());
  leave();
  return has;
}

CAIRN_INLINE void loader::require_whole(std::size_t left_out_before) {
  const auto& options = load_.stored.options();
  if (left_out() != left_out_before && (options.filter || !options.strict))
    reject(
        "is const, so that it can only be replaced as a whole, but a part of it is left out: load all of it or "
        "nothing, or drop the const");
}

CAIRN_INLINE bool loader::must_keep() {
  if (!load_.kept_whole.contains(at_.path)) return false;
  ++load_.left_out;
  return true;
}

CAIRN_INLINE void loader::reject(const std::string& problem) {
  record(path(), problem);
  mark_used();
}

CAIRN_INLINE const structure_entry* loader::find(structure_entry::kind kind) {
  using enum structure_entry::kind;
  const structure_entry* const found = load_.stored.find_entry(path());
  if (!found) {
    if (load_.stored.contents().has_structure) missing();
    return nullptr;
  }
  load_.stored.use_entry(*found);
  const auto is_of_pointer = [](structure_entry::kind what) { return what == engaged || what == type; };
  if (found->what == kind || (is_of_pointer(kind) && (is_of_pointer(found->what) || found->what == same))) return found;
  reject("is another kind of object in the checkpoint");
  return nullptr;
}

CAIRN_INLINE const structure_entry* loader::find_optional(structure_entry::kind kind) {
  return load_.stored.find_entry(path()) ? find(kind) : nullptr;
}

CAIRN_INLINE const std::vector<std::string>* loader::find_keys() {
  const auto* stored = find(structure_entry::kind::keys);
  if (!stored) return nullptr;
  std::unordered_set<std::string_view> seen;
  for (const auto& each : stored->keys)
    if (!seen.insert(each).second) fail(errc::corrupt, {path(), " in ", origin(), " has the key '", each, "', twice"});
  return &stored->keys;
}

CAIRN_INLINE bool loader::admits(const size_limits& limits, std::uint64_t stored) {
  try {
    check_limits(limits, stored);
    return true;
  } catch (const error& cause) {
    reject(std::string(cause.sentence()));
    return false;
  }
}

CAIRN_INLINE void loader::check_size(std::uint64_t size, bool empty_elements) const {
  const auto& from = load_.stored.contents();
  const std::uint64_t most = empty_elements ? 1U << 20 : from.leaves.size() + from.structure.size();
  if (size > most) fail(errc::corrupt, {path(), " in ", origin(), " claims ", size, " objects, which it cannot hold"});
}

CAIRN_INLINE void copy_loader::add(memory_view view, const device_copies* device) {
  const std::size_t index = take(view);
  if (index == catalog::npos) return;
  const auto& from = load_.stored.contents();
  if (!device) return fetch_leaf(from, index, view);
  const host_buffer buffer(std::string(path()), view, *device);
  fetch_leaf(from, index, view);
  buffer.write_device();
}

CAIRN_INLINE copy_answer copy_loader::end_copy() {
  const bool complete = left_out_before_.back() == left_out();
  left_out_before_.pop_back();
  if (!complete) return copy_answer::drop;
  return left_out_before_.empty() ? whole_ : copy_answer::put;
}

}  // namespace cairn::detail

// SPDX-License-Identifier: MIT
// Collects the leaves and the structure of a state during a walk. A shared object is described once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include <cxxabi.h>

#include "cairn/core/box.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/joined.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/walker.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

[[noreturn]] inline void fail_overlap(const std::string& path, std::string_view other) {
  fail(errc::invalid,
       {"the object behind the shared pointer ", path, " is also at ", other,
        " or a part of it, which a load could not share again; leave one of them out of the state, or point to the "
        "whole object"});
}

/// Whether an element of the strided view, of the dimensions from `d` on, begins in [begin, end).
inline bool has_element_in(const memory_view& view, std::size_t d, const std::byte* at, const std::byte* begin,
                           const std::byte* end) {
  if (d == view.shape.size()) return begin <= at && at < end;
  for (std::uint64_t i = 0; i < view.shape[d]; ++i, at += view.strides[d])
    if (has_element_in(view, d + 1, at, begin, end)) return true;
  return false;
}

/// The shared objects of a state. Two pointers share one if they lead to the same whole object: to one address and to
/// one type. A load could not share memory in other ways.
class shared_objects {
 public:
  struct shared {
    std::string path;  ///< of the pointer that led to it first
    const type_id* type = nullptr;
    std::shared_ptr<void> object{};  ///< kept, so that no other object takes its address
  };
  using map = std::map<const std::byte*, shared>;

  /// The path of the pointer that led to the object first; empty if it is this one. errc::invalid: another object is at
  /// its address.
  std::string_view add(const std::string& path, const found_object& found, std::shared_ptr<void> object) {
    const auto [at, first] = all_.try_emplace(static_cast<const std::byte*>(found.address));
    if (!first && *at->second.type != *found.type) fail_overlap(path, at->second.path);
    if (!first) return at->second.path;
    at->second = {path, found.type, std::move(object)};
    return {};
  }

  [[nodiscard]] const map& all() const noexcept { return all_; }

 private:
  map all_;
};

/// Walks a state that has shared objects once more, and throws errc::invalid if one of them is also part of another
/// object. It does not look into containers that are saved as copies, such as sets and vectors of strings.
class shared_part_search final : public walker {
 public:
  shared_part_search(walk_position& at, const shared_objects::map& all) : walker(at), all_(all) {
    const shared_objects::shared* before = nullptr;
    const std::byte* end = nullptr;
    for (const auto& [address, object] : all_) {
      if (before && address < end) fail_overlap(object.path, before->path);
      before = &object;
      end = address + object.type->size;
    }
  }

  shared_answer shared(const found_object& found, const std::shared_ptr<void>& /*object*/) override {
    const auto at = all_.find(static_cast<const std::byte*>(found.address));
    if (at == all_.end() || !visited_.insert(found.address).second) return {};
    open_.push_back(&at->second);
    return {.what = presence::walk, .type = found.type};
  }

  void shared_end() override { open_.pop_back(); }
  pointee_answer pointee(const found_object& found) override {
    visit(found.address);
    return walker::pointee(found);
  }

  void copy(void* /*object*/, const copy_operations& /*how*/) override {}
  void begin_temporary() noexcept override { ++temporaries_; }
  void end_temporary() noexcept override { --temporaries_; }

 private:
  void add(memory_view view, const device_copies* device) override {
    if (device || temporaries_ > 0 || view.bytes() == 0) return;
    // A view of memory in a shared object is not a part of it, so only an array around the object is refused.
    const auto [lowest, highest] = address_range(view);
    for (auto at = all_.lower_bound(lowest); at != all_.end() && at->first < highest; ++at) {
      const auto& [first, object] = *at;
      const std::byte* const last = first + object.type->size;
      const bool around = last <= highest && (lowest < first || last < highest);
      if (!around || is_open(object)) continue;
      if (view.contiguous() || has_element_in(view, 0, view.memory, first, last)) fail_overlap(object.path, path());
    }
  }

  void visit(const void* object) override {
    const auto* const address = static_cast<const std::byte*>(object);
    const auto behind = all_.upper_bound(address);
    if (temporaries_ > 0 || behind == all_.begin()) return;
    const auto& [first, around] = *std::prev(behind);
    if (address < first + around.type->size && !is_open(around)) fail_overlap(around.path, path());
  }

  [[nodiscard]] bool is_open(const shared_objects::shared& object) const {
    return std::find(open_.begin(), open_.end(), &object) != open_.end();
  }

  const shared_objects::map& all_;
  std::vector<const shared_objects::shared*> open_;  // in which the walk is
  std::set<const void*> visited_;
  unsigned temporaries_ = 0;  // objects that exist only for the moment
};

/// Finds equal entries of a list of fewer than 2^32 entries. It has 16 to 32 bytes per position: open addressing with
/// linear probing. Hashes must differ in their lower bits; entries with hashes near each other are near in memory.
class position_index {
 public:
  position_index() = default;
  /// Has memory for `count` entries.
  explicit position_index(std::size_t count) : slots_(std::bit_ceil(2 * count + 1)) {}

  /// The position of the entry that is equal; if there is none, adds `position` and returns it. `is_equal(p)` compares
  /// with the entry at p, which has the same hash in its lower 32 bits.
  template <class Equal>
  std::uint32_t find_or_add(std::size_t hash, std::uint32_t position, const Equal& is_equal) {
    if (2 * ++size_ > slots_.size()) grow();
    const auto key = static_cast<std::uint32_t>(hash);
    for (std::size_t at = key & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      slot& here = slots_[at];
      if (here.position_plus_one == 0) {
        here = {key, position + 1};
        return position;
      }
      if (here.key == key && is_equal(here.position_plus_one - 1)) {
        --size_;
        return here.position_plus_one - 1;
      }
    }
  }

 private:
  struct slot {
    std::uint32_t key = 0;
    std::uint32_t position_plus_one = 0;  // 0: empty
  };

  void grow() {
    std::vector<slot> larger(slots_.empty() ? 16 : 2 * slots_.size());
    for (const slot& each : slots_) {
      if (each.position_plus_one == 0) continue;
      std::size_t at = each.key & (larger.size() - 1);
      while (larger[at].position_plus_one != 0) at = (at + 1) & (larger.size() - 1);
      larger[at] = each;
    }
    slots_ = std::move(larger);
  }

  std::vector<slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

/// Arrays that have been described already: finds the leaf of one by its memory.
class array_index {
 public:
  /// Has memory for `arrays` arrays.
  explicit array_index(std::size_t arrays = 0) : positions_(arrays) { arrays_.reserve(arrays); }

  /// The leaf of the array at `memory`; if it has none, that is `leaf` from now on.
  std::size_t find_or_add(const memory_key& memory, std::size_t leaf) {
    const auto is_same = [&](std::uint32_t i) { return arrays_[i].first == memory; };
    const auto next = static_cast<std::uint32_t>(arrays_.size());
    const auto found = positions_.find_or_add(memory_key::hash{}(memory), next, is_same);
    if (found == next) arrays_.emplace_back(memory, leaf);
    return arrays_[found].second;
  }

 private:
  std::vector<std::pair<memory_key, std::size_t>> arrays_;
  position_index positions_;
};

/// Narrows the view of a box to the part that one of several copies saves: a range along the slowest dimension of more
/// than one index. Returns the place of the part.
inline std::shared_ptr<const box_place> own_part(memory_view& view, const box_place& place, const box_copies& copies) {
  std::size_t d = 0;
  while (d + 1 < view.shape.size() && view.shape[d] <= 1) ++d;
  box part{extents(view.shape.size()), view.shape};
  if (!part.shape.empty()) {
    const auto extent = part.shape[d];
    part.first[d] = extent * copies.number / copies.count;
    part.shape[d] = extent * (copies.number + 1) / copies.count - part.first[d];
  }
  auto made = std::make_shared<box_place>(place);
  for (std::size_t i = 0; i < part.first.size(); ++i) made->first[i] += part.first[i];
  view = view_of(view, part);
  return made;
}

/// The name of the type in C++.
inline std::string readable_name(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr),
                                                    std::free);
  return name ? name.get() : type.name();
}

class describer final : public walker {
 public:
  /// Memory is allocated for `leaves` leaves at once.
  explicit describer(walk_position& at, std::size_t leaves = 0) : walker(at), array_leaves_(leaves) {
    result_.leaves.reserve(leaves);
  }

  void versioned(void* object, const version_operations& how) override;
  void enumerated(dtype type, void* memory, std::span<const enum_entry> names) override;
  bool joined(void* sequence, std::uint64_t size, const size_limits& /*limits*/,
              const sequence_operations& how) override {
    if (!how.element.make) return false;
    return add_joined(size, [&](column_joiner& joiner) {
      for_each_element(sequence, how, [&](void* element) {
        if (joiner.fits()) joiner.object(element, how.element.walk);
      });
    });
  }

  size_answer sequence(std::uint64_t size, const size_limits& /*limits*/, bool /*empty_elements*/) override {
    note({.what = structure_entry::kind::size, .number = size});
    return {size};
  }

  presence optional(bool engaged) override {
    note({.what = structure_entry::kind::engaged, .number = engaged});
    return walker::optional(engaged);
  }

  pointee_answer pointee(const found_object& found) override {
    note_pointee(found);
    return walker::pointee(found);
  }

  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override {
    if (object) {
      if (temporaries_ > 0) shared_temporaries_.push_back(object);
      if (found.by->list) (void)stored_name(found);
      const std::string_view first = shared_.add(std::string(path()), found, object);
      if (!first.empty()) {
        note({.what = structure_entry::kind::same, .text = std::string(first)});
        return {};
      }
    }
    note_pointee(found);
    return {object ? presence::walk : presence::keep, found.type};
  }

  alternative_answer alternative(std::uint64_t index, std::uint64_t count) override {
    if (index >= count) fail(errc::invalid, {path(), " is a variant without a value"});
    note({.what = structure_entry::kind::index, .number = index});
    return {presence::walk, index};
  }

  void map(void* object, const map_operations& how) override;
  std::uint64_t saved_ranks(bool /*takes_all*/) override {
    note({.what = structure_entry::kind::ranks, .number = here().ranks});
    return here().ranks;
  }

  /// The description keeps the copy, which has the memory of its leaves.
  void copy(void* object, const copy_operations& how) override {
    if (how.bytes) call_adapter(*this, [&] { require_memory_to_copy(how.bytes(object)); });
    const std::shared_ptr<void> copy(call_adapter(*this, [&] { return how.take(object); }), how.destroy);
    owners_.push_back(copy);
    how.walk_copy(*this, copy.get());
    owners_.pop_back();
  }

  void begin_temporary() noexcept override { ++temporaries_; }
  void end_temporary() noexcept override { --temporaries_; }

  [[nodiscard]] const shared_objects::map& shared_objects_found() const noexcept { return shared_.all(); }
  /// The description of the whole state. errc::invalid: two leaves have one path.
  [[nodiscard]] description finish() {
    std::vector<std::string_view> paths;  // of the arrays
    paths.reserve(result_.leaves.size());
    for (const leaf& each : result_.leaves) paths.emplace_back(each.path);
    for (const auto& [path, entry] : result_.structure)
      if (entry.what == structure_entry::kind::same) paths.emplace_back(path);
    position_index seen(paths.size());
    for (std::uint32_t at = 0; at < paths.size(); ++at) {
      const auto is_same = [&](std::uint32_t other) { return paths[other] == paths[at]; };
      if (seen.find_or_add(std::hash<std::string_view>{}(paths[at]), at, is_same) != at) fail_duplicate_path(paths[at]);
    }
    return std::move(result_);
  }

 private:
  /// Adds a leaf; or a `same` entry, if its memory is an earlier leaf's. Copies an array on a device to the host.
  void add(memory_view view, const device_copies* device) override {
    if (path() == "__metadata__")
      fail(errc::invalid, {"the path __metadata__ is reserved by the file format; rename that member or key"});
    auto place = at_.place;
    if (place) {
      if (element_count(place->whole) == 0) {  // all ranks have all of it
        view = {view.type, place->whole, view.memory, {}};
        place.reset();
      } else if (place->whole.empty() && at_.copies.number > 0) {
        return;
      } else {
        place = own_part(view, *place, at_.copies);
      }
      if (place && view.count() == 0) return;  // other ranks have all of it
    }
    if (temporaries_ > 0 && !device) {
      const auto bytes = std::make_shared<std::vector<std::byte>>(view.bytes());
      gather(view, 0, *bytes);
      return add_leaf({view.type, std::move(view.shape), bytes->data(), {}}, bytes, place);
    }
    if (!place && owners_.empty() && temporaries_ == 0 && !view.shape.empty() && view.contiguous() &&
        view.bytes() > 0) {
      const std::size_t first = array_leaves_.find_or_add({view.memory, device}, result_.leaves.size());
      if (first != result_.leaves.size()) {
        const leaf& earlier = result_.leaves[first];
        const bool has_entry = result_.structure.contains(path());  // that of a holder; a path has at most one
        if (earlier.type == view.type && earlier.bytes() == view.bytes() && !has_entry)
          return note({.what = structure_entry::kind::same, .text = earlier.path});
      }
    }
    if (!device) return add_leaf(std::move(view), owners_.empty() ? nullptr : owners_.back(), place);
    const host_buffer buffer(std::string(path()), view, *device);
    buffer.read_device();
    add_leaf(std::move(view), buffer.memory(), place);
  }

  /// Describes `count` objects, which `walk_objects` walks, in columns. False: they are too few, or no columns.
  bool add_joined(std::uint64_t count, const std::function<void(column_joiner&)>& walk_objects) {
    if (count < fewest_joined || !at_.shape.empty()) return false;
    const std::size_t depth = at_.lengths.size(), path_size = at_.path.size();
    column_joiner joiner(at_, count);
    const auto all = std::make_shared<std::vector<joined_column>>();
    const auto give_up = [&] {  // the walk of each object throws it again, and knows the path
      at_.path.resize(path_size);
      at_.lengths.resize(depth);
      at_.shape.clear();
      at_.strides.clear();
    };
    try {
      walk_objects(joiner);
      *all = joiner.take();
    } catch (const error& cause) {
      if (cause.code() == errc::no_memory) throw;
      give_up();
    } catch (...) {
      give_up();
    }
    at_.common_dimensions = 0;
    if (all->empty()) return false;
    note({.what = structure_entry::kind::rows, .number = count});
    owners_.push_back(all);
    const std::string path = std::exchange(at_.path, {});
    for (joined_column& each : *all) {
      extents shape{each.rows};
      shape.insert(shape.end(), each.row.begin(), each.row.end());
      auto* const memory =
          each.what == joined_column::kind::ends ? reinterpret_cast<std::byte*>(each.ends.data()) : each.bytes.data();
      at_.path = each.path;
      const auto add_column = [&] { add({each.type, std::move(shape), memory, {}}, nullptr); };
      each.suffix().empty() ? add_column() : with_name(each.suffix(), add_column);
    }
    at_.path = path;
    owners_.pop_back();
    return true;
  }

  void add_leaf(memory_view view, std::shared_ptr<const void> owner, std::shared_ptr<const box_place> place = {}) {
    leaf added;
    static_cast<memory_view&>(added) = std::move(view);
    added.path = path();
    added.owner = std::move(owner);
    added.place = std::move(place);
    added.common_dimensions = std::exchange(at_.common_dimensions, at_.shape.size());
    result_.leaves.push_back(std::move(added));
  }

  void note(structure_entry entry) {
    if (!result_.structure.try_emplace(std::string(path()), std::move(entry)).second) fail_duplicate_path(path());
  }

  void note_pointee(const found_object& found) {
    if (found.by->list && found.address)
      note({.what = structure_entry::kind::type, .text = stored_name(found)});
    else
      note({.what = structure_entry::kind::engaged, .number = found.address != nullptr});
  }

  /// The name of the object's type. errc::invalid: the type is not listed.
  [[nodiscard]] std::string stored_name(const found_object& found) const {
    const class_list& list = found.by->list();
    if (const listed_type* const type = list.find(*found.type)) return std::string(type->names.front());
    fail(errc::invalid, {path(), " points to a '", readable_name(*found.unlisted), "', which cairn::polymorphic<",
                         found.by->base->name, "> does not list: add it to the list"});
  }

  [[noreturn]] static void fail_duplicate_path(std::string_view path) {
    fail(errc::invalid, {"two parts of the state have the path ", path, "; rename a member or a map key"});
  }

  description result_;
  std::vector<std::shared_ptr<const void>> owners_;        // the open copies
  unsigned temporaries_ = 0;                               // that are open
  std::vector<std::shared_ptr<void>> shared_temporaries_;  // kept, so that no other object gets their address
  array_index array_leaves_;
  shared_objects shared_;
};

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// Collects the leaves and the structure of a state during a walk. A shared object is described once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

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

  /// Loads the memory that a later `find_or_add` of that hash needs. Precondition: the table has memory.
  void prefetch(std::size_t hash) const noexcept {
    __builtin_prefetch(&slots_[static_cast<std::uint32_t>(hash) & (slots_.size() - 1)], 1);
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
  std::string_view add(const std::string& path, const found_object& found, std::shared_ptr<void> object);
  [[nodiscard]] const map& all() const noexcept { return all_; }

 private:
  map all_;
};

/// Walks a state that has shared objects once more, and throws errc::invalid if one of them is also part of another
/// object. It does not look into containers that are saved as copies, such as sets and vectors of strings.
class shared_part_search final : public walker {
 public:
  shared_part_search(walk_position& at, const shared_objects::map& all);

  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override;
  void shared_end() override { open_.pop_back(); }
  pointee_answer pointee(const found_object& found) override;
  void copy(void* /*object*/, const copy_operations& /*how*/) override {}
  void begin_temporary() noexcept override { ++temporaries_; }
  void end_temporary() noexcept override { --temporaries_; }

 private:
  void add(memory_view view, const device_copies* device) override;
  void visit(const void* object) override;
  [[nodiscard]] bool is_open(const shared_objects::shared& object) const {
    return std::find(open_.begin(), open_.end(), &object) != open_.end();
  }

  const shared_objects::map& all_;
  std::vector<const shared_objects::shared*> open_;  // in which the walk is
  std::set<const void*> visited_;
  unsigned temporaries_ = 0;  // objects that exist only for the moment
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

class column_joiner;  // joined.hpp

class describer final : public walker {
 public:
  /// Memory is allocated for `leaves` leaves at once.
  explicit describer(walk_position& at, std::size_t leaves = 0) : walker(at), array_leaves_(leaves) {
    result_.leaves.reserve(leaves);
  }

  void versioned(void* object, const version_operations& how) override;
  void enumerated(dtype type, void* memory, std::span<const enum_entry> names) override;
  bool joined(void* sequence, std::uint64_t size, const size_limits& limits, const sequence_operations& how) override;
  size_answer sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) override;
  presence optional(bool engaged) override;
  pointee_answer pointee(const found_object& found) override;
  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override;
  alternative_answer alternative(std::uint64_t index, std::uint64_t count) override;
  void map(void* object, const map_operations& how) override;
  std::uint64_t saved_ranks(bool takes_all) override;
  /// The description keeps the copy, which has the memory of its leaves.
  void copy(void* object, const copy_operations& how) override;
  void begin_temporary() noexcept override { ++temporaries_; }
  void end_temporary() noexcept override { --temporaries_; }

  [[nodiscard]] const shared_objects::map& shared_objects_found() const noexcept { return shared_.all(); }
  /// The description of the whole state. errc::invalid: two leaves have one path.
  [[nodiscard]] description finish();

 private:
  /// Adds a leaf; or a `same` entry, if its memory is an earlier leaf's. Copies an array on a device to the host.
  void add(memory_view view, const device_copies* device) override;
  /// Describes `count` objects, which `walk_objects` walks, in columns. False: they are too few, or no columns.
  bool add_joined(std::uint64_t count, const std::function<void(column_joiner&)>& walk_objects);
  void add_leaf(memory_view view, std::shared_ptr<const void> owner, std::shared_ptr<const box_place> place = {});
  void note(structure_entry entry);
  void note_pointee(const found_object& found);

  /// The name of the object's type. errc::invalid: the type is not listed.
  [[nodiscard]] std::string stored_name(const found_object& found) const;

  [[noreturn]] static void fail_duplicate_path(std::string_view path);

  description result_;
  std::vector<std::shared_ptr<const void>> owners_;        // the open copies
  unsigned temporaries_ = 0;                               // that are open
  std::vector<std::shared_ptr<void>> shared_temporaries_;  // kept, so that no other object gets their address
  array_index array_leaves_;
  shared_objects shared_;
};

}  // namespace cairn::inline v0_1::detail

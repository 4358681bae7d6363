// SPDX-License-Identifier: MIT
// Collects the leaves and the structure of a state during a walk. A shared object is described once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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

/// Precondition: fewer than 2^32 paths.
class path_list {
 public:
  /// The path of an entry.
  void add(std::string_view path) {
    text_ += path;
    ends_.push_back(text_.size());
  }
  /// The path of a leaf.
  void add_leaf(std::string_view path) {
    leaves_.push_back(static_cast<std::uint32_t>(ends_.size()));
    add(path);
  }

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return text_.size(); }
  /// Memory for that many paths, and bytes of all of them.
  void reserve(std::size_t paths, std::size_t bytes) {
    text_.reserve(bytes);
    ends_.reserve(paths);
    leaves_.reserve(paths);
  }
  /// Valid until the next path is added.
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  /// A path that two leaves have, if there is one. O(n).
  [[nodiscard]] std::optional<std::string_view> find_duplicate_leaf() const {
    position_index seen(leaves_.size());
    std::array<std::size_t, 16> hashes{};  // of the next leaves, whose slots are loaded together
    for (std::size_t first = 0; first < leaves_.size(); first += hashes.size()) {
      const std::size_t count = (std::min)(hashes.size(), leaves_.size() - first);
      for (std::size_t i = 0; i < count; ++i) {
        hashes[i] = std::hash<std::string_view>{}((*this)[leaves_[first + i]]);
        seen.prefetch(hashes[i]);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t leaf = leaves_[first + i];
        const std::string_view path = (*this)[leaf];
        if (seen.find_or_add(hashes[i], leaf, [&](std::uint32_t other) { return (*this)[other] == path; }) != leaf)
          return path;
      }
    }
    return std::nullopt;
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;      // of each path in `text_`
  std::vector<std::uint32_t> leaves_;  // the positions of their paths
};

/// Collects the shared objects of a state while it is described, in the order of the walk. Two pointers share an object
/// if they lead to the same whole object: to one address and one type. A load could not share memory in other ways:
/// `refuse_overlaps` finds pointers to a part of a shared object, and pointers to a part of the state. It does not look
/// into containers that are saved as copies, such as sets and vectors of strings.
class shared_objects {
 public:
  /// `paths`: those of the leaves and entries so far, in the order of the walk.
  explicit shared_objects(const path_list& paths) noexcept : paths_(paths) {}

  /// A part of the state, which is at a path of `path_size` characters. Its leaves and entries follow.
  void visit(const void* object, std::size_t path_size) {
    visits_.push_back({object, static_cast<std::uint32_t>(paths_.size()), static_cast<std::uint32_t>(path_size)});
  }

  /// The number of parts so far, and: forgets those after that many.
  [[nodiscard]] std::size_t visits() const noexcept { return visits_.size(); }
  void forget(std::size_t visits) { visits_.resize(visits); }

  /// The path that led to the object first; empty if it is this one. The walk of the object then follows, with `leaves`
  /// leaves before it, and ends with `end`. Keeps the object.
  std::string_view begin(const std::string& path, const found_object& found, std::shared_ptr<void> object,
                         std::size_t leaves);
  void end(std::size_t leaves);

  /// errc::invalid: a shared object is also part of another, with both paths. O(n log m) for n parts, m shared objects.
  void refuse_overlaps(const std::vector<leaf>& leaves) const;

 private:
  struct visited {
    const void* object;
    std::uint32_t first_path;  // index in `paths_` of the first path in it
    std::uint32_t path_size;
  };
  struct shared {
    std::string path;
    const type_id* type = nullptr;
    std::size_t first_visit = 0, last_visit = 0;  // of its walk: [first, last)
    std::size_t first_leaf = 0, last_leaf = 0;
    std::shared_ptr<void> object{};  // kept, so that no other object takes its address
  };
  using shared_map = std::map<const std::byte*, shared>;

  [[nodiscard]] std::string path_of(const visited& part) const;
  [[noreturn]] static void fail_overlap(const std::string& path, std::string_view other);

  const path_list& paths_;
  std::vector<visited> visits_;
  shared_map objects_;
  std::vector<shared*> open_;  // whose walks have not ended
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

struct description_size {
  std::size_t leaves = 0, paths = 0;
  std::size_t bytes = 0;  ///< of the paths
};

class column_joiner;  // joined.hpp

class describer final : public walker {
 public:
  /// `expected`: memory is allocated for that much at once.
  explicit describer(walk_position& at, const description_size& expected = {})
      : walker(at), array_leaves_(expected.leaves) {
    result_.leaves.reserve(expected.leaves);
    paths_.reserve(expected.paths, expected.bytes);
  }

  void versioned(void* object, const version_operations& how) override;
  void enumerated(dtype type, void* memory, std::span<const enum_entry> names) override;
  bool joined(void* sequence, std::uint64_t size, const size_limits& limits, const sequence_operations& how) override;
  size_answer sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) override;
  presence optional(bool engaged) override;
  pointee_answer pointee(const found_object& found) override;
  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override;
  void shared_end() override { shared_.end(result_.leaves.size()); }
  alternative_answer alternative(std::uint64_t index, std::uint64_t count) override;
  void map(void* object, const map_operations& how) override;
  std::uint64_t saved_ranks(bool takes_all) override;
  /// The description keeps the copy, which has the memory of its leaves.
  void copy(void* object, const copy_operations& how) override;
  void begin_temporary() noexcept override { ++temporaries_; }
  void end_temporary() noexcept override { --temporaries_; }

  [[nodiscard]] description_size size() const noexcept {
    return {result_.leaves.size(), paths_.size(), paths_.bytes()};
  }
  /// The description of the whole state. errc::invalid: two leaves have one path; a part of a shared object is
  /// elsewhere in the state, too.
  [[nodiscard]] description finish();

 private:
  /// Adds a leaf; or a `same` entry, if its memory is an earlier leaf's. Copies an array on a device to the host.
  void add(memory_view view, const device_copies* device) override;
  void visit(const void* object) override {
    if (owners_.empty() && temporaries_ == 0) shared_.visit(object, at_.path.size());
  }
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
  path_list paths_;
  shared_objects shared_{paths_};
};

}  // namespace cairn::inline v0_1::detail

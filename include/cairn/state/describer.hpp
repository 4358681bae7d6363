// SPDX-License-Identifier: MIT
// Collects the leaves and the structure of a state during a walk. A shared object is described once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/state/base.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/path_list.hpp"
#include "cairn/state/position_index.hpp"
#include "cairn/state/shared_objects.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

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

/// The size of a description.
struct description_size {
  std::size_t leaves = 0, paths = 0;
  std::size_t bytes = 0;  ///< of the paths
};

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
  /// The description of the whole state. errc::invalid: two leaves have one path; a part of a shared object is elsewhere in the state, too.
  [[nodiscard]] description finish();

 private:
  /// Adds a leaf; or a `same` entry, if it is the same memory as an earlier leaf. An array on a device is copied to the host.
  void add(memory_view view, const device_copies* device) override;
  void visit(const void* object) override {
    if (owners_.empty() && temporaries_ == 0) shared_.visit(object, at_.path.size());
  }
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

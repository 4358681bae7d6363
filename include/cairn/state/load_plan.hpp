// SPDX-License-Identifier: MIT
// Checks that a checkpoint fits a state, then gives the state the checkpoint's structure. The caller reads the arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/any_state.hpp"
#include "cairn/state/device_copies.hpp"
#include "cairn/state/fetched_leaves.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/overlaps.hpp"

namespace cairn::inline v0_1::detail {

/// The arrays that a load fills. Those with gaps between their elements are compared with arrays of the same strides,
/// type and size that begin at the same address, packed ones with all packed arrays that overlap them.
class tied_arrays {
 public:
  /// Stored leaf `index` is loaded into all of `view`.
  void add(const memory_view& view, const device_copies* device, std::size_t index);

  /// The paths in the checkpoint of arrays that share memory and differ in it. Reads the values of arrays that share
  /// memory. O(n log n).
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> find_conflicts(fetched_leaves& by,
                                                                                const catalog& from);

 private:
  struct array {
    const void* space;  // the memory that the addresses are in
    std::vector<std::int64_t> strides;
    std::uintptr_t begin, end;  // if there are strides, of the first element only
    std::uint64_t count;
    dtype type;
    std::size_t leaf;
  };

  [[nodiscard]] static std::vector<std::byte> values_of(fetched_leaves& by, const catalog& from, const array& of);

  std::vector<array> arrays_;
};

class checker final : public loader {
 public:
  checker(walk_position& at, load_progress& load) noexcept
      : loader(at, load, presence::keep, presence::prototype), copies_(at, load, *this, copy_answer::check) {}

  [[nodiscard]] cairn::purpose purpose() const noexcept override { return purpose::check; }
  shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) override;
  loader& begin_copy() override;
  void drop_copy() override;
  void keep_whole() override;
  void note_refusal(std::string_view why) override { refusal_ = {at_.path, std::string(why)}; }
  bool note_resize(std::uint64_t from, std::uint64_t to, std::size_t width) override;
  void note_owner(const void* object, const void* type, const void* content) override;
  void note_freed(const void* memory, std::uint64_t bytes) override;
  void note_destroyed(void* object, walk_function walk) override;
  void note_dropped(const std::shared_ptr<void>& object, const void* pointer, walk_function walk) override;
  void note_put(void* object, const void* copy, const copy_operations& how) override;
  std::size_t match_leaf(const memory_view& view) override;
  void missing() override;
  void keep_default() override {
    ++load_.kept;
    defaulted_.emplace_back(path());
  }
  void record(std::string_view path, const std::string& problem) override;

  /// After the walk: completes the report. Throws one errc::mismatch with all problems.
  void finish();
  [[nodiscard]] match_report& report() noexcept { return report_; }
  /// The boxes of stored leaves that are loaded, by index of the leaf; the other leaves are loaded whole.
  [[nodiscard]] const std::map<std::size_t, box>& regions() const noexcept { return regions_; }

 private:
  void add(memory_view view, const device_copies* device) override;
  [[nodiscard]] std::array<std::vector<std::string>*, 4> array_lists() noexcept {
    return {&report_.loaded, &report_.converted, &report_.reshaped, &report_.resized};
  }
  /// errc::no_memory: the machine has no memory for `to` elements of `width` bytes.
  void require_memory(std::uint64_t from, std::uint64_t to, std::size_t width);
  /// Rejects the owner at `path`, which is also at `other`, if the checkpoint has two of them.
  void check_tie(const std::string& other, const std::string& path);
  /// Keeps the first few problems, for the message, and counts the others: a checkpoint may have millions.
  void add_problem(const std::string& problem);
  bool fits(const stored_leaf& stored, const std::string& path, const memory_view& view);
  /// Checks, before anything is changed, that each bool is 0 or 1 and that each narrowed integer fits.
  void check_values(std::size_t index, const memory_view& view) const;

  copy_loader copies_;
  match_report report_;
  std::array<std::size_t, 4> before_copy_{};  // the sizes of the lists of arrays
  std::vector<std::string> problems_;         // the first ones
  std::size_t more_problems_ = 0;
  std::pair<std::string, std::string> refusal_;   // the last array whose type refuses the stored shape, and why
  std::vector<std::string> defaulted_;            // missing in the checkpoint, but not required
  std::set<std::string, std::less<>> explained_;  // paths of what is missing; their parts are not reported
  freed_memory freed_;
  std::uint64_t growing_ = 0;  // bytes of all containers that become larger
  tied_arrays arrays_;
  std::map<std::size_t, box> regions_;
  owner_paths owners_;
  owner owner_{};               // the one that was noted last
  std::string tied_, tied_to_;  // the paths of the owner that was last met again, and where it was met before
};

/// A container to be resized after its memory has been prepared: `resize(container, size)`.
struct growth {
  void* container;
  std::uint64_t size;
  void* (*resize)(void*, std::uint64_t);
  std::byte* memory;
  std::uint64_t bytes;
};

class applier final : public loader {
 public:
  applier(walk_position& at, load_progress& load) noexcept
      : loader(at, load, presence::clear, presence::make), copies_(at, load, *this, copy_answer::put) {}

  loader& begin_copy() override { return copies_.begin_copy(); }
  [[noreturn]] void keep_whole() override;
  std::size_t match_leaf(const memory_view& view) override;
  void missing() override { ++load_.left_out; }
  void arrange(void* object, const heap_operations& how) override {
    if (prototypes_ == 0) heaps_.push_back({object, how.arrange, std::string(path())});
  }
  /// errc::mismatch: the check did not find the problem.
  [[noreturn]] void record(std::string_view path, const std::string& problem) override;

  [[nodiscard]] const std::vector<target>& targets() const noexcept { return targets_; }
  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return growths_; }
  /// Copies what was read for arrays on devices to them, and arranges heaps.
  void finish();

 private:
  void add(memory_view view, const device_copies* device) override;
  /// A large container only gets its memory here, so that its address is known. `growths` tells the caller to resize
  /// it, after touching the pages of all such memory in parallel; the memory does not move by that.
  void* resize(void* container, std::uint64_t from, std::uint64_t to, const contiguous_operations& how) override;

  copy_loader copies_;
  std::vector<target> targets_;
  std::vector<growth> growths_;
  std::vector<host_buffer> buffers_;  // of targets on devices
  struct read_heap {
    void* object;
    void (*arrange)(void*);
    std::string path;
  };
  std::vector<read_heap> heaps_;
};

/// The constructor compares everything and changes nothing. `apply` changes sizes, keys and pointees, and lists where
/// to read the arrays.
class load_plan {
 public:
  /// Throws `errc::mismatch` with all that does not fit, `errc::corrupt` for contents that no state can have,
  /// `errc::invalid` for an exception of a user's code. `from` and `options` must outlive this object.
  load_plan(any_mutable_state state, const catalog& from, const match_options& options, rank_info here = {});

  [[nodiscard]] match_report& report() noexcept { return checker_->report(); }
  [[nodiscard]] const std::map<std::size_t, box>& regions() const noexcept { return checker_->regions(); }

  /// Gives the state the checkpoint's structure. Then prepare and run `growths()`, read `targets()`, and call `finish`.
  void apply();

  /// Copies what was read to the devices where it belongs.
  void finish() { applier_->finish(); }

  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return applier_->growths(); }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return applier_->targets(); }
  /// What the check has read already.
  [[nodiscard]] fetched_leaves& fetched() noexcept { return progress_->fetched; }

 private:
  void walk(walker& by);

  any_mutable_state state_;
  walk_position at_;
  std::optional<load_progress> progress_;
  std::optional<checker> checker_;
  std::optional<applier> applier_;
};

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// Checks that a checkpoint fits a state, then gives the state the checkpoint's structure. The caller reads the arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/state/any_state.hpp"
#include "cairn/state/checker.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/loader.hpp"

namespace cairn::inline v0_1::detail {

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
  /// A large container only gets its memory here, so that its address is known. `growths` tells the caller to resize it, after touching the
  /// pages of all such memory in parallel; the memory does not move by that.
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

/// The constructor compares everything and changes nothing. `apply` changes sizes, keys and pointees, and lists where to read
/// the arrays.
class load_plan {
 public:
  /// Throws `errc::mismatch` with all that does not fit, `errc::corrupt` for contents that no state can have, `errc::invalid` for an
  /// exception of a user's code. `from` and `options` must outlive this object.
  load_plan(any_mutable_state state, const catalog& from, const match_options& options, rank_info here = {});

  [[nodiscard]] match_report& report() noexcept { return checker_->report(); }
  [[nodiscard]] const std::map<std::size_t, box>& regions() const noexcept { return checker_->regions(); }

  /// Gives the state the checkpoint's structure. The caller then prepares and runs `growths()`, reads `targets()`, and calls `finish`.
  void apply();

  /// Copies what was read to the devices where it belongs.
  void finish() { applier_->finish(); }

  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return applier_->growths(); }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return applier_->targets(); }
  /// What the check has read already.
  [[nodiscard]] fetched_leaves& fetched() noexcept { return progress_->fetched; }

 private:
  void walk(walker& by);
  /// Rejects parts of the state that are in memory which the load frees or moves.
  void check_overlaps();

  any_mutable_state state_;
  walk_position at_;
  std::optional<load_progress> progress_;
  std::optional<checker> checker_;
  std::optional<applier> applier_;
};

}  // namespace cairn::inline v0_1::detail

// SPDX-License-Identifier: MIT
// The first walk of a load: compares a state with a checkpoint and changes nothing. Collects the report and all problems.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/state/tied_arrays.hpp"

namespace cairn::inline v0_1::detail {

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
  void note_destroyed(std::string_view part) override;
  void note_put(void* object, const void* copy, const copy_operations& how) override;
  std::size_t match_leaf(const memory_view& view) override;
  void missing() override;
  void keep_default() override {
    ++load_.kept;
    defaulted_.emplace_back(path());
  }
  void record(std::string_view path, const std::string& problem) override;

  /// Memory of the state that the second walk frees or moves, and parts that it destroys.
  [[nodiscard]] const freed_objects& freed() const noexcept { return freed_; }

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
  freed_objects freed_;
  std::uint64_t growing_ = 0;  // bytes of all containers that become larger
  tied_arrays arrays_;
  std::map<std::size_t, box> regions_;
  std::unordered_map<owner, std::string, owner::hash> owners_;                    // the first path of each
  std::unordered_map<owner, std::vector<std::string>, owner::hash> other_paths_;  // of an owner
  owner owner_{};                                                                 // the one that was noted last
  std::string tied_, tied_to_;  // the paths of the owner that was last met again, and where it was met before
};

}  // namespace cairn::inline v0_1::detail

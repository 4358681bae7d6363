// SPDX-License-Identifier: MIT
// The second walk of a load: gives a state the checkpoint's structure, and lists where its arrays are to be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace cairn::inline v0_1::detail

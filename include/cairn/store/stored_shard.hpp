// SPDX-License-Identifier: MIT
// A shard of a checkpoint: its file, its header, and where its tensors are. Opened when it is needed first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/store/base.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/store/shard_metadata.hpp"

namespace cairn::inline v0_1::detail {

struct stored_shard {
  std::unique_ptr<stores::source> file;
  std::string where;  ///< its path, for messages
  safetensors_header header;
  shard_metadata metadata;
  std::vector<std::size_t> by_key;  ///< the numbers of the tensors, in the order of their keys
  /// Per block: its checksum has been compared. Two threads may do so at the same time, which is harmless.
  std::unique_ptr<std::atomic<bool>[]> verified;

  /// The tensor of that key, or null. O(log n).
  [[nodiscard]] const tensor_entry* find(std::string_view key) const noexcept {
    const auto& tensors = header.tensors;
    const auto at =
        std::partition_point(by_key.begin(), by_key.end(), [&](std::size_t i) { return tensors[i].key < key; });
    return at != by_key.end() && tensors[*at].key == key ? &tensors[*at] : nullptr;
  }
};

/// The shards of a checkpoint. Thread-safe.
class shard_list {
 public:
  using file_pointer = std::unique_ptr<stores::source>;

  shard_list() = default;
  /// `open` opens the file of a shard, `parse` reads its header. What they throw is thrown to the caller that needs the shard; the next one tries again.
  shard_list(std::size_t count, std::function<file_pointer(std::size_t)> open,
             std::function<stored_shard(std::size_t, file_pointer)> parse)
      : slots_(std::make_unique<slot[]>(count)), count_(count), open_(std::move(open)), parse_(std::move(parse)) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// The shard, whose header is read the first time.
  [[nodiscard]] const stored_shard& operator[](std::size_t number) const {
    auto& at = slots_[number];
    if (const auto* parsed = at.parsed.load(std::memory_order_acquire)) return *parsed;
    const std::lock_guard lock(at.opening);
    if (!at.shard) {
      if (!at.file) at.file = open_(number);
      at.shard = std::make_unique<const stored_shard>(parse_(number, std::move(at.file)));
      at.parsed.store(at.shard.get(), std::memory_order_release);
    }
    return *at.shard;
  }

  /// Opens the file of the shard: it stays readable when the checkpoint is replaced or removed.
  void hold(std::size_t number) const {
    auto& at = slots_[number];
    const std::lock_guard lock(at.opening);
    if (!at.shard && !at.file) at.file = open_(number);
  }

  /// The shard if its header has been read, else null.
  [[nodiscard]] const stored_shard* if_parsed(std::size_t number) const noexcept {
    return slots_[number].parsed.load(std::memory_order_acquire);
  }

 private:
  struct slot {
    std::mutex opening;  // guards `file` and `shard`
    file_pointer file;
    std::unique_ptr<const stored_shard> shard;
    std::atomic<const stored_shard*> parsed{nullptr};
  };

  std::unique_ptr<slot[]> slots_;
  std::size_t count_ = 0;
  std::function<file_pointer(std::size_t)> open_;
  std::function<stored_shard(std::size_t, file_pointer)> parse_;
};

}  // namespace cairn::inline v0_1::detail

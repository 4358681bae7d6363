// SPDX-License-Identifier: MIT
// A group whose ranks are threads of one process: for trainers of several threads, and for tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cairn/group/base.hpp"

namespace cairn::inline v0_1::groups {

namespace detail {
class meeting;
struct membership;
}  // namespace detail

/// One rank, for one thread at a time. Destroying its last copy ends operations that wait for it with errc::lost_rank.
class threads {
 public:
  /// The ranks of a new group, one for each thread. errc::invalid for a size of 0.
  [[nodiscard]] static std::vector<threads> make(unsigned size);

  [[nodiscard]] unsigned rank() const noexcept;
  [[nodiscard]] unsigned size() const noexcept;
  /// errc::mismatch, at all ranks, where the ranks have not started the same operation with the same size and root.
  [[nodiscard]] started start_max(std::span<const std::uint64_t> numbers);
  [[nodiscard]] started start_broadcast(std::span<const std::byte> bytes, std::size_t size, unsigned root);
  [[nodiscard]] started start_gather(std::span<const std::byte> bytes, unsigned root);
  /// Sends a message at once: see messaging_group.
  [[nodiscard]] started start_send(std::vector<std::byte> bytes, unsigned to, unsigned channel);
  /// Receives the next message of rank `from`. errc::mismatch: it has another size.
  [[nodiscard]] started start_receive(std::size_t size, unsigned from, unsigned channel);
  /// The ranks that have started fewer operations than this one.
  [[nodiscard]] std::vector<unsigned> roll_call(std::chrono::milliseconds limit);

 private:
  explicit threads(std::shared_ptr<detail::membership> self) : self_(std::move(self)) {}

  std::shared_ptr<detail::membership> self_;
};

}  // namespace cairn::inline v0_1::groups

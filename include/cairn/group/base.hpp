// SPDX-License-Identifier: MIT
// The contract of a group: the ranks of one job, and the few collectives with which they agree.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1 {

namespace groups {

/// A collective that this rank has started. The group owns its buffers. One that is destroyed before it is complete
/// breaks the group: the other ranks wait in vain.
class operation {
 public:
  operation() = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
  virtual ~operation() = default;

  /// Makes progress; returns whether this rank is done. Never waits for other ranks. errc::io, lost_rank, mismatch.
  virtual bool test() = 0;
  /// What the operation gives this rank; valid once it is complete.
  [[nodiscard]] virtual std::span<const std::byte> result() const = 0;
};

using started = std::unique_ptr<operation>;

}  // namespace groups

/// The ranks of one job. All ranks start the same operations in the same order, with the same sizes and roots. One
/// thread of each rank at a time uses its group. Operations complete in the calls of `test` alone: no thread of the
/// group makes progress in the background.
template <class Group>
concept group = requires(Group& self, const Group& view, std::span<const std::uint64_t> numbers,
                         std::span<const std::byte> bytes, std::size_t size, unsigned root,
                         std::chrono::milliseconds limit) {
  /// Of this process or thread, from 0 on.
  { view.rank() } -> std::convertible_to<unsigned>;
  /// The number of ranks.
  { view.size() } -> std::convertible_to<unsigned>;
  /// The largest of each number over all ranks: for all ranks the same.
  { self.start_max(numbers) } -> std::convertible_to<groups::started>;
  /// The `size` bytes of `root`; the others pass no bytes.
  { self.start_broadcast(bytes, size, root) } -> std::convertible_to<groups::started>;
  /// The bytes of all ranks, in order of rank, for `root`; nothing for the others. All pass as many bytes.
  { self.start_gather(bytes, root) } -> std::convertible_to<groups::started>;
  /// The ranks that do not answer within `limit`. For messages, after an operation has taken too long.
  { self.roll_call(limit) } -> std::convertible_to<std::vector<unsigned>>;
} && std::move_constructible<Group>;  // last, or a class with a constructor from any_group would ask for itself

/// A group whose ranks can send each other messages, apart from the collectives and in any order with them. Between two
/// ranks, the n-th receipt on a channel gets its n-th message, of the same size. Channels are below 32768.
template <class Group>
concept messaging_group = group<Group> && requires(Group& self, std::vector<std::byte> bytes, std::size_t size,
                                                   unsigned rank, unsigned channel) {
  { self.start_send(std::move(bytes), rank, channel) } -> std::convertible_to<groups::started>;
  { self.start_receive(size, rank, channel) } -> std::convertible_to<groups::started>;
};

/// Any group, chosen at run time. Copies share the group.
class any_group {
 public:
  template <class Group>
  requires(!std::same_as<std::remove_cvref_t<Group>, any_group> && group<std::remove_cvref_t<Group>>)
  any_group(Group&& chosen)  // NOLINT: a group converts to an any_group
      : self_(std::make_shared<model<std::remove_cvref_t<Group>>>(std::forward<Group>(chosen))) {}

  [[nodiscard]] unsigned rank() const { return self_->rank(); }
  [[nodiscard]] unsigned size() const { return self_->size(); }
  [[nodiscard]] groups::started start_max(std::span<const std::uint64_t> numbers) { return self_->start_max(numbers); }
  [[nodiscard]] groups::started start_broadcast(std::span<const std::byte> bytes, std::size_t size, unsigned root) {
    return self_->start_broadcast(bytes, size, root);
  }
  [[nodiscard]] groups::started start_gather(std::span<const std::byte> bytes, unsigned root) {
    return self_->start_gather(bytes, root);
  }
  [[nodiscard]] std::vector<unsigned> roll_call(std::chrono::milliseconds limit) { return self_->roll_call(limit); }
  /// Whether it is a messaging_group. The messages of others are errc::unsupported.
  [[nodiscard]] bool can_send() const { return self_->can_send(); }
  /// Sends a message to rank `to`: see messaging_group.
  [[nodiscard]] groups::started start_send(std::vector<std::byte> bytes, unsigned to, unsigned channel) {
    return self_->start_send(std::move(bytes), to, channel);
  }
  /// Receives the next message of rank `from`, of `size` bytes.
  [[nodiscard]] groups::started start_receive(std::size_t size, unsigned from, unsigned channel) {
    return self_->start_receive(size, from, channel);
  }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual unsigned rank() const = 0;
    virtual unsigned size() const = 0;
    virtual groups::started start_max(std::span<const std::uint64_t>) = 0;
    virtual groups::started start_broadcast(std::span<const std::byte>, std::size_t, unsigned) = 0;
    virtual groups::started start_gather(std::span<const std::byte>, unsigned) = 0;
    virtual std::vector<unsigned> roll_call(std::chrono::milliseconds) = 0;
    virtual bool can_send() const = 0;
    virtual groups::started start_send(std::vector<std::byte>, unsigned, unsigned) = 0;
    virtual groups::started start_receive(std::size_t, unsigned, unsigned) = 0;
  };

  template <class Group>
  struct model final : interface {
    template <class G>
    explicit model(G&& chosen) : held(std::forward<G>(chosen)) {}
    unsigned rank() const override { return held.rank(); }
    unsigned size() const override { return held.size(); }
    groups::started start_max(std::span<const std::uint64_t> numbers) override { return held.start_max(numbers); }
    groups::started start_broadcast(std::span<const std::byte> bytes, std::size_t size, unsigned root) override {
      return held.start_broadcast(bytes, size, root);
    }
    groups::started start_gather(std::span<const std::byte> bytes, unsigned root) override {
      return held.start_gather(bytes, root);
    }
    std::vector<unsigned> roll_call(std::chrono::milliseconds limit) override { return held.roll_call(limit); }
    bool can_send() const override { return messaging_group<Group>; }
    groups::started start_send([[maybe_unused]] std::vector<std::byte> bytes, [[maybe_unused]] unsigned to,
                               [[maybe_unused]] unsigned channel) override {
      if constexpr (messaging_group<Group>) return held.start_send(std::move(bytes), to, channel);
      refuse();
    }
    groups::started start_receive([[maybe_unused]] std::size_t size, [[maybe_unused]] unsigned from,
                                  [[maybe_unused]] unsigned channel) override {
      if constexpr (messaging_group<Group>) return held.start_receive(size, from, channel);
      refuse();
    }
    [[noreturn]] static void refuse() { fail(errc::unsupported, {"the ranks of this group cannot send messages"}); }
    Group held;
  };

  std::shared_ptr<interface> self_;
};

}  // namespace cairn::inline v0_1

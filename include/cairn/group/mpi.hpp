// SPDX-License-Identifier: MIT
// A group whose ranks are the processes of an MPI communicator. Opt-in: needs MPI, version 3 or newer.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/group/base.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::mpi {

namespace detail {

/// Bytes of one call of MPI, whose counts are of type int.
inline constexpr std::size_t most_bytes = std::size_t{1} << 29U;

/// Throws MPI's own words for a code that is not MPI_SUCCESS.
inline void check(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail(errc::io, {call, ": ", std::string_view(text.data(), static_cast<std::size_t>(length))});
}

/// A duplicate of a communicator, which returns codes. Freed with this object, unless MPI has ended or an operation was
/// abandoned: its requests then stay with MPI until the process ends.
class communicator {
 public:
  explicit communicator(MPI_Comm of) {
    check(MPI_Comm_dup(of, &made_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(made_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator() {
    int has_ended = 0;
    MPI_Finalized(&has_ended);
    if (has_ended == 0 && !is_broken_) MPI_Comm_free(&made_);
  }

  [[nodiscard]] MPI_Comm get() const {
    if (is_broken_) fail(errc::lost_rank, {"an operation of this MPI group was not completed: the group is broken"});
    return made_;
  }
  void abandon() noexcept { is_broken_ = true; }

 private:
  MPI_Comm made_ = MPI_COMM_NULL;
  bool is_broken_ = false;
};

/// The buffers and requests of an operation.
struct transfer {
  std::vector<std::byte> send{}, receive{};
  std::vector<MPI_Request> requests{};

  [[nodiscard]] bool test() {
    int is_done = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &is_done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    return is_done != 0;
  }
};

/// Keeps the buffers of an operation that is not complete, which MPI may still use, until the process ends.
CAIRN_ONE_PER_PROCESS inline void keep_until_exit(std::unique_ptr<transfer> what) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<transfer>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(what));
}

class operation final : public groups::operation {
 public:
  operation(std::shared_ptr<communicator> on, std::unique_ptr<transfer> what)
      : on_(std::move(on)), what_(std::move(what)) {}
  ~operation() override {
    if (is_done_) return;
    on_->abandon();
    keep_until_exit(std::move(what_));
  }

  bool test() override {
    is_done_ = is_done_ || what_->test();
    return is_done_;
  }
  [[nodiscard]] std::span<const std::byte> result() const override { return what_->receive; }

 private:
  std::shared_ptr<communicator> on_;
  std::unique_ptr<transfer> what_;
  bool is_done_ = false;
};

}  // namespace detail

/// The ranks of a communicator. Making one is a collective call. MPI must have been initialised, with any level of
/// thread support: only the thread that calls the checkpointer calls MPI.
class group {
 public:
  /// Uses duplicates of `ranks`: other traffic on it does not disturb. errc::invalid: MPI is not initialised; errc::io.
  explicit group(MPI_Comm ranks) {
    int is_ready = 0;
    MPI_Initialized(&is_ready);
    if (is_ready == 0) fail(errc::invalid, {"an MPI group before MPI_Init"});
    on_ = std::make_shared<detail::communicator>(ranks);
    calls_ = std::make_shared<detail::communicator>(ranks);
    int rank = 0, size = 0;
    detail::check(MPI_Comm_rank(on_->get(), &rank), "MPI_Comm_rank");
    detail::check(MPI_Comm_size(on_->get(), &size), "MPI_Comm_size");
    rank_ = static_cast<unsigned>(rank);
    size_ = static_cast<unsigned>(size);
  }

  [[nodiscard]] unsigned rank() const noexcept { return rank_; }
  [[nodiscard]] unsigned size() const noexcept { return size_; }

  [[nodiscard]] groups::started start_max(std::span<const std::uint64_t> numbers) {
    auto made = sending(std::as_bytes(numbers), numbers.size_bytes());
    const auto count = static_cast<int>(numbers.size());
    detail::check(MPI_Iallreduce(made->send.data(), made->receive.data(), count, MPI_UINT64_T, MPI_MAX, on_->get(),
                                 &made->requests.emplace_back()),
                  "MPI_Iallreduce");
    return start(std::move(made));
  }

  [[nodiscard]] groups::started start_broadcast(std::span<const std::byte> bytes, std::size_t size, unsigned root) {
    auto made = sending({}, size);
    if (rank_ == root) std::copy_n(bytes.begin(), size, made->receive.begin());
    made->requests.reserve(size / detail::most_bytes + 1);
    for (std::size_t at = 0; at < size; at += detail::most_bytes)
      detail::check(MPI_Ibcast(made->receive.data() + at, static_cast<int>(std::min(detail::most_bytes, size - at)),
                               MPI_BYTE, static_cast<int>(root), on_->get(), &made->requests.emplace_back()),
                    "MPI_Ibcast");
    return start(std::move(made));
  }

  /// errc::invalid for more than 512 MiB of one rank.
  [[nodiscard]] groups::started start_gather(std::span<const std::byte> bytes, unsigned root) {
    check_size(bytes.size());
    auto made = sending(bytes, rank_ == root ? bytes.size() * size_ : 0);
    const auto count = static_cast<int>(bytes.size());
    detail::check(MPI_Igather(made->send.data(), count, MPI_BYTE, made->receive.data(), count, MPI_BYTE,
                              static_cast<int>(root), on_->get(), &made->requests.emplace_back()),
                  "MPI_Igather");
    return start(std::move(made));
  }

  /// Sends a message: see messaging_group. errc::invalid for more than 512 MiB.
  [[nodiscard]] groups::started start_send(std::vector<std::byte> bytes, unsigned to, unsigned channel) {
    check_size(bytes.size());
    auto made = sending({}, 0);
    made->send = std::move(bytes);
    detail::check(MPI_Isend(made->send.data(), static_cast<int>(made->send.size()), MPI_BYTE, static_cast<int>(to),
                            static_cast<int>(channel), on_->get(), &made->requests.emplace_back()),
                  "MPI_Isend");
    return start(std::move(made));
  }
  /// Receives the next message of rank `from`. errc::invalid for more than 512 MiB.
  [[nodiscard]] groups::started start_receive(std::size_t size, unsigned from, unsigned channel) {
    check_size(size);
    auto made = sending({}, size);
    detail::check(MPI_Irecv(made->receive.data(), static_cast<int>(size), MPI_BYTE, static_cast<int>(from),
                            static_cast<int>(channel), on_->get(), &made->requests.emplace_back()),
                  "MPI_Irecv");
    return start(std::move(made));
  }

  /// Sends a byte to all other ranks; those from which none comes within `limit` are missing. Breaks the group.
  [[nodiscard]] std::vector<unsigned> roll_call(std::chrono::milliseconds limit) {
    cairn::detail::waiting_time waited;
    auto calls = std::make_unique<detail::transfer>();
    calls->send.resize(1);
    calls->receive.resize(size_);
    std::vector<MPI_Request> answers(size_, MPI_REQUEST_NULL);
    for (unsigned other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      detail::check(MPI_Irecv(calls->receive.data() + other, 1, MPI_BYTE, static_cast<int>(other), 0, calls_->get(),
                              &answers[other]),
                    "MPI_Irecv");
      detail::check(MPI_Isend(calls->send.data(), 1, MPI_BYTE, static_cast<int>(other), 0, calls_->get(),
                              &calls->requests.emplace_back()),
                    "MPI_Isend");
    }
    std::vector<unsigned> missing;
    do {
      missing.clear();
      for (unsigned other = 0; other < size_; ++other) {
        int has_answered = 1;
        detail::check(MPI_Test(&answers[other], &has_answered, MPI_STATUS_IGNORE), "MPI_Test");
        if (has_answered == 0) missing.push_back(other);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (!missing.empty() && waited.seconds() < std::chrono::duration<double>(limit).count());
    on_->abandon();
    calls_->abandon();
    detail::keep_until_exit(std::move(calls));
    return missing;
  }

 private:
  static void check_size(std::size_t bytes) {
    if (bytes > detail::most_bytes) fail(errc::invalid, {"a rank gives ", bytes, " bytes in one call"});
  }
  [[nodiscard]] std::unique_ptr<detail::transfer> sending(std::span<const std::byte> bytes,
                                                          std::size_t receives) const {
    auto made = std::make_unique<detail::transfer>();
    made->send.assign(bytes.begin(), bytes.end());
    made->receive.resize(receives);
    return made;
  }
  [[nodiscard]] groups::started start(std::unique_ptr<detail::transfer> what) const {
    return std::make_unique<detail::operation>(on_, std::move(what));
  }

  std::shared_ptr<detail::communicator> on_, calls_;  // for collectives, and for roll calls
  unsigned rank_ = 0, size_ = 1;
};

}  // namespace cairn::inline v0_1::mpi

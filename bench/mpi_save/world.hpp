// SPDX-License-Identifier: MIT
// The ranks of the program, or some of them. They wait asleep: a rank that polls takes a core from those that work.
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.hpp"
#include "common/settle.hpp"

namespace bench {

inline void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw std::runtime_error(std::string(call) + " failed");
}

class world {
 public:
  explicit world(MPI_Comm ranks) : ranks_(ranks) {
    check_mpi(MPI_Comm_rank(ranks, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(ranks, &size_), "MPI_Comm_size");
  }

  [[nodiscard]] MPI_Comm comm() const noexcept { return ranks_; }
  [[nodiscard]] unsigned rank() const noexcept { return static_cast<unsigned>(rank_); }
  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(size_); }
  [[nodiscard]] bool is_first() const noexcept { return rank_ == 0; }

  /// Returns when all ranks have called it.
  void meet() const {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(ranks_, &request), "MPI_Ibarrier");
    wait_asleep(request);
  }

  static void wait_asleep(MPI_Request& request) {
    constexpr std::chrono::microseconds pause(200);
    int is_done = 0;
    while (true) {
      check_mpi(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
      if (is_done != 0) return;
      std::this_thread::sleep_for(pause);
    }
  }

  /// The largest of each number, at all ranks.
  [[nodiscard]] std::vector<double> largest(std::vector<double> mine) const {
    meet();
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, ranks_),
              "MPI_Allreduce");
    return mine;
  }

  /// Seconds from the first rank that begins `work` to the last one that ends it. The processes of one machine share
  /// the clock.
  template <class Work>
  [[nodiscard]] double seconds_of(const Work& work) const {
    meet();
    const double begin = clock_seconds();
    work();
    const double end = clock_seconds();
    const auto both = largest({-begin, end});
    return both[0] + both[1];
  }

  /// See settle.hpp: by rank 0, while the others sleep.
  void settle(std::size_t bytes, std::chrono::duration<double> patience) const {
    if (is_first()) bench::settle(bytes, patience);
    meet();
  }

  /// Calls `act` at the first `count` ranks, with a communicator of their own; the others wait. False where there are
  /// fewer.
  bool with_first(unsigned count, const std::function<void(const world&)>& act) const {
    if (count > size()) return false;
    MPI_Comm some = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(ranks_, rank() < count ? 0 : MPI_UNDEFINED, rank_, &some), "MPI_Comm_split");
    if (some != MPI_COMM_NULL) {
      act(world(some));
      MPI_Comm_free(&some);
    }
    meet();
    return true;
  }

 private:
  MPI_Comm ranks_;
  int rank_ = 0, size_ = 1;
};

}  // namespace bench

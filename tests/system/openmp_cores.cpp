// SPDX-License-Identifier: MIT
// OpenMP with OMP_PROC_BIND pins the main thread before the program begins. Its part is played by this file.
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

#include "cairn/system/parallel.hpp"
#include "catch.hpp"

namespace {
int count_of_machine() { return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); }
}  // namespace

// Two places: a core that no machine has, and all that this one has.
extern "C" {
int omp_get_num_places() noexcept { return 2; }
int omp_get_place_num_procs(int place) noexcept { return place == 0 ? 1 : count_of_machine(); }
void omp_get_place_proc_ids(int place, int* cores) noexcept {
  if (place == 0)
    cores[0] = -1;
  else
    std::iota(cores, cores + count_of_machine(), 0);
}
}

TEST_CASE("in a process that began on one core, threads run on all cores of OpenMP", "[.began_on_one_core]") {
  if (std::getenv("CAIRN_BEGAN_ON_ONE_CORE") == nullptr) SKIP("the next test starts it");
  REQUIRE(CPU_COUNT(&*cairn::detail::cores_at_start) == 1);
  std::optional<cpu_set_t> cores;
  cairn::detail::start_thread([&] { cores = cairn::detail::cores_of_thread(); }).join();
  CHECK(CPU_COUNT(&*cores) == count_of_machine());
}

TEST_CASE("threads of a process that OpenMP has pinned to one core run on all cores of OpenMP") {
  const auto all = cairn::detail::cores_of_thread();
  if (!all || CPU_COUNT(&*all) != count_of_machine() || count_of_machine() < 2) SKIP("the process has not all cores");
  const auto child = ::fork();
  REQUIRE(child != -1);
  if (child == 0) {
    cairn::detail::use_cores(std::set<unsigned>{0});
    ::setenv("CAIRN_BEGAN_ON_ONE_CORE", "1", 1);
    ::execl("/proc/self/exe", "tests", "[.began_on_one_core]", nullptr);
    ::_exit(127);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

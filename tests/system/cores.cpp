// SPDX-License-Identifier: MIT

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cairn/checkpointer.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "catch.hpp"
#include "trainer.hpp"

namespace {

int count_of_thread() {
  const auto cores = cairn::detail::cores_of_thread();
  return cores ? CPU_COUNT(&*cores) : 0;
}

/// Pins the calling thread to the first core of the process.
struct pinned {
  pinned() {
    REQUIRE(before);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first(), &one);
    cairn::detail::use_cores(one);
    REQUIRE(count_of_thread() == 1);
  }
  ~pinned() { cairn::detail::use_cores(*before); }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

  [[nodiscard]] unsigned first() const {
    unsigned number = 0;
    while (!CPU_ISSET(number, &*before)) ++number;
    return number;
  }
  std::optional<cpu_set_t> before = cairn::detail::cores_of_thread();
};

bool is_same(const std::optional<cpu_set_t>& a, const std::optional<cpu_set_t>& b) {
  return a && b && CPU_EQUAL(&*a, &*b) != 0;
}

}  // namespace

TEST_CASE("threads run on the cores of the process, though the thread that starts them is pinned to one") {
  const auto all = cairn::detail::cores_of_process();
  const pinned main;
  std::optional<cpu_set_t> found, of_helper;
  unsigned threads = 0;
  cairn::detail::start_thread([&] {
    found = cairn::detail::cores_of_thread();
    threads = cairn::detail::default_threads();
  }).join();
  CHECK(is_same(found, all));
  CHECK(cairn::detail::default_threads() == threads);
  CHECK(threads == std::min(static_cast<unsigned>(CPU_COUNT(&*all)), 8U));
  // One that such a thread starts uses the cores of that.
  cairn::detail::start_thread([&] {
    cairn::detail::use_cores(std::set{main.first()});
    cairn::detail::start_thread([&] { of_helper = cairn::detail::cores_of_thread(); }).join();
    threads = cairn::detail::default_threads();
  }).join();
  CHECK(CPU_COUNT(&*of_helper) == 1);
  CHECK(threads == 1);
  CHECK(count_of_thread() == 1);  // the caller stays where it is
}

TEST_CASE("cores that the process may not use change nothing") {
  const auto all = cairn::detail::cores_of_process();
  std::optional<cpu_set_t> found;
  cairn::detail::start_thread([&] {
    cairn::detail::use_cores(std::set<unsigned>{1023});
    found = cairn::detail::cores_of_thread();
  }).join();
  CHECK(is_same(found, all));
}

TEST_CASE("the option cores: where the work in the background runs") {
  const pinned main;
  const auto cores_of_background = [&](std::set<unsigned> cores) {
    std::optional<cpu_set_t> found;
    cairn::checkpointer run(
        cairn::stores::memory(),
        {.when = cairn::policies::every_steps{1}, .cores = std::move(cores), .on_event = [&](const cairn::event& what) {
           if (what.what == cairn::event::kind::written) found = cairn::detail::cores_of_thread();
         }});
    static_cast<void>(run.step(tests::trained(1), {.step = 1}));
    run.wait();
    return found;
  };
  CHECK(is_same(cores_of_background({}), cairn::detail::cores_of_process()));
  CHECK(is_same(cores_of_background({main.first()}), cairn::detail::cores_of_thread()));
}

// SPDX-License-Identifier: MIT
#include "cairn/run/background_thread.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "catch.hpp"

using cairn::detail::background_thread;

namespace {

bool is_busy(const background_thread& background) { return !background.wait_for(std::chrono::seconds(0)); }

}  // namespace

TEST_CASE("jobs run one after another, on one thread that is not the caller's") {
  background_thread background;
  CHECK_FALSE(is_busy(background));
  background.wait();
  std::thread::id first;
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    background.start([&] {
      if (i == 0) first = std::this_thread::get_id();
      done += first == std::this_thread::get_id();
    });
    background.wait();
    CHECK_FALSE(is_busy(background));
    CHECK(done == i + 1);
  }
  CHECK(first != std::this_thread::get_id());
}

TEST_CASE("it is busy until the job has returned, and waiting can be given up") {
  background_thread background;
  std::promise<void> gate;
  background.start([&] { gate.get_future().wait(); });
  CHECK(is_busy(background));
  CHECK_FALSE(background.wait_for(std::chrono::duration<double>(1e-3)));
  gate.set_value();
  CHECK(background.wait_for(std::chrono::duration<double>(1e300)));
  CHECK_FALSE(is_busy(background));
}

TEST_CASE("what a job holds is released before it counts as done") {
  background_thread background;
  auto held = std::make_shared<int>(1);
  background.start([held] {});
  background.wait();
  CHECK(held.use_count() == 1);
}

TEST_CASE("the destructor finishes the running job") {
  std::atomic<bool> done{false};
  {
    background_thread background;
    background.start([&] { done = true; });
  }
  CHECK(done);
}

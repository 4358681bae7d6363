#include "cairn/background/worker.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "catch.hpp"

using cairn::worker;

namespace {

bool is_busy(const worker& behind) { return !behind.wait_for(std::chrono::seconds(0)); }

}  // namespace

TEST_CASE("jobs are done one after the other, on one thread that is not the caller's") {
  worker behind;
  CHECK_FALSE(is_busy(behind));
  behind.wait();
  std::thread::id first;
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    behind.start([&] {
      if (i == 0) first = std::this_thread::get_id();
      done += first == std::this_thread::get_id();
    });
    behind.wait();
    CHECK_FALSE(is_busy(behind));
    CHECK(done == i + 1);
  }
  CHECK(first != std::this_thread::get_id());
}

TEST_CASE("it is busy until the job has returned, and waiting can be given up") {
  worker behind;
  std::promise<void> gate;
  behind.start([&] { gate.get_future().wait(); });
  CHECK(is_busy(behind));
  CHECK_FALSE(behind.wait_for(std::chrono::duration<double>(1e-3)));
  gate.set_value();
  CHECK(behind.wait_for(std::chrono::duration<double>(1e300)));
  CHECK_FALSE(is_busy(behind));
}

TEST_CASE("what a job holds is let go before it counts as done") {
  worker behind;
  auto held = std::make_shared<int>(1);
  behind.start([held] {});
  behind.wait();
  CHECK(held.use_count() == 1);
}

TEST_CASE("the job that is under way is finished before the worker goes") {
  std::atomic<bool> done{false};
  {
    worker behind;
    behind.start([&] { done = true; });
  }
  CHECK(done);
}

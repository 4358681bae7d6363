// SPDX-License-Identifier: MIT
#include "cairn/run/rate_limiter.hpp"
#include "cairn/run/record.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::rate_limiter;
using cairn::detail::run_record;
using kind = cairn::event::kind;

TEST_CASE("without a limit and until it is cancelled it lets everything through") {
  rate_limiter limiter;
  for (int round = 0; round < 3; ++round) {
    limiter.begin(std::nullopt);
    CHECK_NOTHROW(limiter.check());
    CHECK_NOTHROW(limiter.wait_until_allowed(1'000'000'000'000));
    limiter.cancel();
    CHECK(sample::failure_of([&] { limiter.check(); }).says("cancelled for a newer save or the end of the run"));
    CHECK(sample::failure_of([&] { limiter.wait_until_allowed(0); }).code == cairn::errc::cancelled);
  }
}

TEST_CASE("n bytes take at least n divided by the limit") {
  rate_limiter limiter;
  const auto began = rate_limiter::clock::now();  // before the first call, from which it counts
  limiter.begin(1e6);
  limiter.wait_until_allowed(0);
  limiter.wait_until_allowed(5'000);
  limiter.wait_until_allowed(20'000);
  CHECK(rate_limiter::clock::now() - began >= std::chrono::milliseconds(19));
  CHECK(limiter.held_back() > 0);
  limiter.begin(std::nullopt);
  limiter.wait_until_allowed(1'000'000);
  CHECK(limiter.held_back() == 0);
}

TEST_CASE("counted anew, bytes are limited from 0 again, and what was cancelled stays so") {
  rate_limiter limiter;
  limiter.begin(1e6);
  limiter.wait_until_allowed(0);
  limiter.count_anew();
  const auto began = rate_limiter::clock::now();
  limiter.wait_until_allowed(20'000);
  limiter.wait_until_allowed(20'000);
  CHECK(rate_limiter::clock::now() - began >= std::chrono::milliseconds(19));
  limiter.cancel();
  limiter.count_anew();
  CHECK(sample::failure_of([&] { limiter.check(); }).code == cairn::errc::cancelled);
}

TEST_CASE("every save is limited from its own first bytes on") {
  rate_limiter limiter;
  for (int save = 0; save < 2; ++save) {
    const auto began = rate_limiter::clock::now();
    limiter.begin(1e6);
    limiter.wait_until_allowed(0);
    limiter.wait_until_allowed(20'000);
    CHECK(rate_limiter::clock::now() - began >= std::chrono::milliseconds(19));
  }
}

TEST_CASE("seconds in which two threads wait count once") {
  rate_limiter limiter;
  limiter.begin(1e-9);
  std::atomic<int> waiting{0};
  const auto began = rate_limiter::clock::now();
  std::thread threads[2];
  for (auto& each : threads)
    each = std::thread([&] {
      ++waiting;
      limiter.wait_until_allowed(1);
    });
  while (waiting < 2 || !limiter.is_holding()) std::this_thread::yield();
  const auto both = rate_limiter::clock::now();
  while (rate_limiter::clock::now() - both < std::chrono::milliseconds(2)) std::this_thread::yield();
  limiter.remove_limit();
  for (auto& each : threads) each.join();
  const std::chrono::duration<double> all = rate_limiter::clock::now() - began;
  CHECK(limiter.held_back() > 1e-3);
  CHECK(limiter.held_back() <= all.count());
}

TEST_CASE("a thread that waits for the limit is woken by remove_limit and by cancel") {
  for (const bool removes_limit : {true, false}) {
    rate_limiter limiter;
    limiter.begin(1e-9);
    bool is_cancelled = false;
    std::thread waits([&] {
      is_cancelled = sample::failure_of([&] { limiter.wait_until_allowed(1); }).code == cairn::errc::cancelled;
    });
    while (!limiter.is_holding()) std::this_thread::yield();
    removes_limit ? limiter.remove_limit() : limiter.cancel();
    waits.join();
    CHECK(is_cancelled == !removes_limit);
    CHECK_FALSE(limiter.is_holding());
  }
}

TEST_CASE("events come one at a time, and progress only grows within a save") {
  std::vector<std::uint64_t> bytes;
  const cairn::observer hears = [&](const cairn::event& e) { bytes.push_back(e.bytes); };
  run_record record(hears);
  for (const std::uint64_t at : {1U, 3U, 2U, 4U}) record.emit({.what = kind::progress, .bytes = at});
  record.emit({.what = kind::started});
  record.emit({.what = kind::progress, .bytes = 2});
  CHECK(bytes == std::vector<std::uint64_t>{1, 3, 4, 0, 2});

  bytes.clear();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) record.emit({.what = kind::skipped});
      });
  }
  CHECK(bytes.size() == 4000);
}

// SPDX-License-Identifier: MIT
#include "cairn/run/progress.hpp"

#include <memory>
#include <thread>
#include <vector>

#include "cairn/report.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using cairn::save_handle;
using cairn::detail::run_record;
using cairn::detail::save_progress;
using kind = cairn::event::kind;

TEST_CASE("a handle of no save is done, and has no report") {
  const save_handle none;
  CHECK_FALSE(none);
  CHECK(none.done());
  none.wait();
  CHECK(sample::failure_of([&] { static_cast<void>(none.get()); }).code == cairn::errc::invalid);
}

TEST_CASE("a handle waits until its save is published, or throws what ended it") {
  const auto progress = std::make_shared<save_progress>();
  const save_handle save(progress), copy = save;
  CHECK(save);
  CHECK_FALSE(save.done());
  SECTION("published") {
    cairn::save_report report;
    report.path = "a";
    report.bytes = 7;
    std::thread publishes([&] { progress->published(std::make_shared<cairn::save_report>(report)); });
    CHECK(save.get().bytes == 7);
    publishes.join();
    CHECK(copy.get().path == "a");
  }
  SECTION("failed; what comes later changes nothing") {
    progress->failed(cairn::error(cairn::errc::io, "the disk is full"));
    progress->published(std::make_shared<cairn::save_report>());
    for (int i = 0; i < 2; ++i) {
      const auto failure = sample::failure_of([&] { static_cast<void>(copy.get()); });
      CHECK(failure.code == cairn::errc::io);
      CHECK(failure.says("the disk is full"));
    }
  }
  CHECK(save.done());
  save.wait();
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

TEST_CASE("totals count what this process has published") {
  const cairn::observer nobody;
  run_record record(nobody);
  record.emit({.what = kind::started});
  CHECK_FALSE(record.newest());
  record.published({.step = 7});
  CHECK(record.newest()->step == 7);
  CHECK(record.stats().saves == 0);
  cairn::save_report report;
  report.bytes = 10;
  report.state_bytes = 20;
  record.published({8, 1.5, std::make_shared<cairn::save_report>(report)});
  record.count([](auto& all) { ++all.pruned; });
  CHECK(record.newest()->step == 8);
  CHECK(record.stats().saves == 1);
  CHECK(record.stats().ratio() == 2);
  CHECK(record.stats().pruned == 1);
}

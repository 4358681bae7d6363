// SPDX-License-Identifier: MIT
#include "cairn/run/record.hpp"

#include <memory>
#include <thread>

#include "cairn/report.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using cairn::save_handle;
using cairn::detail::save_progress;

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

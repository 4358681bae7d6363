// SPDX-License-Identifier: MIT
#include "cairn/run/progress.hpp"

#include <thread>
#include <vector>

#include "catch.hpp"

using cairn::detail::run_record;
using kind = cairn::event::kind;

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

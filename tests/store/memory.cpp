// SPDX-License-Identifier: MIT
#include "cairn/store/memory.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("a file that is open outlives its checkpoint") {
  cairn::any_store store = cairn::stores::memory();
  const std::string text(5 << 20, 'x');
  sample::put(store, "a", {{"index.json", text}});
  const auto file = store.open("a")->open("index.json");
  store.remove("a");
  CHECK(cairn::stores::read_text(*file, 0, text.size()) == text);
}

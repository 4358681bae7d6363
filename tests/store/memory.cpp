// SPDX-License-Identifier: MIT
#include "cairn/store/memory.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

/// What a file of 5 MiB has that is published before it is written: the bytes of the buffer that it got.
std::string unwritten(cairn::any_store& store, std::string_view name) {
  constexpr std::uint64_t bytes = 5 << 20;
  const auto transaction = store.begin(name);
  transaction->create("index.json", bytes);
  transaction->publish();
  return cairn::stores::read_text(*store.open(name)->open("index.json"), 0, bytes);
}

}  // namespace

TEST_CASE("the buffer of a removed checkpoint serves the next one") {
  cairn::any_store store = cairn::stores::memory();
  const std::string text(5 << 20, 'x');
  sample::put(store, "a", {{"index.json", text}});
  CHECK(unwritten(store, "b") != text);
  store.remove("a");
  CHECK(unwritten(store, "c") == text);
}

TEST_CASE("a file that is open is not reused, and outlives its checkpoint") {
  cairn::any_store store = cairn::stores::memory();
  const std::string text(5 << 20, 'x');
  sample::put(store, "a", {{"index.json", text}});
  const auto file = store.open("a")->open("index.json");
  store.remove("a");
  CHECK(unwritten(store, "b") != text);
  CHECK(cairn::stores::read_text(*file, 0, text.size()) == text);
}

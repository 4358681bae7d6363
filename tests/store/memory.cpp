// SPDX-License-Identifier: MIT
#include "cairn/store/memory.hpp"

#include <cstring>

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

/// Saves one file, and returns the address of its memory.
const std::byte* put(cairn::any_store& store, std::string_view name, const std::string& text) {
  const auto transaction = store.begin(name);
  const auto memory = transaction->create("index.json", text.size()).memory(0, text.size());
  std::memcpy(memory.data(), text.data(), text.size());
  transaction->publish();
  return memory.data();
}

}  // namespace

TEST_CASE("the buffer of a removed checkpoint serves the next one") {
  cairn::any_store store = cairn::stores::memory();
  const std::string text(5 << 20, 'x');
  const auto* first = put(store, "a", text);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 4096 == 0);
  CHECK(put(store, "b", text) != first);
  store.remove("a");
  CHECK(put(store, "c", text) == first);
  CHECK(sample::get(store, "b", "index.json") == text);
}

TEST_CASE("a file that is open is not reused, and outlives its checkpoint") {
  cairn::any_store store = cairn::stores::memory();
  const std::string text(5 << 20, 'x'), other(5 << 20, 'y');
  const auto* first = put(store, "a", text);
  const auto file = store.open("a", "index.json");
  store.remove("a");
  CHECK(put(store, "b", other) != first);
  CHECK(cairn::stores::read_text(*file, 0, text.size()) == text);
}

TEST_CASE("a file ends where it ends") {
  cairn::any_store store = cairn::stores::memory();
  put(store, "a", "0123456789");
  const auto file = store.open("a", "index.json");
  CHECK(cairn::stores::read_text(*file, 4, 6) == "456789");
  CHECK(cairn::stores::read_text(*file, 10, 0).empty());
  for (const auto& [offset, length] : {std::pair(4U, 7U), {11U, 0U}, {11U, 1U}})
    CHECK(sample::failure_of([&] { static_cast<void>(cairn::stores::read_text(*file, offset, length)); }).code ==
          cairn::errc::corrupt);
}

TEST_CASE("copies of a memory store are the same store, and open files outlive it") {
  std::unique_ptr<cairn::stores::source> file;
  {
    cairn::stores::memory store;
    auto copy = store;
    sample::put(copy, "a", {{"index.json", "x"}});
    CHECK(store.list() == std::vector<std::string>{"a"});
    file = store.open("a", "index.json");
  }
  CHECK(cairn::stores::read_text(*file, 0, 1) == "x");
}

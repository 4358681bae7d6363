#include "cairn/store/memory.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("the buffer of a removed checkpoint serves the next one") {
  cairn::any_store store = cairn::stores::memory();
  const auto address = [&](std::string_view name) {
    return store.open(name, cairn::detail::index_file)->view(0, 1).bytes().data();
  };
  const std::string text(5 << 20, 'x');
  sample::put(store, "a", {{"index.json", text}});
  const auto* first = address("a");
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 4096 == 0);
  sample::put(store, "b", {{"index.json", text}});
  CHECK(address("b") != first);
  store.remove("a");
  sample::put(store, "c", {{"index.json", text}});
  CHECK(address("c") == first);
  CHECK(sample::get(store, "b", "index.json") == text);
}

TEST_CASE("a buffer that is still being read is not reused") {
  cairn::any_store store = cairn::stores::memory();
  const std::string text(5 << 20, 'x'), other(5 << 20, 'y');
  sample::put(store, "a", {{"index.json", text}});
  const auto window = store.open("a", "index.json")->view(0, text.size());
  store.remove("a");
  sample::put(store, "b", {{"index.json", other}});
  CHECK(sample::text_of(window.bytes()) == text);
}

TEST_CASE("copies of a memory store are the same store, and windows outlive it") {
  cairn::stores::window window;
  {
    cairn::stores::memory store;
    auto copy = store;
    sample::put(copy, "a", {{"index.json", "x"}});
    CHECK(store.list() == std::vector<std::string>{"a"});
    window = store.open("a", "index.json")->view(0, 1);
  }
  CHECK(sample::text_of(window.bytes()) == "x");
}

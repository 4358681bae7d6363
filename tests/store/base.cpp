// SPDX-License-Identifier: MIT
#include "cairn/store/base.hpp"
#include "cairn/store/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/store/directory.hpp"
#include "cairn/system/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

struct in_directory {
  sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path("root"), {.durable = false});
};
struct in_durable_directory {
  sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path("deep/root/"));
};
struct in_memory {
  cairn::any_store store = cairn::stores::memory();
};

using files = std::map<std::string, std::string>;

files contents(const cairn::any_store& store, std::string_view name) {
  files all;
  for (const auto& file : store.open(name)->files()) all[file] = sample::get(store, name, file);
  return all;
}

files random_files(std::mt19937_64& random) {
  files all{{"index.json", std::string(cairn::detail::index_opening) + std::to_string(random())}};
  const std::size_t shards = random() % 3;
  for (std::size_t i = 0; i < shards; ++i) {
    std::string text(random() % 3 == 0 ? random() % 200'000 : random() % 5000, '\0');
    for (auto& c : text) c = static_cast<char>(random());
    all[cairn::detail::shard_file(i, shards)] = text;
  }
  return all;
}

/// Writes a file in pieces that suit the sink, in any order.
void write(cairn::stores::transaction& transaction, const std::string& file, const std::string& text,
           std::mt19937_64& random) {
  auto& out = transaction.create(file, text.size());
  const std::size_t unit = std::max<std::size_t>(out.alignment(), 4096);
  const std::unique_ptr<std::byte[], void (*)(std::byte*)> aligned(
      static_cast<std::byte*>(std::aligned_alloc(4096, (text.size() / 4096 + 1) * 4096)),
      [](std::byte* p) { std::free(p); });
  std::copy_n(sample::bytes_of(text).begin(), text.size(), aligned.get());
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size(); at += unit) starts.push_back(at);
  std::shuffle(starts.begin(), starts.end(), random);
  for (const auto at : starts) {
    const cairn::stores::buffer whole(aligned.get() + at, std::min(unit, text.size() - at));
    if (out.alignment() == 1) {
      const std::size_t cut = random() % (whole.size() + 1);
      const cairn::stores::buffer buffers[] = {whole.first(cut), whole.subspan(cut)};
      out.write(at, buffers);
    } else {
      const cairn::stores::buffer buffers[] = {whole};
      out.write(at, buffers);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a store holds exactly what was committed and not removed", "", in_memory, in_directory,
                   in_durable_directory) {
  TestType where;
  auto& store = where.store;
  std::mt19937_64 random(1);
  std::map<std::string, files> model;
  for (int round = 0; round < 120; ++round) {
    const auto name = cairn::detail::checkpoint_name(random() % 4);
    switch (random() % 4) {
      case 0: {  // removed
        const auto failure = sample::failure_of([&] { store.remove(name); });
        CHECK((failure.code == cairn::errc::not_found && failure.says(name)) == !model.contains(name));
        model.erase(name);
        break;
      }
      case 1: {  // begun and given up
        const auto transaction = store.begin(name);
        for (const auto& [file, text] : random_files(random)) write(*transaction, file, text, random);
        break;
      }
      default: {  // made or replaced
        const auto wanted = random_files(random);
        const auto transaction = store.begin(name);
        for (const auto& [file, text] : wanted) write(*transaction, file, text, random);
        transaction->publish();
        model[name] = wanted;
      }
    }
    std::vector<std::string> names;
    for (const auto& [key, value] : model) names.push_back(key);
    REQUIRE(store.list() == names);
    for (const auto& [key, value] : model) REQUIRE(contents(store, key) == value);
  }
}

TEMPLATE_TEST_CASE("what is not there is not found", "", in_memory, in_directory) {
  TestType where;
  auto& store = where.store;
  CHECK(store.list().empty());
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("a")->open("index.json")); }).code ==
        cairn::errc::not_found);
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("a")->files()); }).code == cairn::errc::not_found);
  CHECK(sample::failure_of([&] { store.remove("a"); }).code == cairn::errc::not_found);
  sample::put(store, "a", {{"index.json", "x"}});
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("a")->open(cairn::detail::shard_file(0, 1))); }).code ==
        cairn::errc::not_found);
}

TEMPLATE_TEST_CASE("names that leave the store are refused", "", in_memory, in_directory) {
  TestType where;
  for (const auto* name : {"", "..", "a/b", ".tmp-a", "a~2", "a~1"})
    CHECK(sample::failure_of([&] { static_cast<void>(where.store.begin(name)); }).code == cairn::errc::invalid);
}

TEMPLATE_TEST_CASE("one saver at a time", "", in_memory, in_directory) {
  TestType where;
  auto& store = where.store;
  {
    const auto owned = store.lock();
    CHECK(sample::failure_of([&] { static_cast<void>(store.lock()); }).code == cairn::errc::busy);
    const auto transaction = store.begin("a");
    const auto failure = sample::failure_of([&] { static_cast<void>(store.begin("a")); });
    CHECK(failure.code == cairn::errc::busy);
    CHECK(failure.says(store.location()));
    CHECK_NOTHROW(store.begin("b"));
  }
  CHECK_NOTHROW(store.lock());
  CHECK_NOTHROW(store.begin("a"));
}

TEMPLATE_TEST_CASE("a publication that is open never gives the files of another one", "", in_memory, in_directory,
                   in_durable_directory) {
  TestType where;
  const auto shard = cairn::detail::shard_file(0, 1);
  const auto index = [](int number) {
    return std::string(cairn::detail::index_opening) + std::string(15, '0') + std::to_string(number);
  };
  std::vector<std::shared_ptr<const cairn::stores::publication>> opened;
  for (int number = 0; number < 4; ++number) {
    if (number == 2) where.store.remove("a");  // the next one may have the place of the first
    sample::put(where.store, "a", {{shard, std::to_string(number)}, {"index.json", index(number)}});
    opened.push_back(where.store.open("a"));
  }
  const auto read = [](const cairn::stores::publication& from, const std::string& file) {
    const auto source = from.open(file);
    return cairn::stores::read_text(*source, 0, source->size());
  };
  for (int number = 0; number < 4; ++number)
    for (const auto& file : {std::string("index.json"), shard}) {
      std::string text;
      const auto failure = sample::failure_of([&] { text = read(*opened[static_cast<std::size_t>(number)], file); });
      if (number == 3) CHECK(failure.sentence.empty());
      if (failure.sentence.empty())
        CHECK(text == (file == shard ? std::to_string(number) : index(number)));
      else
        CHECK(failure.code == cairn::errc::not_found);
    }
  CHECK(opened.back()->files() == std::vector<std::string>{"index.json", shard});
  CHECK(where.store.list() == std::vector<std::string>{"a"});
}

TEMPLATE_TEST_CASE("an open file stays readable when its checkpoint goes", "", in_memory, in_directory) {
  TestType where;
  const auto shard = cairn::detail::shard_file(0, 1);
  sample::put(where.store, "a", {{shard, "first"}, {"index.json", "x"}});
  const auto source = where.store.open("a")->open(shard);
  sample::put(where.store, "a", {{shard, "second"}, {"index.json", "x"}});
  CHECK(cairn::stores::read_text(*source, 0, 5) == "first");
  where.store.remove("a");
  CHECK(cairn::stores::read_text(*source, 1, 4) == "irst");
}

TEMPLATE_TEST_CASE("a read beyond the end is refused", "", in_memory, in_directory) {
  TestType where;
  sample::put(where.store, "a", {{"index.json", "12345"}});
  const auto source = where.store.open("a")->open("index.json");
  CHECK(source->size() == 5);
  CHECK(cairn::stores::read_text(*source, 5, 0).empty());
  for (const auto& [offset, length] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 6}, {5, 1}, {6, 0}, {1, ~std::uint64_t{0}}, {~std::uint64_t{0}, 1}}) {
    std::byte memory[6];
    const auto failure = sample::failure_of([&] { source->read(offset, std::span(memory, length)); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("a/index.json"));
  }
}

TEST_CASE("a store of the user's own plugs in") {
  struct forwarding {  // nothing but the concept's operations
    cairn::stores::memory inner;
    std::string location() const { return "mine"; }
    cairn::stores::ownership lock() { return inner.lock(); }
    std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) { return inner.begin(name); }
    std::vector<std::string> list() const { return inner.list(); }
    std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const { return inner.open(name); }
    void remove(std::string_view name) { inner.remove(name); }
  };
  static_assert(cairn::store<forwarding>);
  static_assert(!cairn::store<int>);
  cairn::any_store store = forwarding{};
  sample::put(store, "a", {{"index.json", "x"}});
  CHECK(store.location() == "mine");
  CHECK(store.list() == std::vector<std::string>{"a"});
  auto copy = store;
  copy.remove("a");
  CHECK(store.list().empty());
}

namespace {

/// A store around any other one, that only such a store makes.
class around {
 public:
  explicit around(cairn::any_store inner) : inner_(std::move(inner)) {}

  [[nodiscard]] std::string location() const { return "around " + inner_.location(); }
  cairn::stores::ownership lock() { return inner_.lock(); }
  std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) { return inner_.begin(name); }
  [[nodiscard]] std::vector<std::string> list() const { return inner_.list(); }
  [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
    return inner_.open(name);
  }
  void remove(std::string_view name) { inner_.remove(name); }

 private:
  cairn::any_store inner_;
};

/// The same, without `explicit`, and with an operation more.
class joinable_around : public around {
 public:
  joinable_around(const cairn::any_store& inner) : around(inner), joined_(inner) {}  // NOLINT
  std::unique_ptr<cairn::stores::transaction> join(std::string_view name, std::string_view attempt) {
    return joined_.join(name, attempt);
  }

 private:
  cairn::any_store joined_;
};

struct immovable : around {
  immovable() : around(cairn::stores::memory()) {}
  immovable(immovable&&) = delete;
};

}  // namespace

TEMPLATE_TEST_CASE("a store that is made from any store plugs in", "", around, joinable_around) {
  static_assert(cairn::store<TestType>);
  static_assert(cairn::joinable_store<TestType> == std::is_same_v<TestType, joinable_around>);
  static_assert(std::is_move_constructible_v<TestType> && std::is_copy_constructible_v<TestType>);
  static_assert(!cairn::store<immovable>);
  const cairn::any_store base = cairn::stores::memory();
  TestType made(base);
  const TestType copy = made;
  const cairn::any_store store = std::move(made), twice = around(cairn::any_store(copy));
  sample::put(store, "a", {{"index.json", "x"}});
  CHECK(base.list() == std::vector<std::string>{"a"});
  CHECK(twice.list() == std::vector<std::string>{"a"});
  CHECK(twice.location() == "around around " + base.location());
}

namespace {

void fail_somehow(int how) {
  if (how == 1) throw std::system_error(EIO, std::generic_category());
  if (how == 2) throw 6;
}

/// A publication and a store that break their contracts.
struct faulty_publication final : cairn::stores::publication {
  explicit faulty_publication(int by) : how(by) {}
  [[nodiscard]] std::string location() const override { return "faulty/a"; }
  [[nodiscard]] std::vector<std::string> files() const override {
    return fail_somehow(how), std::vector<std::string>();
  }
  [[nodiscard]] std::unique_ptr<cairn::stores::source> open(std::string_view) const override {
    return fail_somehow(how), nullptr;
  }
  int how;
};

struct faulty {
  int how = 0;
  bool opens = false;

  void fail_somehow() const { ::fail_somehow(how); }
  [[nodiscard]] std::string location() const { return "faulty"; }
  cairn::stores::ownership lock() { return fail_somehow(), nullptr; }
  std::unique_ptr<cairn::stores::transaction> begin(std::string_view) { return fail_somehow(), nullptr; }
  [[nodiscard]] std::vector<std::string> list() const { return fail_somehow(), std::vector<std::string>(); }
  [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view) const {
    if (opens) return std::make_shared<faulty_publication>(how);
    return fail_somehow(), nullptr;
  }
  void remove(std::string_view) { fail_somehow(); }
};

}  // namespace

TEST_CASE("what a user's store throws is a cairn::error, and it cannot return null") {
  const auto failures_of = [](int how) {
    cairn::any_store store = faulty{how};
    return std::vector{sample::failure_of([&] { static_cast<void>(store.begin("a")); }),
                       sample::failure_of([&] { static_cast<void>(store.open("a")); }),
                       sample::failure_of([&] { static_cast<void>(store.lock()); }),
                       sample::failure_of([&] { static_cast<void>(store.list()); }),
                       sample::failure_of([&] { store.remove("a"); })};
  };
  for (const auto& failure : failures_of(1)) {
    CHECK(failure.code == cairn::errc::io);
    CHECK(failure.says("faulty"));
  }
  for (const auto& failure : failures_of(2)) CHECK(failure.code == cairn::errc::invalid);
  const auto null = failures_of(0);
  CHECK(null[0].says("faulty: begin of the store returns null"));
  CHECK(null[1].says("faulty: open of the store returns null"));
}

TEST_CASE("what a user's publication throws is a cairn::error, and it cannot return null") {
  const auto opened = [](int how) { return cairn::any_store(faulty{how, true}).open("a"); };
  const auto open_file = [&](int how) {
    return sample::failure_of([&] { static_cast<void>(opened(how)->open("b")); });
  };
  for (const int how : {1, 2}) {
    CHECK(open_file(how).code == (how == 1 ? cairn::errc::io : cairn::errc::invalid));
    CHECK(open_file(how).says("faulty/a"));
    CHECK(sample::failure_of([&] { static_cast<void>(opened(how)->files()); }).code == open_file(how).code);
  }
  CHECK(open_file(0).says("faulty/a: open of the publication returns null"));
}

TEMPLATE_TEST_CASE("several writers prepare their files, and the one that has begun publishes them all", "", in_memory,
                   in_directory, in_durable_directory) {
  TestType where;
  cairn::any_store store = where.store;
  std::mt19937_64 random(3);
  const std::string text_0(100'000, 'a'), text_1(70'000, 'b'),
      index = R"({"metadata":{"checksum":")" + std::string(16, '0');
  const auto shard_0 = cairn::detail::shard_file(0, 2), shard_1 = cairn::detail::shard_file(1, 2);
  {
    const auto first = store.begin("step-000000001");
    REQUIRE_FALSE(first->attempt().empty());
    const auto second = store.join("step-000000001", first->attempt());
    write(*second, shard_1, text_1, random);
    write(*first, shard_0, text_0, random);
    second->prepare();
    first->prepare();
    CHECK(store.list().empty());
    CHECK(sample::failure_of([&] { second->publish(); }).code == cairn::errc::invalid);
    write(*first, std::string(cairn::detail::index_file), index, random);
    first->publish();
  }
  CHECK(store.list() == std::vector<std::string>{"step-000000001"});
  CHECK(contents(store, "step-000000001") == files{{"index.json", index}, {shard_0, text_0}, {shard_1, text_1}});
}

TEMPLATE_TEST_CASE("a writer that gives up takes only its own files away", "", in_memory, in_directory,
                   in_durable_directory) {
  TestType where;
  cairn::any_store store = where.store;
  std::mt19937_64 random(4);
  const auto shard_0 = cairn::detail::shard_file(0, 2), shard_1 = cairn::detail::shard_file(1, 2);
  const std::string index = R"({"metadata":{"checksum":")" + std::string(16, '0');
  auto first = store.begin("c");
  const auto attempt = first->attempt();
  {
    const auto second = store.join("c", attempt);
    write(*second, shard_1, "given up", random);
  }
  {
    const auto again = store.join("c", attempt);
    write(*again, shard_1, "again", random);
    again->prepare();
  }
  write(*first, shard_0, "first", random);
  write(*first, std::string(cairn::detail::index_file), index, random);
  first->publish();
  first.reset();
  CHECK(contents(store, "c") == files{{"index.json", index}, {shard_0, "first"}, {shard_1, "again"}});
  CHECK(sample::failure_of([&] { static_cast<void>(store.join("c", attempt)); }).code == cairn::errc::not_found);
}

TEMPLATE_TEST_CASE("a writer that writes on when the first one has given up disturbs nobody", "", in_memory,
                   in_directory, in_durable_directory) {
  TestType where;
  cairn::any_store store = where.store;
  constexpr std::size_t bytes = 100'000;
  const cairn::detail::page_buffer data(bytes);  // aligned, as direct writes need it
  std::fill_n(data.bytes().data(), bytes, std::byte{1});
  auto first = store.begin("c");
  const auto second = store.join("c", first->attempt());
  auto& file = second->create(cairn::detail::shard_file(1, 2), bytes);
  first.reset();
  const cairn::stores::buffer buffers[] = {data.bytes()};
  file.write(0, buffers);
  CHECK_THROWS_AS(second->create(cairn::detail::shard_file(2, 3), bytes), cairn::error);
  CHECK(store.list().empty());
  first = store.begin("c");
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("c")->files()); }).code == cairn::errc::not_found);
}

TEMPLATE_TEST_CASE("only a running attempt can be joined", "", in_memory, in_directory, in_durable_directory) {
  TestType where;
  cairn::any_store store = where.store;
  const auto code = [&](std::string_view name, std::string_view attempt) {
    return sample::failure_of([&] { static_cast<void>(store.join(name, attempt)); }).code;
  };
  CHECK(code("c", "0123456789abcdef01234567") == cairn::errc::not_found);
  auto first = store.begin("c");
  const auto attempt = first->attempt();
  for (const std::string_view other : {"", "0123456789abcdef01234567", "..", "x/y"})
    CHECK(code("c", other) == cairn::errc::not_found);
  CHECK(code("d", attempt) == cairn::errc::not_found);
  first.reset();
  CHECK(code("c", attempt) == cairn::errc::not_found);
}

TEST_CASE("a store without join says so") {
  struct alone {
    cairn::stores::memory inner;
    [[nodiscard]] std::string location() const { return "alone"; }
    [[nodiscard]] cairn::stores::ownership lock() { return inner.lock(); }
    [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) { return inner.begin(name); }
    [[nodiscard]] std::vector<std::string> list() const { return inner.list(); }
    [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
      return inner.open(name);
    }
    void remove(std::string_view name) { inner.remove(name); }
  };
  cairn::any_store store = alone{};
  const auto first = store.begin("c");
  const auto failure = sample::failure_of([&] { static_cast<void>(store.join("c", first->attempt())); });
  CHECK(failure.code == cairn::errc::unsupported);
  CHECK(failure.says("alone"));
}

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

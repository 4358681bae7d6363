// SPDX-License-Identifier: MIT
#include "cairn/store/base.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/system/memory.hpp"
#include "catch.hpp"
#include "store/contract.hpp"
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

}  // namespace

TEMPLATE_TEST_CASE("a store holds exactly what was committed and not removed", "", in_memory, in_directory,
                   in_durable_directory) {
  contract::holds_what_was_committed(TestType().store);
}

TEMPLATE_TEST_CASE("what is not there is not found", "", in_memory, in_directory) {
  contract::finds_nothing_else(TestType().store);
}

TEMPLATE_TEST_CASE("names that leave the store are refused", "", in_memory, in_directory) {
  contract::refuses_names(TestType().store);
}

TEMPLATE_TEST_CASE("one saver at a time", "", in_memory, in_directory) { contract::has_one_saver(TestType().store); }

TEMPLATE_TEST_CASE("a publication that is open never gives the files of another one", "", in_memory, in_directory,
                   in_durable_directory) {
  contract::keeps_publications_apart(TestType().store);
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
  contract::refuses_reads_beyond_the_end(TestType().store);
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
  contract::takes_several_writers(TestType().store);
}

TEMPLATE_TEST_CASE("a writer that gives up takes only its own files away", "", in_memory, in_directory,
                   in_durable_directory) {
  contract::keeps_files_of_other_writers(TestType().store);
}

TEMPLATE_TEST_CASE("a writer that writes on when the first one has given up disturbs nobody", "", in_memory,
                   in_directory, in_durable_directory) {
  contract::bears_a_late_writer(TestType().store);
}

TEMPLATE_TEST_CASE("only a running attempt can be joined", "", in_memory, in_directory, in_durable_directory) {
  contract::joins_running_attempts(TestType().store);
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

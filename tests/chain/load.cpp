// SPDX-License-Identifier: MIT
#include "cairn/chain/load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/naming.hpp"
#include "catch.hpp"
#include "gate.hpp"
#include "store/sample.hpp"

namespace {

struct copying {
  [[nodiscard]] std::string name() const { return "copying"; }
  [[nodiscard]] bool uses_parent() const { return false; }
  [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    std::memcpy(out.data(), in.values.data(), in.values.size());
    return {.codec = name(), .bytes = in.values.size()};
  }
  void decode(const cairn::decode_request& from) const {
    std::memcpy(from.values.data(), from.payload.data(), from.values.size());
  }
};

struct tied {
  std::vector<float> early;
  std::vector<float> values;
  std::span<float> view = values;
};

/// Retention of another process, before the n-th checkpoint is opened: the newest one is saved, and the others go.
struct racing_store {
  std::string location() const { return "racing"; }
  cairn::stores::ownership lock() { return kept.lock(); }
  std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) { return kept.begin(name); }
  std::vector<std::string> list() const { return kept.list(); }
  std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
    if (*races > 0 && name == list().back()) {
      --*races;
      const auto others = list();
      const auto step = cairn::detail::parse_checkpoint_name(others.back()).value() + 1;
      cairn::save(kept, cairn::detail::checkpoint_name(step), std::vector<float>(step), {.step = step});
      for (const auto& other : others) kept.remove(other);
    }
    return kept.open(name);
  }
  void remove(std::string_view name) { kept.remove(name); }

  mutable cairn::stores::memory kept{};
  std::shared_ptr<int> races = std::make_shared<int>(0);
};

/// Opens no file of one checkpoint.
struct refusing_store : cairn::stores::memory {
  [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
    if (name == refused) cairn::fail(code, {"not now"});
    return memory::open(name);
  }
  std::string refused{};
  cairn::errc code{};
};

}  // namespace

TEST_CASE("a checkpoint that cannot be read just now is an error, and no older one is restored") {
  refusing_store store;
  std::vector<float> state;
  for (const std::uint64_t step : {1U, 2U})
    cairn::save(store, cairn::detail::checkpoint_name(step), std::vector<float>(step), {.step = step});
  store.refused = cairn::detail::checkpoint_name(2);
  for (const auto code : {cairn::errc::io, cairn::errc::no_memory}) {
    store.code = code;
    const auto failure = sample::failure_of([&] { cairn::detail::restore(store, cairn::refer(state), {}); });
    CHECK(failure.code == code);
    CHECK(failure.says("not now"));
    CHECK(state.empty());
  }
  for (const auto code : {cairn::errc::corrupt, cairn::errc::unreadable, cairn::errc::not_found}) {
    store.code = code;
    const auto report = cairn::detail::restore(store, cairn::refer(state), {});
    REQUIRE(report);
    CHECK(report->name == cairn::detail::checkpoint_name(1));
    CHECK(report->skipped.size() == 1);
  }
}

TEST_CASE("a checkpoint under the name of another step is not restored") {
  const cairn::stores::memory store;
  cairn::save(store, cairn::detail::checkpoint_name(2), std::vector<float>(2), {.step = 2});
  cairn::save(store, cairn::detail::checkpoint_name(9), std::vector<float>(5), {.step = 5});
  cairn::save(store, "best", std::vector<float>(5), {.step = 5});
  std::vector<float> state;
  const auto report = cairn::load(store, state);
  CHECK(report.step == 2);
  REQUIRE(report.skipped.size() == 1);
  CHECK(report.skipped[0].reason.find("holds step 5, which is not that of its name") != std::string::npos);
  state.clear();
  CHECK(cairn::load(store, "best", state).step == 5);
}

TEST_CASE("at the limit of open files no older checkpoint is restored") {
  const sample::scratch scratch;
  cairn::stores::directory store(scratch.path());
  for (const std::uint64_t step : {1U, 2U})
    cairn::save(store, cairn::detail::checkpoint_name(step), std::vector<float>(step), {.step = step});
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  std::vector<float> state;
  std::vector<cairn::errc> codes;
  // The sanitizer opens a pipe when it first sees an object of a type with virtual functions.
  CHECK(sample::failure_of([] { cairn::fail_io("open", "a file", EMFILE); }).code == cairn::errc::io);
  std::vector<float> seen;
  cairn::detail::restore(store, cairn::refer(seen), {});
  const int free = ::dup(0);  // all below are open
  ::close(free);
  for (int more = 0; state.empty(); ++more) {
    REQUIRE(more < 100);
    const rlimit few{static_cast<rlim_t>(free + more), before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const auto failure = sample::failure_of([&] { cairn::detail::restore(store, cairn::refer(state), {}); });
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    if (state.empty()) codes.push_back(failure.code);
  }
  CHECK(state.size() == 2);
  CHECK(codes.size() >= 2);
  CHECK(std::count(codes.begin(), codes.end(), cairn::errc::io) == static_cast<std::ptrdiff_t>(codes.size()));
}

namespace {

/// Two arrays of two blocks each, and one that older states do not have.
struct net {
  std::vector<float> a = std::vector<float>(500'000), b = std::vector<float>(500'000);
  friend bool operator==(const net&, const net&) = default;
};
struct wider_net {
  std::vector<float> a = std::vector<float>(500'000), b = std::vector<float>(500'000), more = std::vector<float>(10);
};

template <class Net>
Net filled(float with) {
  Net made;
  std::fill(made.a.begin(), made.a.end(), with);
  std::fill(made.b.begin(), made.b.end(), with);
  return made;
}

const cairn::codec_rules as_they_are{{"a", cairn::codecs::raw{}}, {"b", cairn::codecs::raw{}}};

/// Flips a bit of the last stored byte.
void damage(cairn::any_store& store, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& file : store.open(name)->files()) files.emplace_back(file, sample::get(store, name, file));
  for (auto& [file, text] : files)
    if (file != "index.json") text.back() = static_cast<char>(text.back() ^ 1);
  const auto transaction = store.begin(name);
  for (const auto& [file, text] : files) {
    const cairn::stores::buffer bytes[] = {sample::bytes_of(text)};
    transaction->create(file, text.size()).write(0, bytes);
  }
  transaction->publish();
}

}  // namespace

TEST_CASE("a damaged checkpoint is found before or while the state is changed, and an older one is loaded over it") {
  cairn::any_store store = cairn::stores::memory();
  const auto name = [](std::uint64_t step) { return cairn::detail::checkpoint_name(step); };
  for (const std::uint64_t step : {1U, 2U, 3U})
    cairn::save(store, name(step), filled<net>(static_cast<float>(step)), {.step = step, .codecs = as_they_are});
  for (const std::uint64_t step : {2U, 3U}) damage(store, name(step));
  const auto first = filled<net>(1), untouched = filled<net>(9);
  for (const bool verify_first : {false, true}) {
    auto state = untouched;
    const cairn::load_options options{.verify_first = verify_first};
    const auto report = cairn::detail::restore(store, cairn::refer(state), options);
    REQUIRE(report);
    CHECK(report->name == name(1));
    CHECK(report->skipped.size() == 2);
    CHECK(state == first);
    state = untouched;
    auto failure = sample::failure_of([&] { cairn::load(store, name(3), state, options); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.state_changed == !verify_first);
    CHECK((state == untouched) == verify_first);
  }
  auto state = untouched;
  CHECK_FALSE(sample::failure_of([&] { cairn::load(store, name(3), state); }).state_changed);
  CHECK(state == untouched);
  CHECK_FALSE(sample::failure_of([&] { cairn::load(store, state); }).state_changed);
  CHECK(state == first);

  damage(store, name(1));
  cairn::checkpointer run(store);
  auto failure = sample::failure_of([&] { run.restore(state); });
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.state_changed);
  CHECK(failure.says("and the state has been changed in part"));
  state = untouched;
  failure = sample::failure_of([&] { run.restore(state, {.verify_first = true}); });
  CHECK_FALSE(failure.state_changed);
  CHECK(state == untouched);
  failure = sample::failure_of([&] { run.restore(state, {.rename = [](auto path) { return std::string(path); }}); });
  CHECK_FALSE(failure.state_changed);
  CHECK(state == untouched);
}

TEST_CASE("no older checkpoint is loaded over a damaged one that leaves a part of that in the state") {
  cairn::any_store store = cairn::stores::memory();
  cairn::save(store, cairn::detail::checkpoint_name(1), filled<net>(1), {.step = 1, .codecs = as_they_are});
  cairn::save(store, cairn::detail::checkpoint_name(2), filled<wider_net>(2), {.step = 2, .codecs = as_they_are});
  damage(store, cairn::detail::checkpoint_name(2));
  auto state = filled<wider_net>(9);
  const auto failure = sample::failure_of(
      [&] { cairn::detail::restore(store, cairn::refer(state), {.strict = false, .verify_first = false}); });
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.state_changed);
  const auto report = cairn::detail::restore(store, cairn::refer(state), {.strict = false, .verify_first = true});
  REQUIRE(report);
  CHECK(report->missing == std::vector<std::string>{"more"});
}

TEST_CASE("a restore that retention overtakes lists again") {
  racing_store store;
  for (const std::uint64_t step : {1U, 2U})
    cairn::save(store.kept, cairn::detail::checkpoint_name(step), std::vector<float>(step), {.step = step});
  std::vector<float> state;
  *store.races = 3;
  const auto report = cairn::detail::restore(store, cairn::refer(state), {});
  REQUIRE(report);
  CHECK(report->name == cairn::detail::checkpoint_name(5));
  CHECK(report->skipped.empty());
  CHECK(state.size() == 5);
  *store.races = 1000;
  CHECK(sample::failure_of([&] { cairn::detail::restore(store, cairn::refer(state), {}); }).code ==
        cairn::errc::corrupt);
  CHECK(state.size() == 5);
}

TEST_CASE(
    "a codec that is not known is found before the state is changed, also where the array is tied to one that is left "
    "out") {
  tied original;
  original.early.resize(200, 1);
  original.values.resize(500);
  std::iota(original.values.begin(), original.values.end(), 0.0F);
  original.view = original.values;
  const cairn::stores::memory store;
  const cairn::codec_rules rules{{"values", copying{}}, {"early", cairn::codecs::raw{}}};
  cairn::save(store, "c", original, {.codecs = rules});
  for (const auto* path : {"values", "view"}) {
    tied fresh;
    fresh.values.resize(500);
    fresh.view = fresh.values;
    const auto filter = [&](std::string_view at) { return at == path || at == "early"; };
    const auto failure = sample::failure_of([&] { cairn::load(store, "c", fresh, {.filter = filter}); });
    CHECK(failure.code == cairn::errc::unsupported);
    CHECK(failure.says("\"copying\""));
    CHECK(fresh.early.empty());
    cairn::load(store, "c", fresh, {.filter = filter, .codecs = rules});
    CHECK(fresh.values == original.values);
    CHECK(fresh.early == original.early);
  }
}

// More shards than are kept open: some are opened again while they are read into the state.
TEST_CASE("a checkpoint that is replaced or removed while it is read into the state is not mixed with another one") {
  constexpr std::size_t shards = 200;
  const auto state_of = [](float with) { return std::vector<float>(20'000, with); };
  enum class act { replaces, removes_all_older, removes };
  for (const auto what : {act::replaces, act::removes_all_older, act::removes}) {
    const sample::scratch scratch(sample::in_memory());
    tests::gated_store store{.inner = cairn::stores::directory(scratch.path(), {.durable = false})};
    cairn::save(store.inner, cairn::detail::checkpoint_name(1), state_of(1), {.step = 1, .shards = shards});
    cairn::save(store.inner, cairn::detail::checkpoint_name(2), state_of(2), {.step = 2, .shards = shards});
    int opened = 0;
    store.opened = [&](std::string_view name, std::string_view file) {
      if (name != cairn::detail::checkpoint_name(2) || file != cairn::detail::shard_file(9, shards) || ++opened != 2)
        return;
      if (what == act::replaces)
        return static_cast<void>(cairn::save(store.inner, std::string(name), state_of(3), {.step = 2, .shards = 7}));
      if (what == act::removes_all_older) {
        cairn::save(store.inner, cairn::detail::checkpoint_name(4), state_of(4), {.step = 4});
        store.inner.remove(cairn::detail::checkpoint_name(1));
      }
      store.inner.remove(name);
    };
    std::vector<float> state;
    const auto report = cairn::detail::restore(store, cairn::refer(state), {.verify_first = false, .threads = 1});
    REQUIRE(report);
    CHECK(opened >= 2);
    CHECK(report->skipped.empty());
    CHECK(report->step == (what == act::replaces ? 2U : what == act::removes ? 1U : 4U));
    CHECK((state == state_of(what == act::replaces ? 3.F : what == act::removes ? 1.F : 4.F)));
  }
}

TEST_CASE("a load over what a replaced checkpoint has changed says so if it fails") {
  constexpr std::size_t shards = 200;
  const sample::scratch scratch(sample::in_memory());
  tests::gated_store store{.inner = cairn::stores::directory(scratch.path(), {.durable = false})};
  cairn::save(store.inner, "c", std::vector<float>(20'000, 1.F), {.shards = shards});
  int opened = 0;
  store.opened = [&](std::string_view, std::string_view file) {
    if (file == cairn::detail::shard_file(9, shards) && ++opened == 2)
      cairn::save(store.inner, "c", std::vector<double>(7), {.shards = 1});
  };
  std::vector<float> state;
  const auto failure = sample::failure_of(
      [&] { cairn::load(cairn::any_store(store), "c", state, {.verify_first = false, .threads = 1}); });
  CHECK(failure.code == cairn::errc::mismatch);
  CHECK(failure.state_changed);
}

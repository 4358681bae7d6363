#include "cairn/chain/load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/naming.hpp"
#include "catch.hpp"
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
  std::vector<std::string> files(std::string_view name) const { return kept.files(name); }
  std::unique_ptr<cairn::stores::source> open(std::string_view name, std::string_view file) const {
    if (*races > 0 && name == list().back()) {
      --*races;
      const auto others = list();
      const auto step = cairn::detail::parse_checkpoint_name(others.back()).value() + 1;
      cairn::save(kept, cairn::detail::checkpoint_name(step), std::vector<float>(step));
      for (const auto& other : others) kept.remove(other);
    }
    return kept.open(name, file);
  }
  void remove(std::string_view name) { kept.remove(name); }

  mutable cairn::stores::memory kept{};
  std::shared_ptr<int> races = std::make_shared<int>(0);
};

/// Opens no file of one checkpoint.
struct refusing_store : cairn::stores::memory {
  std::unique_ptr<cairn::stores::source> open(std::string_view name, std::string_view file) const {
    if (name == refused) cairn::fail(code, {"not now"});
    return memory::open(name, file);
  }
  std::string refused{};
  cairn::errc code{};
};

}  // namespace

TEST_CASE("a checkpoint that cannot be read just now is an error, and no older one is restored") {
  refusing_store store;
  std::vector<float> state;
  for (const std::uint64_t step : {1U, 2U})
    cairn::save(store, cairn::detail::checkpoint_name(step), std::vector<float>(step));
  store.refused = cairn::detail::checkpoint_name(2);
  for (const auto code : {cairn::errc::io, cairn::errc::no_memory}) {
    store.code = code;
    const auto failure = sample::failure_of([&] { cairn::detail::restore(store, cairn::refer(state), {}); });
    CHECK(failure.code == code);
    CHECK(failure.says("not now"));
    CHECK(state.empty());
  }
  for (const auto code : {cairn::errc::corrupt, cairn::errc::not_found}) {
    store.code = code;
    const auto report = cairn::detail::restore(store, cairn::refer(state), {});
    REQUIRE(report);
    CHECK(report->name == cairn::detail::checkpoint_name(1));
    CHECK(report->skipped.size() == 1);
  }
}

TEST_CASE("at the limit of open files no older checkpoint is restored") {
  const sample::scratch scratch;
  cairn::stores::directory store(scratch.path());
  for (const std::uint64_t step : {1U, 2U})
    cairn::save(store, cairn::detail::checkpoint_name(step), std::vector<float>(step));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  std::vector<float> state;
  std::vector<cairn::errc> codes;
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

TEST_CASE("a restore that retention overtakes lists again") {
  racing_store store;
  for (const std::uint64_t step : {1U, 2U})
    cairn::save(store.kept, cairn::detail::checkpoint_name(step), std::vector<float>(step));
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

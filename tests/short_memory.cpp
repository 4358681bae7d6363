// SPDX-License-Identifier: MIT
// Saves where the machine or a cgroup leaves less memory than a copy of the state needs.

#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/load.hpp"
#include "cairn/merge.hpp"
#include "cairn/save.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/system/memory.hpp"
#include "catch.hpp"
#include "ranks.hpp"
#include "store/sample.hpp"

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

/// A machine of its own: what it has left, and a cgroup with a limit, of which some is used.
struct machine {
  machine() { cairn::detail::system_root = root.path(); }
  ~machine() { cairn::detail::system_root.clear(); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root.path(path)).parent_path());
    sample::spill(root.path(path), text);
  }
  void cgroup_leaves(std::uint64_t bytes) const {
    write("proc/self/cgroup", "0::/job\n");
    write("sys/fs/cgroup/job/memory.max", std::to_string(bytes + 1000) + "\n");
    write("sys/fs/cgroup/job/memory.current", "3000\n");
    write("sys/fs/cgroup/job/memory.stat", "anon 1000\ninactive_file 2000\n");
  }
  void machine_leaves(std::uint64_t bytes) const {
    write("proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable:   " + std::to_string(bytes / 1024) + " kB\n");
  }

  sample::scratch root;
};

struct state_of_4_mebibytes {
  std::vector<std::uint32_t> values = std::vector<std::uint32_t>(mebibyte);
  std::uint64_t step = 0;
};

state_of_4_mebibytes random_state(unsigned seed) {
  state_of_4_mebibytes made;
  std::mt19937 random(seed);
  for (auto& each : made.values) each = static_cast<std::uint32_t>(random());
  return made;
}

/// Which events `staged_in_parts` came.
struct heard {
  std::vector<std::string> messages;
  cairn::observer observer() {
    return [this](const cairn::event& what) {
      if (what.what == cairn::event::kind::staged_in_parts) messages.push_back(what.message);
    };
  }
};

}  // namespace

TEST_CASE("a copy that does not fit beside the state is made in parts, by itself") {
  const machine here;
  heard events;
  std::string limit = "memory.max";
  SECTION("into the cgroup") { here.cgroup_leaves(4 * mebibyte); }
  SECTION("into the machine") {
    here.machine_leaves(4 * mebibyte);
    limit = "MemAvailable";
  }
  const cairn::stores::memory store;
  auto state = random_state(1);
  {
    cairn::checkpointer run(store, {.when = cairn::policies::every_steps{1},
                                    .codecs = {{"*", cairn::codecs::raw{}}},
                                    .on_event = events.observer()});
    for (state.step = 1; state.step <= 3; ++state.step) {
      std::ignore = run.step(state, {.step = state.step});
      run.wait();
      here.cgroup_leaves(2 * mebibyte);  // a part is allocated
      here.machine_leaves(2 * mebibyte);
    }
    REQUIRE(events.messages.size() == 3);
    CHECK(events.messages[0].find("copied in 3 parts") != std::string::npos);
    CHECK(events.messages[0].find(limit) != std::string::npos);
    CHECK(events.messages[0].find("max_staging_bytes") != std::string::npos);
    here.cgroup_leaves(8 * mebibyte);
    here.machine_leaves(8 * mebibyte);
    std::ignore = run.step(state, {.step = state.step});  // now it fits
    run.wait();
    CHECK(events.messages.size() == 3);
    run.save(state, {.step = 5});
    CHECK(events.messages.size() == 3);
  }
  state_of_4_mebibytes loaded;
  REQUIRE(cairn::checkpointer(store).restore(loaded));
  CHECK(loaded.values == state.values);
}

TEST_CASE("what the codecs need counts, also for saves that the trainer waits for") {
  const machine here;
  heard events;
  const cairn::stores::memory store;
  auto state = random_state(2);
  here.cgroup_leaves(9 * mebibyte);  // for the copy, but not for the values of the parent and the encoded bytes as well
  cairn::codec_rules codecs{{"*", cairn::codecs::lossless{}}};
  SECTION("lossless encodes a copy in place") {}
  SECTION("a delta needs the values of its parent") { codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}; }
  const bool has_parent = codecs.front().codec.uses_parent();
  cairn::checkpointer run(store,
                          {.when = cairn::policies::every_steps{1}, .codecs = codecs, .on_event = events.observer()});
  std::ignore = run.step(state, {.step = 1});
  run.wait();
  CHECK(events.messages.size() == (has_parent ? 1 : 0));
  here.cgroup_leaves(4 * mebibyte);
  state.values[0] = 7;
  run.save(state, {.step = 2});
  REQUIRE(events.messages.size() == (has_parent ? 2 : 1));
  CHECK(events.messages.back().find("encoded in") != std::string::npos);
  state_of_4_mebibytes loaded;
  REQUIRE(cairn::checkpointer(store).restore(loaded)->step == 2);
  CHECK(loaded.values == state.values);
}

TEST_CASE("cairn::save encodes a state that does not fit beside itself in parts") {
  const machine here;
  const cairn::stores::memory store;
  const auto state = random_state(2);
  const cairn::save_options options{.codecs = {{"*", cairn::codecs::lossless{}}}};
  const auto files = [&](std::string_view name) { return cairn::any_store(store).open(name)->files().size(); };
  here.cgroup_leaves(8 * mebibyte);
  cairn::save(store, "whole", state, options);
  here.cgroup_leaves(4 * mebibyte);
  cairn::save(store, "parts", state, options);
  here.cgroup_leaves(mebibyte);
  const auto failure = sample::failure_of([&] { cairn::save(store, "none", state, options); });
  CHECK(failure.code == cairn::errc::no_memory);
  CHECK(failure.says("memory.max leaves"));
  CHECK(cairn::any_store(store).list() == std::vector<std::string>{"parts", "whole"});
  CHECK(files("whole") == 2);  // with the index
  CHECK(files("parts") == 4);
  for (const auto* name : {"whole", "parts"}) {
    state_of_4_mebibytes loaded;
    cairn::load(store, name, loaded);
    CHECK(loaded.values == state.values);
  }
}

TEST_CASE("containers that are saved as copies ask for the memory of these") {
  struct table {
    std::unordered_map<std::uint64_t, std::uint32_t> values;
    std::vector<bool> used;
    std::vector<std::vector<float>> small;
  } state;
  for (std::uint64_t i = 0; i < mebibyte; ++i) state.values.emplace(i, 1);
  state.used.resize(3 * mebibyte, true);
  state.small.resize(mebibyte / 16, std::vector<float>(16, 1));
  const machine here;
  const cairn::stores::memory store;
  cairn::checkpointer run(store, {.when = cairn::policies::every_steps{1}});
  here.cgroup_leaves(64 * mebibyte);
  run.save(state, {.step = 1});
  std::string part = "values";
  SECTION("a map: keys, values, and their order") { here.cgroup_leaves(8 * mebibyte); }
  SECTION("bits, of which each becomes a byte") {
    state.values.clear();
    here.cgroup_leaves(2 * mebibyte);
    part = "used";
  }
  SECTION("small objects, whose arrays are joined") {
    state.values.clear();
    state.used.clear();
    here.cgroup_leaves(2 * mebibyte);
    part = "small";
  }
  const auto failure = sample::failure_of([&] { std::ignore = run.step(state, {.step = 2}); });
  CHECK(failure.code == cairn::errc::no_memory);
  CHECK(failure.says(part + ": a copy of its elements needs"));
  CHECK(failure.says("memory.max leaves"));
  CHECK(run.restore(state)->step == 1);  // prepares nothing
  CHECK(state.values.size() == mebibyte);
  CHECK(state.used.size() == 3 * mebibyte);
  CHECK(state.small.back().size() == 16);
}

TEST_CASE("the first objects of a container do not tell what all of them need") {
  const machine here;
  const cairn::stores::memory store;
  std::vector<std::vector<float>> state(3000, std::vector<float>(16, 1)), loaded;
  bool is_joined = false;
  SECTION("large ones first: a copy of all, if they were as large, would not fit") {
    for (std::size_t i = 0; i < 256; ++i) state[i].assign(5000, 2);
    here.cgroup_leaves(32 * mebibyte);
    is_joined = true;
  }
  SECTION("all are large: they are not copied, and need no memory") {
    state.assign(2000, std::vector<float>(8000, 2));
    here.cgroup_leaves(16 * mebibyte);
  }
  SECTION("large ones last: there is no memory for them") {
    for (std::size_t i = 300; i < state.size(); ++i) state[i].assign(1900, 2);
    here.cgroup_leaves(4 * mebibyte);
    const auto failure = sample::failure_of([&] { cairn::save(store, "all", state); });
    CHECK(failure.code == cairn::errc::no_memory);
    return;
  }
  cairn::save(store, "all", state);
  CHECK(cairn::open(store, "all").contains("ends") == is_joined);
  cairn::load(store, "all", loaded);
  CHECK(loaded == state);
}

TEST_CASE("not even a part fits: an error, and nothing is left behind") {
  const machine here;
  here.cgroup_leaves(mebibyte);
  const cairn::stores::memory store;
  auto state = random_state(3);
  cairn::checkpointer run(store, {.when = cairn::policies::every_steps{1}});
  CHECK_FALSE(run.restore(state));  // prepares nothing
  const auto failure = sample::failure_of([&] { std::ignore = run.step(state, {.step = 1}); });
  CHECK(failure.code == cairn::errc::no_memory);
  CHECK(failure.says("memory.max leaves 1048576"));
  CHECK(failure.says("give the job more memory"));
  CHECK(run.stats().failed == 1);
  CHECK(store.list().empty());
}

TEST_CASE("not even a part fits of a save without a copy: save throws, and after a signal the state is saved raw") {
  const machine here;
  here.cgroup_leaves(mebibyte);
  const cairn::stores::memory store;
  const auto state = random_state(5);
  std::vector<cairn::event::kind> events;
  cairn::checkpointer run(store, {.when = cairn::policies::every_steps{100},
                                  .codecs = {{"*", cairn::codecs::lossless{}}},
                                  .on_event = [&](const cairn::event& what) { events.push_back(what.what); },
                                  .preempt = {SIGUSR1}});
  CHECK(sample::failure_of([&] { run.save(state, {.step = 1}); }).code == cairn::errc::no_memory);
  using enum cairn::event::kind;
  CHECK(events == std::vector{started, failed});
  CHECK(run.stats().failed == 1);
  CHECK(store.list().empty());
  std::raise(SIGUSR1);
  CHECK(run.step(state, {.step = 2}).stop);
  CHECK(run.stats().failed == 1);
  state_of_4_mebibytes loaded;
  REQUIRE(cairn::checkpointer(store).restore(loaded)->step == 2);
  CHECK(loaded.values == state.values);
}

TEST_CASE("the share of a rank is not cut: all ranks throw the error") {
  const machine here;
  here.cgroup_leaves(2 * mebibyte);
  const cairn::stores::memory store;
  const auto state = random_state(4);
  auto options = quick();
  options.when = cairn::policies::every_steps{1};
  bool in_background = true;
  unsigned weight_of_0 = 1;
  SECTION("of a copy") {}
  SECTION("of what a save without a copy encodes") {
    options.codecs = {{"*", cairn::codecs::lossless{}}};
    in_background = false;
    SECTION("by a rank that writes as much as the other") {}
    SECTION("by a rank that writes more than the other") {
      here.cgroup_leaves(3 * mebibyte);
      weight_of_0 = 8;
    }
  }
  const auto thrown = common(at_each(2, [&](const cairn::groups::threads& group) {
    auto own = options;
    if (group.rank() == 0) own.rank_weight = weight_of_0;
    cairn::checkpointer run(store, own, group);
    if (!in_background) run.save(state, {.step = 1});
    std::ignore = run.step(state, {.step = 1});
    run.wait();
  }));
  CHECK(thrown.find("memory.max leaves") != std::string::npos);
  CHECK(thrown.find("more ranks") != std::string::npos);
  CHECK(store.list().empty());
}

TEST_CASE("a group without memory to encode saves raw after a signal") {
  const machine here;
  here.cgroup_leaves(2 * mebibyte);
  const cairn::stores::memory store;
  const auto state = random_state(4);
  const cairn::signals stop{SIGUSR1};
  std::raise(SIGUSR1);
  const auto thrown = common(at_each(2, [&](const cairn::groups::threads& group) {
    auto options = quick();
    options.codecs = {{"*", cairn::codecs::lossless{}}};
    options.preempt = stop;
    cairn::checkpointer run(store, options, group);
    for (std::uint64_t step = 1; !run.step(state, {.step = step}).stop; ++step) {
    }
  }));
  CHECK(thrown.empty());
  state_of_4_mebibytes loaded;
  REQUIRE(cairn::checkpointer(store).restore(loaded));
  CHECK(loaded.values == state.values);
}

TEST_CASE("deltas are merged in parts where memory is short") {
  const machine here;
  here.cgroup_leaves(64 * mebibyte);
  cairn::any_store store = cairn::stores::memory();
  auto state = random_state(6);
  {
    cairn::checkpointer run(store, {.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}});
    for (state.step = 1; state.step <= 4; ++state.step) {
      ++state.values[state.step];
      run.save(state, {.step = state.step});
    }
  }
  const auto newest = store.list().back();
  const auto files = store.open(newest)->files().size();
  here.cgroup_leaves(2 * mebibyte);
  cairn::merge_checkpoints(store, newest, {.deltas = 2});
  CHECK(store.open(newest)->files().size() > files);
  state_of_4_mebibytes loaded;
  cairn::load(store, newest, loaded);
  CHECK(loaded.values == state.values);
}

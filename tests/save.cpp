// SPDX-License-Identifier: MIT
#include "cairn/save.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "cairn/checkpointer.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/load.hpp"
#include "catch.hpp"
#include "child.hpp"
#include "trainer.hpp"
#include "in_scratch.hpp"

namespace fs = std::filesystem;
using cairn::errc;
using tests::in_scratch;

namespace {

using contents = std::map<std::string, std::string>;

const cairn::load_options any_size{.reshape = [](std::string_view) { return cairn::reshaping::resize; }};

/// Name -> bytes of all that is in a directory; directories have no bytes.
contents files_in(const std::string& path) {
  contents files;
  for (const auto& entry : fs::directory_iterator(path))
    files[entry.path().filename()] = entry.is_directory() ? "" : sample::slurp(entry.path());
  return files;
}

/// A chain of nodes, each one owning the next.
struct node {
  int value = 0;
  std::unique_ptr<node> next;
};

node chain(int nodes) {
  node first;
  for (node* last = &first; nodes > 1; --nodes) {
    last->next = std::make_unique<node>();
    last = last->next.get();
  }
  return first;
}

/// Takes a chain apart from the front: the default destructor would call itself once per node.
void unchain(node& first) {
  while (first.next) {
    auto rest = std::move(first.next->next);
    first.next = std::move(rest);
  }
}

TEST_CASE("a state comes back from one shard and from three, durable or not, by any number of threads") {
  const sample::scratch scratch;
  const auto original = tests::trained(7, 50'000);
  for (const std::size_t shards : {1U, 3U})
    for (const bool durable : {false, true})
      for (const unsigned threads : {0U, 1U, 3U}) {
        const auto path = scratch.path("once");
        const auto saved =
            cairn::save(path, original, {.durable = durable, .threads = threads, .step = 7, .shards = shards});
        CHECK(saved.path == path);
        CHECK(files_in(path).size() == shards + 1);
        std::uint64_t bytes = 0;
        for (const auto& [name, file] : files_in(path)) bytes += file.size();
        CHECK(saved.bytes == bytes);
        CHECK(saved.leaves == cairn::detail::describe(original).leaves.size());
        CHECK(saved.seconds > 0);
        tests::trainer fresh;
        CHECK(cairn::load(path, fresh).step == 7);
        CHECK(fresh == original);
      }
}

TEST_CASE_METHOD(in_scratch, "three shards cut leaves between them") {
  cairn::save(scratch.path("once"), tests::trained(7, 5'000), {.shards = 3});
  const cairn::any_store store = cairn::stores::directory(scratch.path());
  const auto opened = cairn::detail::open_checkpoint(store, "once");
  CHECK(opened.shards.size() == 3);
  std::size_t slices = 0, leaves = 0;
  for (std::size_t i = 0; i < opened.contents.leaves.size(); ++i) {
    const auto of_leaf = opened.slices_of(i).size();
    slices += of_leaf;
    leaves += of_leaf > 0 ? 1 : 0;
  }
  CHECK(slices == leaves + 2);
}

TEST_CASE_METHOD(in_scratch, "more shards than numbers, and a state of no bytes at all") {
  struct tiny {
    std::vector<float> two{1, 2};
    std::vector<float> none;
  };
  cairn::save(scratch.path("tiny"), tiny{}, {.durable = false, .shards = 9});
  tiny fresh{{}, {5}};
  cairn::load(scratch.path("tiny"), fresh, any_size);
  CHECK(fresh.two == tiny{}.two);
  CHECK(fresh.none.empty());

  std::vector<float> empty, full{1, 2};
  cairn::save(scratch.path("empty"), empty);
  cairn::load(scratch.path("empty"), full, any_size);
  CHECK(full.empty());
}

TEST_CASE_METHOD(in_scratch, "files of many shards are not open at the same time") {
  const std::vector<float> state(5000, 1.F);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{150, before.rlim_max};
  for (const bool durable : {false, true}) {
    std::vector<float> loaded;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const auto failure = sample::failure_of([&] {
      cairn::save(scratch.path("many"), state, {.durable = durable, .shards = 1000});
      cairn::load(scratch.path("many"), loaded);
    });
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(failure.sentence.empty());
    CHECK(loaded == state);
  }
}

TEST_CASE_METHOD(in_scratch, "the same state gives the same bytes, durable or not, by any number of threads") {
  tests::random_states states(11);
  for (int round = 0; round < 5; ++round) {
    const auto state = states.next();
    for (const std::size_t shards : {1U, 3U}) {
      contents first;
      for (const bool durable : {false, true})
        for (const unsigned threads : {1U, 4U}) {
          cairn::save(
              scratch.path("again"), state,
              {.durable = durable, .threads = threads, .step = 3, .metrics = {{"loss", 0.5}}, .shards = shards});
          const auto now = files_in(scratch.path("again"));
          if (first.empty()) first = now;
          CHECK(now == first);
        }
      tests::everything loaded;
      cairn::load(scratch.path("again"), loaded);
      cairn::save(scratch.path("of loaded"), loaded, {.step = 3, .metrics = {{"loss", 0.5}}, .shards = shards});
      CHECK(files_in(scratch.path("of loaded")) == first);
    }
  }
}

TEST_CASE_METHOD(in_scratch, "random states come back, into fresh ones and into others") {
  tests::random_states states(5);
  cairn::checkpointer in_memory{cairn::stores::memory()};
  tests::everything used;
  for (std::uint64_t round = 1; round <= 100; ++round) {
    INFO("round " << round);
    const auto original = states.next();
    tests::everything fresh;
    if (round % 3 == 0) {
      in_memory.save(original, {.step = round});
      REQUIRE(in_memory.restore(fresh));
      REQUIRE(in_memory.restore(used));
    } else {
      const auto path = scratch.path("random");
      cairn::save(path, original, {.durable = round % 10 == 1, .shards = round % 4 + 1});
      cairn::load(path, fresh);
      cairn::load(path, used, any_size);
    }
    REQUIRE(tests::same(fresh, original));
    REQUIRE(tests::same(used, original));
  }
}

TEST_CASE_METHOD(in_scratch, "step and metrics are kept with the checkpoint") {
  const std::map<std::string, double> metrics{{"loss", 0.1}, {"a \"b\"", -1e300}, {"zero", 0.0}};
  int state = 1;
  cairn::save(scratch.path("once"), state, {.step = ~std::uint64_t{0}, .metrics = metrics});
  const auto report = cairn::load(scratch.path("once"), state);
  CHECK(report.step == ~std::uint64_t{0});
  CHECK(report.metrics == metrics);
}

TEST_CASE_METHOD(in_scratch, "directories on the way are made, and a slash at the end is no part of the name") {
  int state = 5;
  cairn::save(scratch.path("a/b/c/"), state);
  state = 0;
  cairn::load(scratch.path("a/b/c//"), state);
  CHECK(state == 5);
}

TEST_CASE("a save takes the place of the older checkpoint, leaves what is not its own, and nothing else") {
  const sample::scratch scratch;
  const auto check_load = [&](const std::string& path, std::uint64_t of) {
    tests::trainer fresh;
    cairn::load(scratch.path(path), fresh);
    CHECK(fresh == tests::trained(of));
    CHECK(cairn::open(scratch.path(path)).path() == fs::canonical(scratch.path()) / "once");
  };
  for (const std::uint64_t of : {1U, 2U}) {
    cairn::save(scratch.path("once"), tests::trained(of), {.shards = 3});
    check_load("once", of);
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"once"});
  }
  sample::spill(scratch.path("once/notes.txt"), "mine");
  cairn::save(scratch.path("once"), tests::trained(3));
  check_load("once", 3);
  check_load("once~2", 3);
  CHECK(files_in(scratch.path("once")) == contents{{"notes.txt", "mine"}});
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"once", "once~2"});
  CHECK(sample::failure_of([&] { cairn::save(scratch.path("once~2"), 1); }).code == errc::invalid);
}

TEST_CASE("what a killed save has left beside a path is loaded, and the next save is found by the path itself") {
  const sample::scratch scratch;
  cairn::save(scratch.path("once"), tests::trained(1));
  for (const bool is_older_there : {true, false}) {
    fs::copy(scratch.path("once"), scratch.path("once~2"));
    sample::spill(scratch.path("once/index.json"), "an older one, which nobody reads");
    if (!is_older_there) fs::remove_all(scratch.path("once"));
    tests::trainer fresh;
    cairn::load(scratch.path("once"), fresh);
    CHECK(fresh == tests::trained(1));
    CHECK(cairn::open(scratch.path("once")).step() == 0);
    cairn::save(scratch.path("once"), tests::trained(1));
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"once"});
  }
}

TEST_CASE_METHOD(in_scratch, "a directory of other things is not taken over") {
  fs::create_directories(scratch.path("photos"));
  sample::spill(scratch.path("photos/cat.png"), "meow");
  const auto failure = sample::failure_of([&] { cairn::save(scratch.path("photos"), 1); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says(scratch.path("photos") + " is no checkpoint and holds \"cat.png\""));
  CHECK(files_in(scratch.path("photos")) == contents{{"cat.png", "meow"}});
  CHECK(files_in(scratch.path()).size() == 1);
}

TEST_CASE_METHOD(in_scratch, "names that no checkpoint can have") {
  for (const auto& path : {scratch.path(".hidden"), scratch.path(".."), std::string("/"), std::string(),
                           scratch.path(std::string(300, 'n'))}) {
    const auto failure = sample::failure_of([&] { cairn::save(path, 1); });
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says("cannot name a checkpoint"));
  }
  CHECK(files_in(scratch.path()).empty());
}

TEST_CASE_METHOD(in_scratch, "a state nested 10,000 deep is refused, and the older checkpoint stays") {
  node shallow = chain(20);
  shallow.next->value = 5;
  cairn::save(scratch.path("once"), shallow);
  const auto before = files_in(scratch.path("once"));
  node deep = chain(10'000);
  const auto failure = sample::failure_of([&] { cairn::save(scratch.path("once"), deep); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says("next.next"));
  CHECK(files_in(scratch.path("once")) == before);
  node fresh;
  cairn::load(scratch.path("once"), fresh);
  CHECK(fresh.next->value == 5);
  unchain(deep);
}

TEST_CASE_METHOD(in_scratch, "a file system without room left: the save says so, and the older checkpoint stays") {
  const auto command = "mount -t tmpfs -o size=2m tmpfs " + scratch.path() + " 2>/dev/null";
  if (::geteuid() != 0 || std::system(command.c_str()) != 0) SKIP("no file system can be mounted here");
  std::vector<sample::failure> failures;
  tests::trainer fresh;
  contents left;
  const auto unmount = [&] { return std::system(("umount -l " + scratch.path()).c_str()); };
  try {
    cairn::save(scratch.path("once"), tests::trained(1));
    for (const bool durable : {false, true})
      failures.push_back(sample::failure_of(
          [&] { cairn::save(scratch.path("once"), tests::trained(2, 300'000), {.durable = durable}); }));
    left = files_in(scratch.path());
    cairn::load(scratch.path("once"), fresh);
    cairn::save(scratch.path("once"), tests::trained(3));  // there is room for this one
    cairn::load(scratch.path(), fresh);
  } catch (const cairn::error& unexpected) {
    unmount();
    FAIL(unexpected.what());
  }
  CHECK(unmount() == 0);
  for (const auto& failure : failures) {
    CHECK(failure.code == errc::io);
    CHECK(failure.says(scratch.path("once/" + cairn::detail::shard_file(0, 1))));
    CHECK(failure.says("cannot write the "));
    CHECK(failure.says("No space left on device; "));
    CHECK(failure.says(" bytes are free"));
  }
  CHECK(left.size() == 1);
  CHECK(fresh == tests::trained(3));
}

// As homes that an automounter mounts: the directories above them have no fsync, as those of /proc.
TEST_CASE("a durable save on a file system that is mounted below one without fsync") {
  const auto failure = tests::in_child([] {
    const auto is_mounted = ::unshare(CLONE_NEWNS) == 0 &&
                            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                            ::mount("tmpfs", "/proc/fs", "tmpfs", 0, nullptr) == 0;
    if (!is_mounted) cairn::fail(errc::invalid, {"no file system can be mounted here"});
    cairn::save("/proc/fs/once", tests::trained(1));
    cairn::checkpointer("/proc/fs/a/run", {}).save(tests::trained(2), {.step = 1});
    tests::trainer fresh;
    cairn::load("/proc/fs/a/run", fresh);
    if (fresh != tests::trained(2)) cairn::fail(errc::corrupt, {"another state"});
  });
  if (failure.says("no file system can be mounted")) SKIP(failure.sentence);
  CHECK(failure.sentence == "");
}

TEST_CASE_METHOD(in_scratch, "another process that saves to the same path keeps this one out, until it ends") {
  cairn::save(scratch.path("once"), tests::trained(1));
  tests::channel ready, finish;
  const pid_t other = tests::start_child(ready, [&](const tests::channel& out) {
    cairn::stores::directory store(scratch.path());
    const auto transaction = store.begin("once");
    out.send("!");
    finish.close_writer();
    char byte = 0;
    static_cast<void>(finish.receive(byte));  // dies in the middle of its save
  });
  char byte = 0;
  REQUIRE(ready.receive(byte));
  const auto failure = sample::failure_of([&] { cairn::save(scratch.path("once"), tests::trained(2)); });
  CHECK(failure.code == errc::busy);
  CHECK(failure.says("another process is saving to " + scratch.path("once")));
  tests::trainer fresh;
  cairn::load(scratch.path("once"), fresh);
  CHECK(fresh == tests::trained(1));
  CHECK_NOTHROW(cairn::save(scratch.path("elsewhere"), tests::trained(2)));

  REQUIRE(tests::kill_child(other));
  cairn::save(scratch.path("once"), tests::trained(3));
  cairn::load(scratch.path("once"), fresh);
  CHECK(fresh == tests::trained(3));
  CHECK(files_in(scratch.path()).size() == 2);
}

TEST_CASE_METHOD(in_scratch, "killed at any moment of saving over and over, one path always holds a whole checkpoint") {
  std::mt19937 random(3);
  for (int round = 0; round < 15; ++round) {
    tests::channel reports;
    const pid_t saver = tests::start_child(reports, [&](const tests::channel& out) {
      for (std::uint64_t step = 0;; ++step) {
        cairn::save(scratch.path("once"), tests::trained(step, 3000), {.durable = round % 2 == 0, .step = step});
        out.send("!");
      }
    });
    char byte = 0;
    const auto saves = random() % 5 + 1;
    for (unsigned i = 0; i < saves; ++i) REQUIRE(reports.receive(byte));
    for (volatile auto spin = random() % 200'000; spin > 0;) spin = spin - 1;
    REQUIRE(tests::kill_child(saver));
    tests::trainer fresh;
    const auto report = cairn::load(scratch.path("once"), fresh);
    CHECK(report.step + 1 >= saves);
    CHECK(fresh == tests::trained(report.step, 3000));
  }
  cairn::save(scratch.path("once"), tests::trained(1));
  CHECK(files_in(scratch.path()).size() == 1);
}

TEST_CASE_METHOD(in_scratch, "more threads than there is work take no memory of their own") {
  const std::vector<float> state(100, 1.5F);
  std::vector<float> loaded;
  cairn::save(scratch.path("many"), state, {.threads = std::numeric_limits<unsigned>::max()});
  cairn::load(scratch.path("many"), loaded, {.threads = std::numeric_limits<unsigned>::max()});
  CHECK(loaded == state);
}

/// What each of these throws is no error of Cairn.
struct out_of_memory {};
struct unlucky {};

}  // namespace

template <>
struct cairn::adapter<out_of_memory> {
  static int get(const out_of_memory&) { throw std::bad_alloc(); }
  static void set(out_of_memory&, int) { throw std::bad_alloc(); }
};

template <>
struct cairn::adapter<unlucky> {
  static int get(const unlucky&) { throw std::runtime_error("no luck"); }
  static void set(unlucky&, int) { throw std::runtime_error("no luck"); }
};

TEST_CASE_METHOD(in_scratch, "whatever a save throws is a cairn::error that names the checkpoint and the object") {
  const cairn::stores::memory store;
  const auto check = [&](const auto& part, errc code, const std::string& cause) {
    const std::vector<std::pair<int, std::decay_t<decltype(part)>>> state(2);
    const auto by_path = sample::failure_of([&] { cairn::save(scratch.path("a"), state); });
    CHECK(by_path.code == code);
    CHECK(by_path.says(scratch.path("a") + " cannot be saved: 0.second: " + cause));
    const auto by_name = sample::failure_of([&] { cairn::save(store, "a", state); });
    CHECK(by_name.code == code);
    CHECK(by_name.says("memory/a cannot be saved: 0.second: " + cause));
  };
  check(out_of_memory(), errc::no_memory, "not enough memory");
  check(unlucky(), errc::invalid, "no luck");
}

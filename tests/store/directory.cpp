// SPDX-License-Identifier: MIT
#include "cairn/store/directory.hpp"

#include <array>
#include <atomic>
#include <barrier>
#include <csignal>
#include <cstdarg>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cairn/store/root_directory.hpp"
#include "cairn/store/place_lock.hpp"
#include "cairn/system/memory.hpp"
#include "catch.hpp"
#include "child.hpp"
#include "store/sample.hpp"

namespace fs = std::filesystem;
using cairn::errc;
using cairn::stores::directory;
using tests::in_child;

namespace {

/// What the file system does wrong with renames, as network file systems do.
struct rename_faults {
  bool answers_eperm = false;       // where there is a directory, as sshfs
  int errors_after = 0;             // the next n renames report EIO and are done
  int fails_from = 0, renames = 0;  // the n-th rename and all later ones report EIO and are not done; 0: none
};
rename_faults faulty;  // NOLINT

std::size_t looks = 0;                       // at names  NOLINT
std::function<void()> before_look;           // what another process does before this one looks at a name, once  NOLINT
std::function<void(int)> before_sync;        // of an open file  NOLINT
std::function<void()> after_rename;          // what another process does after the next rename, once  NOLINT
std::atomic<std::size_t> opened_shards = 0;  // NOLINT

}  // namespace

extern "C" int fstatat(int directory, const char* path, struct stat* about, int flags) noexcept {
  ++looks;
  if (const auto done = std::exchange(before_look, nullptr)) done();
  return static_cast<int>(::syscall(SYS_newfstatat, directory, path, about, flags));
}

extern "C" int fsync(int file) {
  if (before_sync) before_sync(file);
  return static_cast<int>(::syscall(SYS_fsync, file));
}

extern "C" int openat(int directory, const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    std::va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  if (std::string_view(path).starts_with("shard-")) ++opened_shards;
  return static_cast<int>(::syscall(SYS_openat, directory, path, flags, mode));
}

extern "C" int renameat2(int from_directory, const char* from, int to_directory, const char* to,
                         unsigned flags) noexcept {
  errno = EIO;
  if (faulty.fails_from != 0 && ++faulty.renames >= faulty.fails_from) return -1;
  const auto result = static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
  if (faulty.answers_eperm && result != 0 && (errno == EEXIST || errno == ENOTEMPTY)) errno = EPERM;
  if (result == 0)
    if (const auto done = std::exchange(after_rename, nullptr)) done();
  if (result != 0 || faulty.errors_after == 0) return result;
  --faulty.errors_after;
  errno = EIO;
  return -1;
}

extern "C" int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  return renameat2(from_directory, from, to_directory, to, 0);
}

namespace {

void write_shard(cairn::any_store store, std::string_view name, std::size_t bytes) {
  const auto transaction = store.begin(name);
  auto& out = transaction->create(cairn::detail::shard_file(0, 1), bytes);
  const std::size_t unit = std::size_t{1} << 20U;
  const std::unique_ptr<std::byte[], void (*)(std::byte*)> block(
      static_cast<std::byte*>(std::aligned_alloc(4096, unit)), [](std::byte* p) { std::free(p); });
  std::fill_n(block.get(), unit, std::byte{7});
  for (std::size_t at = 0; at < bytes; at += unit) {
    const cairn::stores::buffer buffers[] = {{block.get(), std::min(unit, bytes - at)}};
    out.write(at, buffers);
  }
  const auto opening = sample::bytes_of(cairn::detail::index_opening);
  auto& index = transaction->create(cairn::detail::index_file, opening.size());
  const cairn::stores::buffer buffers[] = {opening};
  index.write(0, buffers);
  transaction->publish();
}

/// The names, without the digits of the attempts.
std::vector<std::string> kinds_in(const std::string& path) {
  auto names = sample::names_in(path);
  for (auto& name : names)
    if (name.front() == '.') name.resize(name.rfind('.'));
  return names;
}

std::string this_machine(const sample::scratch& place) {
  struct stat about{};
  REQUIRE(::stat(place.path().c_str(), &about) == 0);
  return cairn::stores::detail::machine_id(about.st_dev);
}

std::uintmax_t shard_bytes(const sample::scratch& in, const std::string& name) {
  return directory(in.path()).open(name)->open(cairn::detail::shard_file(0, 1))->size();
}

}  // namespace

TEST_CASE("a durable file has its exact size, whatever its tail") {
  const sample::scratch scratch;
  for (const std::size_t bytes : {1U, 4095U, 65'536U, 65'537U, 70'000U, 1'048'576U, 3'000'001U}) {
    write_shard(directory(scratch.path()), "a", bytes);
    const auto path = directory(scratch.path()).open("a")->location() + "/" + cairn::detail::shard_file(0, 1);
    CHECK(sample::slurp(path) == std::string(bytes, '\7'));
  }
}

TEST_CASE("nothing is visible before commit, nothing is left without it") {
  const sample::scratch scratch;
  directory store(scratch.path());
  {
    const auto transaction = store.begin("a");
    auto& out = transaction->create(cairn::detail::index_file, 1);
    const cairn::stores::buffer buffers[] = {sample::bytes_of("x")};
    out.write(0, buffers);
    CHECK(store.list().empty());
    CHECK(kinds_in(scratch.path()) == std::vector<std::string>{".tmp-a"});
  }
  CHECK(sample::names_in(scratch.path()).empty());
}

TEST_CASE("what a killed process left is taken over") {
  const sample::scratch scratch;
  for (const bool durable : {false, true}) {
    directory store(scratch.path(), {.durable = durable});
    const auto left = ".tmp-a." + this_machine(scratch) + "0000000001234567";
    fs::create_directories(scratch.path(left));
    sample::spill(scratch.path(left + "/" + cairn::detail::shard_file(3, 9)), "half");
    write_shard(store, "a", 100);
    const auto now = durable ? "a~2" : "a";
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{now});
    CHECK(sample::names_in(scratch.path(now)) ==
          std::vector<std::string>{"index.json", cairn::detail::shard_file(0, 1)});
  }
  const auto left = ".tmp-b." + this_machine(scratch) + "0000000001234567";
  fs::create_directories(scratch.path(left));
  sample::spill(scratch.path(left + "/index.json"), "half");
  static_cast<void>(directory(scratch.path()).lock());
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a~2"});
}

TEST_CASE("files of others stay") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "a", 100);
  sample::spill(scratch.path("a/notes.txt"), "mine");
  fs::create_directories(scratch.path("a/plots"));
  for (const std::size_t bytes : {200U, 300U}) {
    write_shard(store, "a", bytes);
    CHECK(shard_bytes(scratch, "a") == bytes);
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", bytes == 200 ? "a~2" : "a~3"});
    CHECK(store.list() == std::vector<std::string>{"a"});
  }
  CHECK(sample::names_in(scratch.path("a")) == std::vector<std::string>{"notes.txt", "plots"});
  CHECK(sample::slurp(scratch.path("a/notes.txt")) == "mine");
  store.remove("a");
  CHECK(store.list().empty());
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a"});
  CHECK(sample::names_in(scratch.path("a")) == std::vector<std::string>{"notes.txt", "plots"});
  const auto failure = sample::failure_of([&] { write_shard(store, "a", 1); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says(scratch.path("a") + " is no checkpoint and holds"));
}

TEST_CASE("hidden directories of others stay") {
  const sample::scratch scratch;
  const std::vector<std::string> others{".old-model", ".tmp-model", ".tmp-step-000000001"};
  for (const auto& name : others)
    for (const auto& file : {std::string("index.json"), cairn::detail::shard_file(0, 1)}) {
      fs::create_directories(scratch.path(name));
      sample::spill(scratch.path(name + "/" + file), "mine");
    }
  directory store(scratch.path());
  write_shard(store, "model", 10);
  store.remove("model");
  static_cast<void>(store.lock());
  CHECK(store.list().empty());
  CHECK(sample::names_in(scratch.path()) == others);
  for (const auto& name : others) CHECK(sample::names_in(scratch.path(name)).size() == 2);
}

TEST_CASE("what an owner does takes as many calls, however many checkpoints there are") {
  std::vector<std::size_t> counts;
  for (const unsigned kept : {3U, 30U}) {
    const sample::scratch scratch;
    directory store(scratch.path(), {.durable = false});
    for (unsigned step = 1; step <= kept; ++step) write_shard(store, cairn::detail::checkpoint_name(step), 10);
    const auto owned = store.lock();
    CHECK(store.list().size() == kept);
    looks = 0;
    write_shard(store, cairn::detail::checkpoint_name(kept + 1), 10);
    CHECK(store.list().size() == kept + 1);
    store.remove(cairn::detail::checkpoint_name(1));
    CHECK(store.list().size() == kept);
    counts.push_back(looks);
  }
  CHECK(counts[0] == counts[1]);
}

TEST_CASE("an owner opens no shard before it saves") {
  const sample::scratch scratch;
  directory store(scratch.path());
  for (unsigned step = 1; step <= 10; ++step) write_shard(store, cairn::detail::checkpoint_name(step), 10);
  opened_shards = 0;
  const auto owned = store.lock();
  CHECK(store.list().size() == 10);
  CHECK(opened_shards == 0);
  write_shard(store, cairn::detail::checkpoint_name(11), 10);
  CHECK(opened_shards > 0);
}

// What stays of it is a directory of this name.
TEST_CASE("an owner does not list what it has removed beside files of others") {
  const sample::scratch scratch;
  directory store(scratch.path());
  const auto owned = store.lock();
  write_shard(store, "step-000000001", 10);
  sample::spill(scratch.path("step-000000001/notes.txt"), "mine");
  CHECK(store.list().size() == 1);
  store.remove("step-000000001");
  CHECK(fs::exists(scratch.path("step-000000001/notes.txt")));
  CHECK(store.list().empty());
}

TEST_CASE("a removal that ends half-way is finished by the next owner") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "a", 100);
  const auto obstacle =
      cairn::detail::shard_file(7, 9);  // a directory by a file's name, which cannot be deleted as one
  fs::create_directories(scratch.path("a/" + obstacle));
  CHECK(sample::failure_of([&] { store.remove("a"); }).code == errc::io);
  CHECK(store.list().empty());
  REQUIRE(kinds_in(scratch.path()) == std::vector<std::string>{".tmp-a"});
  const auto left = scratch.path(sample::names_in(scratch.path()).front() + "/");
  fs::remove(left + obstacle);
  sample::spill(left + cairn::detail::shard_file(0, 1), "left");
  static_cast<void>(store.lock());
  CHECK(sample::names_in(scratch.path()).empty());
}

TEST_CASE("only Cairn's files can be created") {
  const sample::scratch scratch;
  const auto transaction = directory(scratch.path()).begin("a");
  CHECK(sample::failure_of([&] { transaction->create("../b", 1); }).code == errc::invalid);
  CHECK(sample::failure_of([&] { transaction->create("notes.txt", 1); }).code == errc::invalid);
}

TEST_CASE("a file where a directory should be") {
  const sample::scratch scratch;
  sample::spill(scratch.path("file"), "x");
  for (const auto& root : {scratch.path("file"), scratch.path("file/below")}) {
    directory store(root);
    for (const auto& failure : {sample::failure_of([&] { static_cast<void>(store.begin("a")); }),
                                sample::failure_of([&] { static_cast<void>(store.lock()); }),
                                sample::failure_of([&] { static_cast<void>(store.list()); })}) {
      CHECK(failure.code == errc::io);
      CHECK(failure.says("file"));
      CHECK(failure.says("Not a directory"));
    }
  }
  directory store(scratch.path());
  const auto failure = sample::failure_of([&] { static_cast<void>(store.begin("file")); });
  CHECK(failure.code == errc::io);
  CHECK(failure.says(scratch.path("file")));
  CHECK(sample::slurp(scratch.path("file")) == "x");
}

TEST_CASE("two processes") {
  const sample::scratch scratch;
  directory store(scratch.path());
  {
    const auto owned = store.lock();
    const auto transaction = store.begin("a");
    const auto lock = in_child([&] { static_cast<void>(directory(scratch.path()).lock()); });
    CHECK(lock.code == errc::busy);
    CHECK(lock.says("process " + std::to_string(::getpid()) + " saves to " + scratch.path()));
    const auto begin = in_child([&] { static_cast<void>(directory(scratch.path()).begin("a")); });
    CHECK(begin.code == errc::busy);
    CHECK(begin.says(scratch.path("a")));
    CHECK(in_child([&] { write_shard(directory(scratch.path()), "b", 10); }).sentence.empty());
  }
  CHECK(in_child([&] { static_cast<void>(directory(scratch.path()).lock()); }).sentence.empty());
  CHECK(in_child([&] { write_shard(directory(scratch.path()), "a", 10); }).sentence.empty());
  CHECK(store.list() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("an owner that was taken over changes nothing more") {
  const sample::scratch scratch;
  const auto options = cairn::stores::directory_options{.lease = std::chrono::hours(1)};
  directory store(scratch.path(), options);
  const auto owned = store.lock();
  write_shard(store, "a", 10);
  const auto transaction = store.begin("b");
  fs::rename(scratch.path(".lock"), scratch.path("stopped"));
  directory other(scratch.path(), options);
  const auto taken = other.lock();
  for (const auto& failure :
       {sample::failure_of([&] { write_shard(store, "c", 10); }), sample::failure_of([&] { transaction->publish(); }),
        sample::failure_of([&] { store.remove("a"); })}) {
    CHECK(failure.code == errc::busy);
    CHECK(failure.says("another process has taken over " + scratch.path()));
  }
  CHECK(other.list() == std::vector<std::string>{"a"});
  CHECK_NOTHROW(write_shard(other, "c", 10));
}

TEST_CASE("an owner that was taken over while it writes gets no other error") {
  const sample::scratch scratch;
  const auto options = cairn::stores::directory_options{.lease = std::chrono::hours(1)};
  directory store(scratch.path(), options);
  const auto owned = store.lock();
  const std::function<void(cairn::stores::transaction&)> calls[] = {
      [](auto& a) { a.create(cairn::detail::shard_file(1, 2), 1); }, [](auto& a) { a.publish(); }};
  for (const auto& call : calls) {
    const auto transaction = store.begin("a");
    transaction->create(cairn::detail::shard_file(0, 2), 0);
    fs::rename(scratch.path(".lock"), scratch.path("stopped"));
    for (const auto& name : sample::names_in(scratch.path()))
      if (name.starts_with(".tmp-")) fs::remove_all(scratch.path(name));
    const auto taken = directory(scratch.path(), options).lock();
    const auto failure = sample::failure_of([&] { call(*transaction); });
    CHECK(failure.code == errc::busy);
    CHECK(failure.says("another process has taken over " + scratch.path()));
    fs::remove_all(scratch.path(".lock"));
    fs::rename(scratch.path("stopped"), scratch.path(".lock"));
  }
}

TEST_CASE("what another process publishes or removes after a list is noticed, however old the place is") {
  const sample::scratch scratch;
  directory store(scratch.path()), other(scratch.path());
  write_shard(other, "a", 10);
  write_shard(other, "b", 10);
  const auto age = [&] {
    const timespec old[2] = {{1, 0}, {1, 0}};
    REQUIRE(::utimensat(AT_FDCWD, scratch.path().c_str(), old, 0) == 0);
    CHECK(store.list().size() == 2);
  };
  age();
  CHECK(store.open("a")->location() == scratch.path("a"));
  std::filesystem::copy(scratch.path("a"), scratch.path("kept"));
  write_shard(other, "a", 20);
  std::filesystem::rename(scratch.path("kept"), scratch.path("a"));  // as if the older one could not be deleted
  CHECK(store.open("a")->location() == scratch.path("a~2"));
  age();
  CHECK(store.open("a")->location() == scratch.path("a~2"));
  std::filesystem::remove(scratch.path("b/index.json"));  // does not change the place
  CHECK_THROWS_AS(store.open("b")->open("index.json"), cairn::error);
  other.remove("a");
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("a")); }).code == cairn::errc::not_found);
}

TEST_CASE("a rank that gives up removes the directory of a save that nobody else has any more") {
  const sample::scratch scratch;
  tests::channel attempt;
  const auto leader = tests::start_child(attempt, [&](const tests::channel& to) {
    directory store(scratch.path());
    const auto begun = store.begin("a");
    to.send(begun->attempt());
    while (true) ::pause();
  });
  auto joined = directory(scratch.path()).join("a", attempt.receive_some());
  joined->create(cairn::detail::shard_file(1, 3), 1000);
  CHECK_FALSE(sample::names_in(scratch.path()).empty());
  ::kill(leader, SIGKILL);
  ::waitpid(leader, nullptr, 0);
  joined.reset();
  CHECK(sample::names_in(scratch.path()).empty());
}

TEST_CASE("what another rank of a dead job still writes comes to nothing") {
  const sample::scratch scratch;
  constexpr std::size_t bytes = 100'000;
  const cairn::detail::page_buffer data(bytes);
  const auto shard_1 = cairn::detail::shard_file(1, 3), shard_2 = cairn::detail::shard_file(2, 3);
  for (const bool durable : {false, true}) {
    const cairn::stores::directory_options options{.durable = durable};
    tests::channel attempt;
    const auto leader = tests::start_child(attempt, [&](const tests::channel& to) {
      directory store(scratch.path(), options);
      const auto owned = store.lock();
      const auto begun = store.begin("a");
      to.send(begun->attempt());
      while (true) ::pause();
    });
    directory late(scratch.path(), options);
    const auto joined = late.join("a", attempt.receive_some());
    auto& file = joined->create(shard_1, bytes);
    ::kill(leader, SIGKILL);
    ::waitpid(leader, nullptr, 0);

    directory store(scratch.path(), options);
    const auto owned = store.lock();
    const cairn::stores::buffer buffers[] = {data.bytes()};
    file.write(0, buffers);  // of a file without a name
    CHECK_THROWS_AS(joined->create(shard_2, bytes), cairn::error);
    write_shard(store, "a", 10);
    CHECK(store.list() == std::vector<std::string>{"a"});
    const auto now = durable ? "a~2" : "a";
    CHECK(sample::names_in(scratch.path(now)) ==
          std::vector<std::string>{"index.json", cairn::detail::shard_file(0, 1)});
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{".lock", now});
  }
}

TEST_CASE("what a dead owner of another host was writing is removed by the next one") {
  const sample::scratch scratch;
  const cairn::stores::detail::owner_record elsewhere{
      .host = "node7", .boot = "b", .device = 1, .processes = 2, .process = 3, .started = 4, .job = {"slurm 1", 0}};
  fs::create_directories(scratch.path(".lock"));
  sample::spill(scratch.path(".lock/owner"), cairn::detail::to_json(elsewhere));
  auto neighbour = elsewhere;  // it saves without the lock
  neighbour.process = 5;
  const auto machine = elsewhere.writer().substr(0, 8);
  std::vector<std::string> others;
  for (const std::string name : {"a", "b"}) {
    fs::create_directories(scratch.path(".tmp-" + name + "." + elsewhere.writer() + "01234567"));
    for (const auto& writer : {neighbour.writer(), machine + "00000000", machine, std::string("0a0a0a0a0b0b0b0b"),
                               std::string("0a0a0a0a")}) {
      others.push_back(".tmp-" + name + "." + writer + "01234567");
      fs::create_directories(scratch.path(others.back()));
    }
  }
  directory store(scratch.path(), {.job = {"slurm 1", 1}});
  CHECK_NOTHROW(write_shard(store, "b", 10));  // without the lock, beside what others may be writing
  const auto owned = store.lock();
  others.insert(others.end(), {".lock", "b"});
  std::sort(others.begin(), others.end());
  CHECK(sample::names_in(scratch.path()) == others);
  CHECK_NOTHROW(write_shard(store, "a", 10));
}

TEST_CASE("a place whose directory was moved or deleted") {
  const sample::scratch scratch;
  directory store(scratch.path("run"));
  const auto owned = store.lock();
  write_shard(store, "a", 10);
  fs::rename(scratch.path("run"), scratch.path("moved"));
  CHECK(sample::failure_of([&] { write_shard(store, "b", 10); }).says("was moved or deleted"));
  const auto copy = store;
  const auto listed = [&] { return sample::failure_of([&] { static_cast<void>(copy.list()); }); };
  CHECK(listed().says("was moved or deleted"));
  CHECK_FALSE(fs::exists(scratch.path("run")));
  fs::create_directory(scratch.path("run"));
  CHECK(listed().says("was moved or deleted"));
  CHECK(directory(scratch.path("run")).list().empty());
  CHECK(sample::failure_of([&] { directory(scratch.path(), {.lease = std::chrono::milliseconds(0)}); }).code ==
        errc::invalid);
}

TEST_CASE("what is in the way of a checkpoint is named, with what to do") {
  const sample::scratch scratch;
  directory store(scratch.path());
  sample::spill(scratch.path("step-000000007"), "x");
  REQUIRE(::mkfifo(scratch.path("step-000000008").c_str(), 0600) == 0);
  fs::create_directories(scratch.path("step-000000009"));
  REQUIRE(::mkfifo(scratch.path("step-000000009/index.json").c_str(), 0600) == 0);
  fs::create_directories(scratch.path("step-000000010/index.json"));
  for (const auto* name : {"step-000000007", "step-000000008", "step-000000009", "step-000000010"}) {
    CAPTURE(name);
    const auto failure = sample::failure_of([&] { write_shard(store, name, 10); });
    CHECK(failure.says(scratch.path(name)));
    CHECK(failure.says("move it away"));
    CHECK(fs::exists(scratch.path(name)));
  }
  CHECK_NOTHROW(write_shard(store, "step-000000011", 10));
}

TEST_CASE("a checkpoint is no place of checkpoints") {
  const sample::scratch scratch;
  cairn::any_store place = directory(scratch.path("run"));
  sample::put(place, "step-000000100", {{"index.json", std::string(cairn::detail::index_opening)}});
  directory inside(scratch.path("run/step-000000100"));
  for (const auto& failure : {sample::failure_of([&] { static_cast<void>(inside.list()); }),
                              sample::failure_of([&] { static_cast<void>(inside.lock()); })}) {
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says(scratch.path("run/step-000000100") + " is a checkpoint"));
    CHECK(failure.says("give the directory above it"));
  }
  CHECK(sample::names_in(scratch.path("run/step-000000100")) == std::vector<std::string>{"index.json"});
}

TEST_CASE("a place behind a link that leads nowhere is an error, and not empty") {
  const sample::scratch scratch;
  fs::create_directory_symlink(scratch.path("not mounted"), scratch.path("link"));
  for (const auto* path : {"link", "link/run", "link/deep/run"}) {
    directory store(scratch.path(path));
    for (const auto& failure : {sample::failure_of([&] { static_cast<void>(store.list()); }),
                                sample::failure_of([&] { static_cast<void>(store.lock()); })}) {
      CHECK(failure.code == errc::io);
      CHECK(failure.says(scratch.path(path)));
      CHECK(failure.says(scratch.path("link") + " is a symbolic link to something that is not there"));
    }
  }
  fs::create_directory(scratch.path("not mounted"));
  CHECK(directory(scratch.path("link/run")).list().empty());
}

TEST_CASE("a full disk leaves nothing but the older checkpoints") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "a", 100);
  for (const bool durable : {false, true}) {
    const auto failure = in_child([&] {
      const rlimit limit{200'000, 200'000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      write_shard(directory(scratch.path(), {.durable = durable}), "b", 3'000'000);
    });
    CHECK(failure.code == errc::io);
    CHECK(failure.says(scratch.path("b/" + cairn::detail::shard_file(0, 1))));
    CHECK(failure.says("File too large"));
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a"});
  }
}

TEST_CASE("no file takes the place of a standard stream that is closed") {
  const sample::scratch scratch;
  const auto failure = in_child([&] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
    directory store(scratch.path());
    const auto lock = store.lock();
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (::fcntl(stream, F_GETFD) != -1) cairn::fail(errc::io, {"a file is open as ", stream});
    write_shard(store, "a", 100);
  });
  CHECK(failure.sentence.empty());
}

TEST_CASE("a really full disk") {
  const sample::scratch scratch;
  const auto command = "mount -t tmpfs -o size=1m tmpfs " + scratch.path() + " 2>/dev/null";
  if (::geteuid() != 0 || std::system(command.c_str()) != 0) SKIP("no file system can be mounted here");
  std::vector<sample::failure> failures;
  std::vector<std::string> left;
  for (const bool durable : {false, true}) {
    failures.push_back(
        sample::failure_of([&] { write_shard(directory(scratch.path(), {.durable = durable}), "b", 3'000'000); }));
    left = sample::names_in(scratch.path());
  }
  write_shard(directory(scratch.path()), "c", 100'000);  // without O_DIRECT where tmpfs has none
  const auto listed = directory(scratch.path()).list();
  CHECK(std::system(("umount -l " + scratch.path()).c_str()) == 0);
  for (const auto& failure : failures) {
    CHECK(failure.code == errc::io);
    CHECK(failure.says("b/" + cairn::detail::shard_file(0, 1)));
    CHECK(failure.says("No space left on device"));
  }
  CHECK(left.empty());
  CHECK(listed == std::vector<std::string>{"c"});
}

TEST_CASE("a directory that may only be read") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "a", 100);
  fs::permissions(scratch.path(), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_read |
                                      fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec);
  const auto failure = in_child([&] {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(2);
    static_cast<void>(store.begin("b"));
  });
  const auto listed = store.list();
  fs::permissions(scratch.path(), fs::perms::owner_all);
  INFO(failure.sentence);
  CHECK(failure.code == errc::io);
  CHECK(failure.says(scratch.path(".tmp-b")));
  CHECK(failure.says("Permission denied"));
  CHECK(listed == std::vector<std::string>{"a"});
}

TEST_CASE("only whole checkpoints are listed") {
  const sample::scratch scratch;
  directory store(scratch.path("."));
  write_shard(store, "step-000000002", 10);
  write_shard(store, "step-000000010", 10);
  fs::create_directories(scratch.path("empty"));
  fs::create_directories(scratch.path(".hidden"));
  sample::spill(scratch.path(".hidden/index.json"), "x");
  sample::spill(scratch.path("index.json"), "x");
  CHECK(store.list() == std::vector<std::string>{"step-000000002", "step-000000010"});
  CHECK(directory(scratch.path("nowhere")).list().empty());
}

TEST_CASE("a store needs a path") {
  const auto failure = sample::failure_of([] { cairn::stores::directory store(""); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("the path of a store is empty"));
}

TEST_CASE("the address of a bucket is no path") {
  for (const auto* address : {"s3://bucket/run", "s3:/bucket/run", "file:///tmp/run"}) {
    const auto failure = sample::failure_of([&] { cairn::stores::directory store(address); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("is an address, and no directory: for a bucket pass cairn::stores::s3"));
  }
  CHECK_NOTHROW(cairn::stores::directory("runs/s3:/bucket"));
}

TEST_CASE("a rename onto a directory that is refused as something else") {
  const sample::scratch scratch;
  faulty = {.answers_eperm = true};
  fs::create_directories(scratch.path(".lock"));
  sample::spill(scratch.path(".lock/owner"), "");  // of a killed process
  directory store(scratch.path(), {.lease = std::chrono::milliseconds(30)});
  CHECK_NOTHROW(store.lock());
  for (const std::size_t bytes : {10U, 20U}) {
    write_shard(store, "a", bytes);
    CHECK(shard_bytes(scratch, "a") == bytes);
  }
  faulty = {};
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a~2"});
}

TEST_CASE("a rename that is done though it reports an error") {
  const sample::scratch scratch;
  directory store(scratch.path());
  for (const std::size_t bytes : {10U, 20U, 30U}) {
    faulty = {.errors_after = 4};
    write_shard(store, "a", bytes);
    faulty = {};
    CHECK(shard_bytes(scratch, "a") == bytes);
    CHECK(sample::names_in(scratch.path()).size() == 1);
  }
  faulty = {.errors_after = 1};
  store.remove("a");
  faulty = {};
  CHECK(sample::names_in(scratch.path()).empty());
}

TEST_CASE("a failed rename leaves the older checkpoint") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "a", 10);
  faulty = {.fails_from = 1};
  CHECK(sample::failure_of([&] { write_shard(store, "a", 20); }).code == errc::io);
  faulty = {};
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a"});
  CHECK(shard_bytes(scratch, "a") == 10);
}

// A reader gets the names of a directory first, and looks at each of them then.
TEST_CASE("a checkpoint that is published again is listed and opened all the time") {
  for (const bool has_notes : {false, true}) {
    const sample::scratch scratch;
    directory store(scratch.path());
    const std::vector<std::string> one{"step-000000001"};
    write_shard(store, one.front(), 10);
    if (has_notes) sample::spill(scratch.path(one.front() + "/notes.txt"), "mine");  // the directory stays
    before_look = [&] { write_shard(store, one.front(), 20); };
    CHECK(store.list() == one);
    before_look = [&] { write_shard(store, one.front(), 30); };
    CHECK(store.open(one.front())->open(cairn::detail::shard_file(0, 1))->size() == 30);
    before_look = [&] { store.remove(one.front()); };
    CHECK(store.list().empty());
    CHECK(sample::names_in(scratch.path()).size() == (has_notes ? 1 : 0));
  }
}

TEST_CASE("a crash between the publishing and the removal of the older one leaves the newer one") {
  const sample::scratch scratch;
  directory store(scratch.path());
  const auto leave = [&](std::size_t older, std::size_t newer) {
    write_shard(directory(scratch.path("older")), "a", older);
    write_shard(store, "a", newer);
    const auto now = fs::path(store.open("a")->location());
    if (now.filename() == "a") fs::rename(now, scratch.path("a~2"));
    fs::rename(scratch.path("older/a"), scratch.path("a"));
    fs::remove(scratch.path("older"));
  };
  leave(10, 20);
  CHECK(shard_bytes(scratch, "a") == 20);
  CHECK(store.list() == std::vector<std::string>{"a"});
  static_cast<void>(store.lock());
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a~2"});

  store.remove("a");
  leave(30, 40);
  write_shard(store, "a", 50);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a~3"});
  CHECK(shard_bytes(scratch, "a") == 50);

  store.remove("a");
  leave(60, 70);
  store.remove("a");
  CHECK(sample::names_in(scratch.path()).empty());
}

TEST_CASE("an older publication is removed when the name of the newer one is on the disk") {
  const sample::scratch scratch;
  directory store(scratch.path(), {.durable = false});
  write_shard(store, "a", 10);
  fs::copy(scratch.path("a"), scratch.path("a~2"));
  struct stat root{};
  REQUIRE(::stat(scratch.path().c_str(), &root) == 0);
  bool is_synced = false;
  before_sync = [&](int file) {
    struct stat about{};
    is_synced = is_synced ||
                (::fstat(file, &about) == 0 && about.st_ino == root.st_ino && fs::exists(scratch.path("a/index.json")));
  };
  static_cast<void>(store.lock());
  before_sync = nullptr;
  CHECK(is_synced);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a~2"});
}

TEST_CASE("a name whose older generation cannot be removed keeps the newer one") {
  const sample::scratch scratch;
  directory store(scratch.path());
  const std::string name = "step-000000001";
  write_shard(store, name, 10);
  fs::rename(scratch.path(name), scratch.path(name + "~2"));
  fs::create_directories(scratch.path(name + "/index.json/of others"));
  CHECK(sample::failure_of([&] { store.remove(name); }).code == errc::invalid);
  CHECK(store.list() == std::vector<std::string>{name});
  CHECK(shard_bytes(scratch, name) == 10);
  fs::remove_all(scratch.path(name));
  store.remove(name);
  CHECK(sample::names_in(scratch.path()).empty());
}

namespace {

/// What it publishes gets the name of its checkpoint.
struct settling final : directory {
  explicit settling(const sample::scratch& in) : directory(in.path()) { settles_ = true; }
};

}  // namespace

TEST_CASE("what a user has saved by a path is there, and a crash leaves it to be found") {
  const sample::scratch scratch;
  const settling store(scratch);
  write_shard(directory(scratch.path()), "a", 10);
  write_shard(directory(scratch.path()), "a", 20);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a~2"});  // as after a crash
  for (const std::size_t bytes : {30U, 40U}) {
    write_shard(store, "a", bytes);
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a"});
    CHECK(shard_bytes(scratch, "a") == bytes);
  }
  sample::spill(scratch.path("a/notes.txt"), "mine");
  write_shard(store, "a", 50);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", "a~2"});
  CHECK(shard_bytes(scratch, "a") == 50);
}

TEST_CASE("what is left of an older publication keeps the newest one under its own name") {
  const sample::scratch scratch;
  const settling store(scratch);
  write_shard(store, "a", 10);
  std::filesystem::rename(scratch.path("a"), scratch.path("a~2"));
  sample::spill(scratch.path("a~2/notes.txt"), "mine");
  write_shard(store, "a", 20);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a~2", "a~3"});
  CHECK(shard_bytes(scratch, "a") == 20);
  CHECK(sample::names_in(scratch.path("a~2")) == std::vector<std::string>{"notes.txt"});
}

TEST_CASE("a newer publication of another process keeps its name: that one may be about to delete older ones") {
  const sample::scratch scratch;
  const settling store(scratch);
  write_shard(store, "a", 10);
  after_rename = [&] { write_shard(directory(scratch.path()), "a", 30); };
  write_shard(store, "a", 20);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a~3"});
  CHECK(shard_bytes(scratch, "a") == 30);
}

TEST_CASE("an index.json of others is not Cairn's") {
  const sample::scratch scratch;
  directory store(scratch.path());
  fs::create_directories(scratch.path("a"));
  sample::spill(scratch.path("a/index.json"), R"({"name": "a web project"})");
  for (const bool has_others : {false, true}) {
    if (has_others) sample::spill(scratch.path("a/main.js"), "x");
    for (const auto& failure :
         {sample::failure_of([&] { write_shard(store, "a", 10); }), sample::failure_of([&] { store.remove("a"); })}) {
      CHECK(failure.code == errc::invalid);
      CHECK(failure.says(scratch.path("a") + " is no checkpoint and holds"));
    }
    CHECK(sample::slurp(scratch.path("a/index.json")).size() == 25);
  }
  // A damaged index among Cairn's other files can be replaced.
  write_shard(store, "b", 10);
  sample::spill(scratch.path("b/index.json"), "damaged");
  write_shard(store, "b", 20);
  CHECK(shard_bytes(scratch, "b") == 20);
}

TEST_CASE("links, pipes and directories of others in the root are passed over") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "step-000000001", 10);
  fs::create_directory_symlink("step-000000001", scratch.path("latest"));
  fs::create_symlink("nowhere", scratch.path("dangling"));
  REQUIRE(::mkfifo(scratch.path("pipe").c_str(), 0666) == 0);
  write_shard(store, "with-pipe", 10);
  fs::remove(scratch.path("with-pipe/" + cairn::detail::shard_file(0, 1)));
  REQUIRE(::mkfifo(scratch.path("with-pipe/" + cairn::detail::shard_file(0, 1)).c_str(), 0666) == 0);
  CHECK(store.list() == std::vector<std::string>{"with-pipe", "step-000000001"});
  static_cast<void>(store.lock());
  write_shard(store, "step-000000002", 10);
  CHECK(fs::is_symlink(scratch.path("latest")));
}

TEST_CASE("a checkpoint that may not be read is an error, somebody else's directory is not") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "step-000000001", 10);
  fs::create_directories(scratch.path("lost+found"));
  fs::permissions(scratch.path(), fs::perms::all);
  fs::permissions(scratch.path("lost+found"), fs::perms::none);
  const auto list = [&] {
    return in_child([&] {
      if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(2);
      static_cast<void>(store.list());
    });
  };
  CHECK(list().sentence.empty());
  fs::permissions(scratch.path("step-000000001"), fs::perms::none);
  const auto failure = list();
  fs::permissions(scratch.path("step-000000001"), fs::perms::owner_all);
  fs::permissions(scratch.path("lost+found"), fs::perms::owner_all);
  CHECK(failure.code == errc::io);
  CHECK(failure.says("step-000000001"));
  CHECK(failure.says("Permission denied"));
}

TEST_CASE("directories of others that may not be read are passed over, also where there is an index.json") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "step-000000001", 10);
  write_shard(store, "best", 10);
  fs::permissions(scratch.path(), fs::perms::all);
  for (const std::string name : {"searchable", "hidden index", "of cairn"}) {
    fs::create_directories(scratch.path(name));
    sample::spill(scratch.path(name + "/index.json"),
                  name == "of cairn" ? cairn::detail::index_opening : R"({"name": "a web project"})");
  }
  // Neither an owner nor anybody else may read them; root is somebody else below.
  const auto search = fs::perms::owner_exec | fs::perms::owner_write | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(scratch.path("searchable"), search);
  fs::permissions(scratch.path("of cairn"), search);
  fs::permissions(scratch.path("hidden index/index.json"), fs::perms::none);
  const auto failure = in_child([&] {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(2);
    if (store.list() != std::vector<std::string>{"best", "step-000000001"}) ::_exit(3);
    const auto owned = store.lock();
    write_shard(store, "step-000000002", 10);
    store.remove("step-000000002");
  });
  fs::permissions(scratch.path("step-000000001"), search);
  const auto of_step = in_child([&] {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(2);
    const auto owned = store.lock();
    write_shard(store, "step-000000002", 10);  // before it, what is there is made durable
  });
  for (const auto* name : {"searchable", "of cairn", "step-000000001"})
    fs::permissions(scratch.path(name), fs::perms::owner_all);
  CHECK(failure.sentence.empty());
  CHECK(of_step.code == errc::io);
  CHECK(of_step.says("step-000000001"));
}

TEST_CASE("of names without a step only those are listed whose index begins as Cairn's") {
  const sample::scratch scratch;
  directory store(scratch.path());
  for (const std::string name : {"html", "step-000000003", "step-3", "empty", "directory", "pipe", "link"})
    fs::create_directories(scratch.path(name));
  for (const std::string name : {"html", "step-000000003", "step-3"})
    sample::spill(scratch.path(name + "/index.json"), R"({"metadata": 1})");
  sample::spill(scratch.path("empty/index.json"), "");
  fs::create_directories(scratch.path("directory/index.json"));
  REQUIRE(::mkfifo(scratch.path("pipe/index.json").c_str(), 0666) == 0);
  fs::create_symlink("nowhere", scratch.path("link/index.json"));
  fs::create_directories(scratch.path(std::string(220, 'x')));
  sample::spill(scratch.path(std::string(220, 'x') + "/index.json"), cairn::detail::index_opening);
  write_shard(store, "best", 10);
  CHECK(store.list() == std::vector<std::string>{"best", "step-000000003"});
}

TEST_CASE("links and pipes of others by the names of shards do no harm") {
  for (const bool durable : {true, false}) {
    const sample::scratch scratch;
    directory store(scratch.path(), {.durable = durable});
    for (const std::string name : {"a", "step-000000001"}) {
      write_shard(store, name, 10);
      fs::create_symlink("nowhere", scratch.path(name + "/" + cairn::detail::shard_file(7, 9)));
      fs::create_symlink(cairn::detail::shard_file(8, 9), scratch.path(name + "/" + cairn::detail::shard_file(8, 9)));
      const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
      sockaddr_un at{AF_UNIX, {}};
      const auto path = fs::path(scratch.path(name)) / cairn::detail::shard_file(6, 9);
      REQUIRE(path.string().size() < sizeof at.sun_path);
      std::copy_n(path.c_str(), path.string().size(), at.sun_path);
      REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
      ::close(socket);
      const auto owned = store.lock();
      write_shard(store, name, 20);
      CHECK(shard_bytes(scratch, name) == 20);
      store.remove(name);
    }
    CHECK(store.list().empty());
    CHECK(sample::names_in(scratch.path()).empty());
  }
}

// Publishing and removing are in the tests of directory.hpp and base.hpp.

namespace fs = std::filesystem;
using namespace cairn::stores;

TEST_CASE("of writers that begin one checkpoint at the same time at most one goes on") {
  const sample::scratch scratch(sample::in_memory());
  constexpr int writers = 3, rounds = 60;
  std::barrier all(writers);
  std::atomic<int> now{0};
  int most = 0, wins = 0;
  std::array<int, writers> unexpected{};
  const auto work = [&](std::size_t self) {
    directory store(scratch.path(), {.durable = false});
    for (int round = 0; round < rounds; ++round) {
      all.arrive_and_wait();
      std::unique_ptr<transaction> begun;
      const auto failure = sample::failure_of([&] { begun = store.begin("a"); });
      now += begun ? 1 : 0;
      if (!begun && failure.code != cairn::errc::busy) ++unexpected[self];
      all.arrive_and_wait();
      if (self == 0) {
        most = std::max(most, now.load());
        wins += now;
        now = 0;
      }
      all.arrive_and_wait();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < writers; ++i) threads.emplace_back(work, i);
  threads.clear();
  CHECK(most == 1);
  CHECK(wins > 0);
  CHECK(unexpected == std::array<int, writers>{});
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("a writer that begins later gives way to the one that is there, whichever attempt is smaller") {
  const sample::scratch scratch(sample::in_memory());
  const detail::open_directory root{scratch.path(),
                                    cairn::posix::open_at(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY)};
  const auto machine = detail::machine_id(detail::device_of(root));
  for (const auto* random : {"00000000", "ffffffff"}) {  // the second one waits for the other to give up
    const auto other =
        detail::hidden_name("a", machine + (random[0] == 'f' ? "ffffffff" : "00000000") + std::string(random));
    fs::create_directories(scratch.path(other));
    const auto held = detail::open_in(root, other);
    REQUIRE(cairn::posix::try_lock(held.fd.get(), held.path));
    const auto failure = sample::failure_of([&] { static_cast<void>(directory(scratch.path()).begin("a")); });
    CHECK(failure.code == cairn::errc::busy);
    CHECK(failure.says("another process is saving to " + scratch.path("a")));
    CHECK(fs::exists(scratch.path(other)));
    CHECK(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 1);
    CHECK_NOTHROW(directory(scratch.path()).begin("b"));
    fs::remove(scratch.path(other));
  }
}

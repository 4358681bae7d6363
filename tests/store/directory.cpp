#include "cairn/store/directory.hpp"

#include <csignal>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "store/sample.hpp"

namespace fs = std::filesystem;
using cairn::errc;
using cairn::stores::directory;

namespace {

/// Runs `action` in a child process, which must be the only one to see what it changes; its failure comes
/// back.
template <class Action>
sample::failure in_child(const Action& action) {
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto failure = sample::failure_of(action);
    const auto text = static_cast<char>('0' + static_cast<int>(failure.code)) + failure.sentence;
    const auto written = ::write(channel[1], text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(channel[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(channel[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(status == 0);
  return {static_cast<errc>(text.at(0) - '0'), text.substr(1)};
}

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
  auto& index = transaction->create(cairn::detail::index_file, 1);
  const cairn::stores::buffer buffers[] = {{block.get(), 1}};
  index.write(0, buffers);
  transaction->commit();
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a durable file has its exact size, whatever its tail") {
  const sample::scratch scratch;
  for (const std::size_t bytes : {1U, 4095U, 65'536U, 65'537U, 70'000U, 1'048'576U, 3'000'001U}) {
    write_shard(directory(scratch.path()), "a", bytes);
    const auto text = sample::slurp(scratch.path("a/" + cairn::detail::shard_file(0, 1)));
    CHECK(text == std::string(bytes, '\7'));
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
    CHECK(names_in(scratch.path()) == std::vector<std::string>{".tmp-a"});
  }
  CHECK(names_in(scratch.path()).empty());
}

TEST_CASE("what a killed process left is taken over") {
  const sample::scratch scratch;
  for (const bool durable : {false, true}) {
    directory store(scratch.path(), {.durable = durable});
    fs::create_directories(scratch.path(".tmp-a"));
    sample::spill(scratch.path(".tmp-a/" + cairn::detail::shard_file(3, 9)), "half");
    write_shard(store, "a", 100);
    CHECK(names_in(scratch.path()) == std::vector<std::string>{"a"});
    CHECK(names_in(scratch.path("a")) == std::vector<std::string>{"index.json", cairn::detail::shard_file(0, 1)});
  }
  fs::create_directories(scratch.path(".tmp-b"));
  sample::spill(scratch.path(".tmp-b/index.json"), "half");
  static_cast<void>(directory(scratch.path()).lock());
  CHECK(names_in(scratch.path()) == std::vector<std::string>{"a"});
}

TEST_CASE("files of others stay") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "a", 100);
  sample::spill(scratch.path("a/notes.txt"), "mine");
  fs::create_directories(scratch.path("a/plots"));
  write_shard(store, "a", 200);  // replaced: they move along
  CHECK(sample::slurp(scratch.path("a/notes.txt")) == "mine");
  CHECK(fs::is_directory(scratch.path("a/plots")));
  CHECK(fs::file_size(scratch.path("a/" + cairn::detail::shard_file(0, 1))) == 200);
  CHECK(names_in(scratch.path()) == std::vector<std::string>{"a"});
  store.remove("a");
  CHECK(store.list().empty());
  CHECK(names_in(scratch.path("a")) == std::vector<std::string>{"notes.txt", "plots"});
  const auto failure = sample::failure_of([&] { write_shard(store, "a", 1); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says(scratch.path("a") + " is no checkpoint and holds"));
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
  REQUIRE(names_in(scratch.path()) == std::vector<std::string>{".tmp-a"});
  fs::remove(scratch.path(".tmp-a/" + obstacle));
  sample::spill(scratch.path(".tmp-a/" + cairn::detail::shard_file(0, 1)), "left");
  static_cast<void>(store.lock());
  CHECK(names_in(scratch.path()).empty());
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
    CHECK(lock.says("another process is saving to " + scratch.path()));
    const auto begin = in_child([&] { static_cast<void>(directory(scratch.path()).begin("a")); });
    CHECK(begin.code == errc::busy);
    CHECK(begin.says(scratch.path("a")));
    CHECK(in_child([&] { write_shard(directory(scratch.path()), "b", 10); }).sentence.empty());
  }
  CHECK(in_child([&] { static_cast<void>(directory(scratch.path()).lock()); }).sentence.empty());
  CHECK(in_child([&] { write_shard(directory(scratch.path()), "a", 10); }).sentence.empty());
  CHECK(store.list() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a checkpoint that another process holds is not replaced, and stays") {
  const sample::scratch scratch;
  const directory store(scratch.path());
  write_shard(store, "a", 10);
  const int held = ::open(scratch.path("a").c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  const auto failure = sample::failure_of([&] { write_shard(store, "a", 20); });
  CHECK(failure.code == errc::busy);
  CHECK(failure.says("another process is saving to " + scratch.path("a")));
  CHECK(names_in(scratch.path()) == std::vector<std::string>{"a"});
  CHECK(store.open("a", cairn::detail::shard_file(0, 1))->size() == 10);
  ::close(held);
  CHECK_NOTHROW(write_shard(store, "a", 20));
  CHECK(store.open("a", cairn::detail::shard_file(0, 1))->size() == 20);
}

TEST_CASE("a full disk leaves nothing but the older checkpoints") {
  const sample::scratch scratch;
  directory store(scratch.path());
  write_shard(store, "a", 100);
  for (const bool durable : {false, true}) {
    const auto failure = in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{200'000, 200'000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      write_shard(directory(scratch.path(), {.durable = durable}), "b", 3'000'000);
    });
    CHECK(failure.code == errc::io);
    CHECK(failure.says(scratch.path("b/" + cairn::detail::shard_file(0, 1))));
    CHECK(failure.says("File too large"));
    CHECK(names_in(scratch.path()) == std::vector<std::string>{"a"});
  }
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
    left = names_in(scratch.path());
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

// SPDX-License-Identifier: MIT
#include "cairn/system/posix.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::new_directories;

namespace posix = cairn::posix;

TEST_CASE("any buffers arrive in order, however many") {
  std::mt19937_64 random(1);
  const sample::scratch scratch;
  for (const std::size_t count : {0U, 1U, 3U, 1024U, 1025U, 5000U}) {
    std::vector<std::string> texts;
    std::string whole(random() % 100, '\0');
    const auto offset = whole.size();
    for (std::size_t i = 0; i < count; ++i) {
      texts.emplace_back(random() % 40, static_cast<char>('a' + random() % 26));
      whole += texts.back();
    }
    std::vector<std::span<const std::byte>> buffers;
    for (const auto& text : texts) buffers.push_back(sample::bytes_of(text));
    {
      const auto file = posix::open_at(AT_FDCWD, scratch.path("f"), O_WRONLY | O_CREAT | O_TRUNC);
      posix::write_all(file.get(), buffers, offset, "f");
      if (count == 0) continue;
    }
    CHECK(sample::slurp(scratch.path("f")) == whole);
  }
}

TEST_CASE("a device without room is an error, not an endless loop") {
  const auto full = posix::open_at(AT_FDCWD, "/dev/full", O_WRONLY);
  if (!full) SKIP("there is no /dev/full");
  const std::span<const std::byte> buffers[] = {sample::bytes_of("text")};
  const auto failure = sample::failure_of([&] { posix::write_all(full.get(), buffers, 0, "x/y"); });
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.says("cannot write x/y: No space left on device"));
}

TEST_CASE("the text of a file is all of it, and empty if there is none") {
  const sample::scratch scratch;
  CHECK(posix::text_of(scratch.path("f")).empty());
  for (const std::size_t size : {0U, 1U, 1023U, 1024U, 1025U, 5000U}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7);
    sample::spill(scratch.path("f"), text);
    CHECK(posix::text_of(scratch.path("f")) == text);
  }
}

TEST_CASE("descriptors are owned once") {
  auto a = posix::open_at(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
  const int number = a.get();
  REQUIRE(a);
  auto b = std::move(a);
  CHECK(b.get() == number);
  b = {};
  CHECK(::fcntl(number, F_GETFD) == -1);
}

TEST_CASE("directories are made with their parents, and again") {
  const sample::scratch scratch;
  for (int again = 0; again < 2; ++again) {
    posix::make_directories(scratch.path("a/b//c"));
    CHECK(std::filesystem::is_directory(scratch.path("a/b/c")));
  }
  sample::spill(scratch.path("file"), "x");
  CHECK(sample::failure_of([&] { posix::make_directories(scratch.path("file/below")); }).says("Not a directory"));
}

TEST_CASE("what cannot be flushed to a disk is an error") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const cairn::posix::descriptor reader(ends[0]), writer(ends[1]);
  const auto failure = sample::failure_of([&] { cairn::posix::sync(writer.get(), "pipe"); });
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.says("cannot flush pipe: its file system has no fsync"));
  CHECK_FALSE(cairn::posix::is_regular(writer.get()));
}

TEST_CASE("buffers are filled from a file, however many calls that takes") {
  const sample::scratch scratch;
  std::string text(100'000, '\0');
  std::mt19937 random(1);
  for (auto& each : text) each = static_cast<char>(random());
  sample::spill(scratch.path("f"), text);
  const auto file = cairn::posix::open_at(AT_FDCWD, scratch.path("f"), O_RDONLY);
  std::string read(text.size() - 10, '\0');
  std::vector<std::span<std::byte>> parts;  // more than one call takes, some of them empty
  auto rest = std::as_writable_bytes(std::span(read));
  while (!rest.empty()) {
    const auto size = std::min<std::size_t>(random() % 60, rest.size());
    parts.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  CHECK(parts.size() > 2000);
  cairn::posix::read_all(file.get(), parts, 10, "f");
  CHECK(read == text.substr(10));
  const auto end = sample::failure_of([&] { cairn::posix::read_all(file.get(), parts, 11, "f"); });
  CHECK(end.code == cairn::errc::corrupt);
  CHECK(end.says("f ends at byte 100000"));
  const auto directory = cairn::posix::open_at(AT_FDCWD, scratch.path(), O_RDONLY);
  CHECK(sample::failure_of([&] { cairn::posix::read_all(directory.get(), parts, 0, "f"); }).code == cairn::errc::io);
}

TEST_CASE("what the medium does not give is unreadable, not corrupt") {
  const auto file = cairn::posix::open_at(AT_FDCWD, "/proc/self/mem", O_RDONLY);  // EIO where no memory is
  std::byte byte{};
  const std::span<std::byte> into[] = {std::span(&byte, 1)};
  const auto failure = sample::failure_of([&] { cairn::posix::read_all(file.get(), into, 0, "f"); });
  CHECK(failure.code == cairn::errc::unreadable);
  CHECK(failure.says("f cannot be read at byte 0"));
}

TEST_CASE("a path splits into the directory and the name in it") {
  const auto split = [](const char* path) {
    const auto [directory, name] = cairn::detail::split_path(path);
    return directory + " | " + name;
  };
  CHECK(split("a/b") == "a | b");
  CHECK(split("a/b///") == "a | b");
  CHECK(split("/a/b/c") == "/a/b | c");
  CHECK(split("/a") == "/ | a");
  CHECK(split("a") == ". | a");
  CHECK(split("a/") == ". | a");
  CHECK(split("/") == "/ | ");
  CHECK(split("") == ". | ");
}

TEST_CASE("a directory that is there has a name, also where the path does not say it") {
  const sample::scratch scratch;
  std::filesystem::create_directories(scratch.path("a/b"));
  const auto name = [&](const char* below) { return cairn::detail::split_existing(scratch.path(below)).name; };
  CHECK(name("a") == "a");
  CHECK(name("a/.") == "a");
  CHECK(name("a/b/..") == "a");
  CHECK(name("a/b/../") == "a");
  CHECK(name("nowhere") == "nowhere");
  CHECK(name("nowhere/.") == ".");
  CHECK(cairn::detail::split_existing(scratch.path("a/b/.")).directory ==
        std::filesystem::canonical(scratch.path("a")).string());
}

TEST_CASE("only a regular file is a file") {
  const sample::scratch scratch;
  CHECK_FALSE(cairn::detail::is_file(scratch.path()));
  CHECK_FALSE(cairn::detail::is_file(scratch.path("x")));
  sample::spill(scratch.path("x"), "");
  CHECK(cairn::detail::is_file(scratch.path("x")));
  CHECK(cairn::detail::is_single(scratch.path("x")));
  CHECK(cairn::detail::is_single("/dev/null"));
  CHECK_FALSE(cairn::detail::is_single(scratch.path()));
  CHECK_FALSE(cairn::detail::is_single(scratch.path("none")));
  CHECK_FALSE(cairn::detail::is_file(scratch.path("x/y")));
}

TEST_CASE("an absolute path does not depend on the current directory") {
  using cairn::detail::absolute_path;
  const auto here = std::filesystem::current_path().string();
  CHECK(absolute_path("a/b") == here + "/a/b");
  CHECK(absolute_path("a//") == here + "/a");
  CHECK(absolute_path("../a") == here + "/../a");
  CHECK(absolute_path("") == here);
  CHECK(absolute_path(".") == here);
  CHECK(absolute_path("./") == here);
  CHECK(absolute_path("/a/b/") == "/a/b");
  CHECK(absolute_path("/") == "/");
  CHECK(absolute_path("//") == "/");
  CHECK(sample::failure_of([] { static_cast<void>(absolute_path(std::string("/a\0b", 4))); }).code ==
        cairn::errc::invalid);
  std::filesystem::current_path("/");
  CHECK(absolute_path("a") == "/a");
  CHECK(absolute_path(".") == "/");
  const sample::scratch gone;
  std::filesystem::create_directory(gone.path("x"));
  std::filesystem::current_path(gone.path("x"));
  std::filesystem::remove(gone.path("x"));
  CHECK(sample::failure_of([] { static_cast<void>(absolute_path("a")); }).code == cairn::errc::io);
  std::filesystem::current_path(here);
}

TEST_CASE("the first link of a path that leads nowhere") {
  using cairn::detail::find_dangling_link;
  namespace fs = std::filesystem;
  const sample::scratch scratch;
  fs::create_directory(scratch.path("a"));
  fs::create_symlink("a", scratch.path("whole"));
  fs::create_symlink(scratch.path("none"), scratch.path("a/dangling"));
  CHECK(find_dangling_link(scratch.path("a/dangling")) == scratch.path("a/dangling"));
  CHECK(find_dangling_link(scratch.path("a/dangling/b/c")) == scratch.path("a/dangling"));
  CHECK(find_dangling_link(scratch.path("whole/dangling/b")) == scratch.path("whole/dangling"));
  for (const auto* path : {"a", "a/b", "whole", "whole/b", "none/dangling"})
    CHECK(find_dangling_link(scratch.path(path)).empty());
}

namespace {

void make(const std::string& path, bool is_kept) {
  new_directories above(path);
  std::filesystem::create_directories(path);
  if (is_kept) above.keep();
}

}  // namespace

TEST_CASE("directories that were missing are removed unless they are kept") {
  const sample::scratch scratch;
  const auto is_there = [&](const char* name) { return std::filesystem::exists(scratch.path(name)); };
  make(scratch.path("a/b/c"), false);
  CHECK_FALSE(is_there("a"));
  make(scratch.path("a"), true);
  make(scratch.path("a/b/c/"), false);
  CHECK(is_there("a"));
  CHECK_FALSE(is_there("a/b"));
  make(scratch.path("a"), false);  // it was there before
  CHECK(is_there("a"));
}

TEST_CASE("a directory that is not empty stays, and those above it") {
  const sample::scratch scratch;
  {
    const new_directories above(scratch.path("a/b/c"));
    std::filesystem::create_directories(scratch.path("a/b/c"));
    std::ofstream(scratch.path("a/b/file")) << "text";
  }
  CHECK(std::filesystem::exists(scratch.path("a/b/file")));
  CHECK_FALSE(std::filesystem::exists(scratch.path("a/b/c")));
}

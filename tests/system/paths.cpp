// SPDX-License-Identifier: MIT
#include "cairn/system/posix.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

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

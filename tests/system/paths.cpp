#include "cairn/system/paths.hpp"

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
  CHECK_FALSE(cairn::detail::is_file(scratch.path("x/y")));
}

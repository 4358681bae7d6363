#include "cairn/place.hpp"

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

TEST_CASE("only a regular file is a file") {
  const sample::scratch scratch;
  CHECK_FALSE(cairn::detail::is_file(scratch.path()));
  CHECK_FALSE(cairn::detail::is_file(scratch.path("x")));
  sample::spill(scratch.path("x"), "");
  CHECK(cairn::detail::is_file(scratch.path("x")));
  CHECK_FALSE(cairn::detail::is_file(scratch.path("x/y")));
}

TEST_CASE("a stopwatch does not run backwards") {
  const cairn::detail::stopwatch watch;
  const double first = watch.seconds();
  CHECK(first >= 0);
  CHECK(watch.seconds() >= first);
}

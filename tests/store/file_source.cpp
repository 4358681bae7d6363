#include "cairn/store/file_source.hpp"

#include <random>

#include <sys/stat.h>

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("any range of a file") {
  std::mt19937_64 random(1);
  const sample::scratch scratch;
  std::string text(50'000, '\0');
  for (auto& c : text) c = static_cast<char>(random());
  sample::spill(scratch.path("f"), text);
  const auto source = cairn::stores::detail::open_file(scratch.path("f"));
  REQUIRE(source->size() == text.size());
  for (int round = 0; round < 300; ++round) {
    const auto offset = random() % (text.size() + 1), length = random() % (text.size() - offset + 1);
    CHECK(cairn::stores::read_text(*source, offset, length) == text.substr(offset, length));
  }
}

TEST_CASE("what is no file cannot be opened") {
  const sample::scratch scratch;
  const auto code = [&](std::string_view name) {
    return sample::failure_of([&] { static_cast<void>(cairn::stores::detail::open_file(scratch.path(name))); }).code;
  };
  CHECK(code("nothing") == cairn::errc::not_found);
  CHECK(code(".") == cairn::errc::corrupt);
  REQUIRE(::mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  CHECK(code("pipe") == cairn::errc::corrupt);
}

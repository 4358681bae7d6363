// SPDX-License-Identifier: MIT
#include "cairn/import/zip_archive.hpp"

#include <cstddef>
#include <random>
#include <span>
#include <string>

#include "cairn/core/error.hpp"
#include "catch.hpp"
#include "import/zip_file.hpp"
#include "store/sample.hpp"

using cairn::errc;
using cairn::detail::zip_archive;

namespace {

std::string read(const zip_archive& archive, std::size_t entry) {
  std::string bytes(archive.entries().at(entry).bytes, '\0');
  archive.read(archive.entries().at(entry), std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace

TEST_CASE("the files of a zip archive are listed and read, compressed or not") {
  const sample::scratch scratch;
  const auto path = scratch.path("a.zip");
  for (const bool is_compressed : {false, true}) {
    write_zip(path, {{"one", std::string(10'000, 'x')}, {"two/three", "abc"}, {"empty", ""}}, is_compressed);
    const zip_archive archive(path);
    REQUIRE(archive.entries().size() == 3);
    CHECK(archive.entries()[1].name == "two/three");
    CHECK(read(archive, 0) == std::string(10'000, 'x'));
    CHECK(read(archive, 1) == "abc");
    CHECK(read(archive, 2).empty());
  }
}

TEST_CASE("what is no zip archive is refused, by its path") {
  const sample::scratch scratch;
  const auto none = sample::failure_of([&] { zip_archive(scratch.path("none")); });
  CHECK(none.code == errc::not_found);
  CHECK(none.says(scratch.path("none")));
  sample::spill(scratch.path("text"), "PK\3\4 and then nothing");
  const auto text = sample::failure_of([&] { zip_archive(scratch.path("text")); });
  CHECK(text.code == errc::corrupt);
  CHECK(text.says(scratch.path("text")));
}

TEST_CASE("a changed byte of a file in an archive is noticed") {
  const sample::scratch scratch;
  const auto path = scratch.path("a.zip");
  write_zip(path, {{"one", std::string(1000, 'x')}});
  auto bytes = sample::slurp(path);
  bytes[500] ^= 1;
  sample::spill(path, bytes);
  const zip_archive archive(path);
  const auto failure = sample::failure_of([&] { read(archive, 0); });
  CHECK(failure.code == errc::corrupt);
  CHECK(failure.says("\"one\""));
}

TEST_CASE("any bytes as a zip archive are read or refused") {
  const sample::scratch scratch;
  const auto path = scratch.path("a.zip");
  write_zip(path, {{"one", "abcdefgh"}, {"two", std::string(100, 'y')}}, true);
  const auto good = sample::slurp(path);
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    auto bad = good;
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      bad[random() % bad.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bad.resize(random() % (bad.size() + 1));
    sample::spill(path, bad);
    const auto failure = sample::failure_of([&] {
      const zip_archive archive(path);
      for (std::size_t i = 0; i < archive.entries().size(); ++i)
        if (archive.entries()[i].bytes < 10'000) read(archive, i);
    });
    if (!failure.sentence.empty())
      CHECK((failure.code == errc::corrupt || failure.code == errc::io || failure.code == errc::unsupported));
  }
}

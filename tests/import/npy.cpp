// SPDX-License-Identifier: MIT
#include "cairn/import/npy.hpp"

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include "cairn/core/error.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using cairn::dtype;
using cairn::errc;
using cairn::extents;

namespace {

std::string npy(const std::string& dict, unsigned major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (unsigned i = 0; i < (major == 1 ? 2U : 4U); ++i) file += static_cast<char>(dict.size() >> (8 * i) & 0xffU);
  return file + dict;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }  \n";
}

cairn::detail::npy_header read(std::string_view file) {
  return cairn::detail::read_npy_header(sample::bytes_of(file), "a.npy");
}

void check_refused(std::string_view file, errc code, std::string_view says) {
  const auto failure = sample::failure_of([&] { static_cast<void>(read(file)); });
  CAPTURE(failure.sentence);
  CHECK(failure.code == code);
  CHECK(failure.says("a.npy"));
  CHECK(failure.says(says));
}

}  // namespace

TEST_CASE("the header of an array of numpy is read: dtype, shape, order, in each version") {
  for (const unsigned version : {1U, 2U, 3U}) {
    const auto file = npy(dict("'<f4'", "(2, 3)", "True"), version);
    const auto header = read(file + "elements");
    CHECK(header.type == dtype::f32);
    CHECK(header.shape == extents{2, 3});
    CHECK(header.is_column_major);
    CHECK(header.data_start == file.size());
  }
  CHECK(read(npy(dict("'<i8'", "()"))).shape.empty());
  CHECK(read(npy(dict("'<i8'", "(7,)"))).shape == extents{7});
  CHECK(read(npy(dict("'<i8'", "(7L, 2L)"))).shape == extents{7, 2});  // Python 2
  CHECK(read(npy("{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"|b1\"}")).type == dtype::boolean);
}

TEST_CASE("the dtypes of numpy that Cairn has are read, and others refused by their names") {
  const std::pair<const char*, dtype> known[] = {
      {"<f8", dtype::f64}, {"<f2", dtype::f16}, {"<i4", dtype::i32}, {"<i2", dtype::i16}, {"|i1", dtype::i8},
      {"<u8", dtype::u64}, {"<u4", dtype::u32}, {"<u2", dtype::u16}, {"|u1", dtype::u8},  {"|b1", dtype::boolean}};
  for (const auto& [name, type] : known) {
    CAPTURE(name);
    CHECK(read(npy(dict("'" + std::string(name) + "'", "()"))).type == type);
  }
  for (const char* name : {">f4", "<c8", "|O", "<U5", "|S3", "<M8[ns]", "|V2", "<f16", "|f4", "<f3", "f4", "<", ""}) {
    CAPTURE(name);
    check_refused(npy(dict("'" + std::string(name) + "'", "()")), errc::unsupported, name);
  }
  check_refused(npy(dict("[('a', '<f4')]", "()")), errc::unsupported, "records");
}

TEST_CASE("a header of numpy that is damaged is refused") {
  for (const std::string bad :
       {"", "{", "}", "{}", "{'descr': '<f4'}", "{'descr' '<f4'}", "{'descr': '<f4", "{'other': 1}"}) {
    CAPTURE(bad);
    check_refused(npy(bad), errc::corrupt, "a.npy");
  }
  for (const std::string shape :
       {"(-1,)", "(1 2)", "(1", "1", "(1.5,)", "(,)", "(99999999999999999999,)", "(9223372036854775808,)"}) {
    CAPTURE(shape);
    check_refused(npy(dict("'<f4'", shape)), errc::corrupt, "a.npy");
  }
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  check_refused(npy(dict("'<f4'", deep + ")")), errc::corrupt, "64 dimensions");
  check_refused(npy(dict("'<f4'", "()", "Maybe")), errc::corrupt, "True nor False");
  check_refused(npy(dict("'<f4'", "()") + "x"), errc::corrupt, "after its end");
  check_refused(npy(dict("'<f4'", "()"), 4), errc::unsupported, "version 4");
  check_refused("NUMPY", errc::corrupt, "no array");
  auto longer = npy(dict("'<f4'", "()"));
  longer.pop_back();
  check_refused(longer, errc::corrupt, "ends after the file");
}

TEST_CASE("any bytes as a header of numpy are read or refused") {
  std::mt19937 random(1);
  const auto good = npy(dict("'<f4'", "(2, 3)"));
  for (int round = 0; round < 3000; ++round) {
    auto bad = good;
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      bad[random() % bad.size()] = static_cast<char>(random());
    bad.resize(random() % (bad.size() + 1));
    std::size_t start = 0;
    const auto failure = sample::failure_of([&] { start = read(bad).data_start; });
    CHECK(start <= bad.size());
    if (!failure.sentence.empty()) CHECK((failure.code == errc::corrupt || failure.code == errc::unsupported));
  }
}

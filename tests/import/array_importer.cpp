// SPDX-License-Identifier: MIT
#include "cairn/import/array_importer.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/encode/raw.hpp"
#include "cairn/export.hpp"
#include "cairn/import.hpp"
#include "catch.hpp"
#include "import/torch_file.hpp"
#include "import/zip_file.hpp"
#include "store/sample.hpp"

using namespace std::string_literals;
using namespace torch_file;
using cairn::errc;
using cairn::extents;

namespace {

void check_refused(const std::string& file, errc code, std::string_view says,
                   const cairn::import_options& options = {}) {
  const sample::scratch scratch;
  const auto failure = sample::failure_of([&] { cairn::import_file(file, scratch.path("made"), options); });
  CAPTURE(failure.sentence);
  CHECK(failure.code == code);
  CHECK(failure.says(file));
  CHECK(failure.says(says));
  CHECK(sample::names_in(scratch.path()).empty());
}

}  // namespace

TEST_CASE("a directory or an index of safetensors files becomes one checkpoint") {
  const sample::scratch scratch;
  std::map<std::string, std::vector<float>> state;
  for (int i = 0; i < 10; ++i) state["w" + std::to_string(i)] = std::vector<float>(100, static_cast<float>(i));
  cairn::save(scratch.path("a"), state);
  for (const std::uint64_t file_bytes : {std::uint64_t{1000}, std::uint64_t{100'000}}) {
    cairn::export_safetensors(cairn::open(scratch.path("a")), scratch.path("hf"), {.file_bytes = file_bytes});
    cairn::import_file(scratch.path("hf"), scratch.path("made"));
    const auto made = cairn::open(scratch.path("made"));
    CHECK(made.tensors().size() == 10);
    for (const auto& [name, values] : state) CHECK(made.read<float>(name) == values);
  }
  cairn::export_safetensors(cairn::open(scratch.path("a")), scratch.path("hf"), {.file_bytes = 1000});
  const auto index = scratch.path("hf/model.safetensors.index.json");
  CHECK(cairn::import_file(index, scratch.path("made")).leaves == 10);
  check_refused(scratch.path("a"), errc::not_found, "neither model.safetensors nor");

  for (const char* file : {"../a", "..", ".", ""}) {
    sample::spill(index, R"({"weight_map": {"w0": ")" + std::string(file) + "\"}}");
    check_refused(index, errc::corrupt, "no name of a file");
  }
  sample::spill(index, R"({"weight_map": {"w0": "model-00001-of-00005.safetensors", "w0": "b"}})");
  check_refused(index, errc::corrupt, "w0");
  sample::spill(index, R"({"weight_map": {"other": "model-00001-of-00005.safetensors"}})");
  const auto missing = sample::failure_of([&] { cairn::import_file(index, scratch.path("b")); });
  CHECK(missing.code == errc::not_found);
  CHECK(missing.says("other"));
}

TEST_CASE("files that cannot be imported are refused by their path, and leave nothing") {
  const sample::scratch scratch;
  const auto file = scratch.path("file");
  check_refused(file, errc::not_found, "");
  sample::spill(file, "\x80\x02}q\0."s);
  check_refused(file, errc::unsupported, "before 1.6");
  sample::spill(file, "hello");
  check_refused(file, errc::corrupt, "");
  sample::spill(file, "");
  check_refused(file, errc::corrupt, "");
  write_zip(file, {{"archive/data.pkl", "\x80\x02}."}, {"archive/code/m.py", ""}});
  check_refused(file, errc::unsupported, "TorchScript");
  write_zip(file, {{"archive/data.pkl", "\x80\x02}."}, {"archive/byteorder", "big"}});
  check_refused(file, errc::unsupported, "byte order");
  write_zip(file, {{"archive/data.pkl", "\x80\x02}."}});
  check_refused(file, errc::invalid, "no array");
  write_zip(file, {{"readme.txt", "no array"}});
  check_refused(file, errc::invalid, "no array");
  write_zip(file, {{"a.npy", "\x93NUMPY\x01\0\x02\0{}"s}});
  check_refused(file, errc::corrupt, "\"a.npy\"");
  const auto write_npz = [&](const std::string& type, const std::string& shape, const std::string& elements) {
    const auto header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + "}";
    write_zip(file, {{"a.npy", "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + '\0' + header + elements}});
  };
  write_npz("<f4", "(2,)", "1234567");
  check_refused(file, errc::corrupt, "7 bytes of elements");
  write_npz("<f4", "(4611686018427387904,)", "");
  check_refused(file, errc::corrupt, "0 bytes of elements");
  write_npz("<f4", "(0, 99999999999)", "");
  cairn::import_file(file, scratch.path("empty"));
  CHECK(cairn::open(scratch.path("empty")).tensor("a").shape == extents{0, 99999999999});

  write_torch(file, tensor("FloatStorage", "0", 2, 0, {2}, {1}), {});
  check_refused(file, errc::corrupt, "is missing");
  write_torch(file, tensor("FloatStorage", "0", 2, 0, {2}, {1}), {{"archive/data/0", "1234567"}});
  check_refused(file, errc::corrupt, "too short");
  write_torch(file, list({tensor("FloatStorage", "0", 2, 0, {2}, {1}), tensor("DoubleStorage", "0", 2, 0, {2}, {1})}),
              {{"archive/data/0", "12345678"}});
  check_refused(file, errc::corrupt, "too short");
  const auto one = dict({{"a", integer(1)}, {"b", integer(2)}});
  write_torch(file, one, {});
  cairn::import_options options;
  options.rename = [](std::string_view) { return "same"; };
  const auto twice = sample::failure_of([&] { cairn::import_file(file, scratch.path("made"), options); });
  CHECK(twice.code == errc::invalid);
  CHECK(twice.says("same"));
  options.filter = [](std::string_view) { return false; };
  check_refused(file, errc::invalid, "no array is chosen", options);

  write_npz("|b1", "(2,)", "\1\2");
  check_refused(file, errc::corrupt, "neither 0 nor 1");
  write_torch(file, tensor("BoolStorage", "0", 2, 0, {2}, {1}), {{"archive/data/0", "\1\2"}});
  check_refused(file, errc::corrupt, "neither 0 nor 1");
  write_torch(file, call("m", "Net", ")"), {});
  check_refused(file, errc::invalid, "\"array\": of a module, save its state_dict()");
  options = {};
  options.rename = [](std::string_view) -> std::string { throw 1; };
  write_torch(file, one, {});
  check_refused(file, errc::invalid, "no std::exception", options);
}

TEST_CASE("a tensor that is larger than the memory is refused before memory is taken") {
  const sample::scratch scratch;
  const auto file = scratch.path("file");
  write_torch(file, tensor("FloatStorage", "0", 1, 0, {1LL << 40}, {0}), {{"archive/data/0", "1234"}});
  const auto failure = sample::failure_of([&] { cairn::import_file(file, scratch.path("made")); });
  CHECK(failure.code == errc::no_memory);
  CHECK(failure.says("bytes of memory"));
}

TEST_CASE("the arrays of a small file may not take much memory together: many, shared or expanded ones") {
  const sample::scratch scratch;
  const auto file = scratch.path("file");
  const auto check_many = [&](const std::string& values, const std::string& storage) {
    write_torch(file, values, {{"archive/data/0", storage}});
    check_refused(file, errc::no_memory, "24 times the bytes of the file");
  };
  const auto repeated = [](const std::string& one, std::size_t count) {
    std::string all = "(" + one + "q\1";
    while (--count > 0) all += "h\1";
    return all + "t";
  };
  constexpr std::int64_t large = 1 << 26;
  check_many(repeated("K\1", 200'000), "");
  check_many(repeated(tensor("FloatStorage", "0", 1, 0, {large}, {0}), 8), "1234");
  const auto shared = tensor("FloatStorage", "0", 1 << 20, 0, {1 << 20}, {1});
  check_many(repeated(shared, 80), std::string(4 << 20, '\1'));
  write_torch(file, repeated(shared, 4), {{"archive/data/0", std::string(4 << 20, '\1')}});
  CHECK(cairn::import_file(file, scratch.path("made")).leaves == 4);

  // What is left out takes none.
  cairn::import_options options;
  options.filter = [](std::string_view name) { return name.size() == 1; };
  write_torch(file, repeated("K\1", 200'000), {});
  CHECK(cairn::import_file(file, scratch.path("made"), options).leaves == 10);

  std::vector<std::pair<std::string, std::string>> arrays;
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (67108864,)}";
  const auto array = "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + '\0' + header + std::string(large, '\0');
  for (const char* name : {"a.npy", "b.npy", "c.npy", "d.npy", "e.npy"}) arrays.emplace_back(name, array);
  write_zip(file, arrays, true);
  check_refused(file, errc::no_memory, "24 times the bytes of the file");
}

TEST_CASE("what the check of the options throws ends an import, which leaves nothing") {
  const sample::scratch scratch;
  const auto file = scratch.path("file");
  write_torch(file, tensor("FloatStorage", "0", 1 << 24, 0, {1 << 24}, {1}),
              {{"archive/data/0", std::string(64 << 20, '\1')}});
  std::size_t calls = 0;
  const auto failure_at = [&](std::size_t last) {
    cairn::import_options options;
    std::atomic<std::size_t> called = 0;
    options.save.codecs = {{"*", cairn::codecs::raw{}}};
    options.save.check = [&] {
      if (++called == last) cairn::fail(errc::cancelled, {"enough"});
    };
    const auto failure = sample::failure_of([&] { cairn::import_file(file, scratch.path("a/b/made"), options); });
    calls = called;
    return failure;
  };
  CHECK(failure_at(0).sentence.empty());
  std::filesystem::remove_all(scratch.path("a"));
  const auto all = calls;
  CHECK(all >= 8);  // while it is read, encoded and written
  for (std::size_t last = 1; last <= all; ++last) {
    CAPTURE(last);
    CHECK(failure_at(last).code == errc::cancelled);
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"file"});
  }
}

TEST_CASE(
    "only what the filter chooses is reported as skipped, and a storage that is read as two types is checked for "
    "both") {
  const sample::scratch scratch;
  const auto file = scratch.path("file");
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
  write_zip(file, {{"a.npy", "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + '\0' + header + "1234"},
                   {"readme.txt", ""},
                   {"notes.txt", ""}});
  cairn::import_options options;
  options.filter = [](std::string_view name) { return name != "notes.txt"; };
  CHECK(cairn::import_file(file, scratch.path("made"), options).skipped == std::vector<std::string>{"readme.txt"});
  write_torch(file, list({tensor("ByteStorage", "0", 2, 0, {2}, {1}), tensor("BoolStorage", "0", 2, 0, {2}, {1})}),
              {{"archive/data/0", "\1\2"}});
  check_refused(file, errc::corrupt, "neither 0 nor 1");
}

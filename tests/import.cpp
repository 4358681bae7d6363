// SPDX-License-Identifier: MIT
#include "cairn/import.hpp"

#include "cairn/encode/raw.hpp"
#include "cairn/export.hpp"
#include "cairn/load.hpp"
#include "cairn/system/memory.hpp"
#include "catch.hpp"
#include "in_scratch.hpp"

using tests::in_scratch;
using namespace std::string_literals;
using cairn::errc;

namespace {

using arrays = std::map<std::string, std::vector<float>>;

/// Writes a safetensors file, or a directory of them.
void write(const std::string& path, const arrays& state, std::uint64_t file_bytes = 5'000'000'000) {
  const sample::scratch scratch;
  cairn::save(scratch.path("a"), state);
  cairn::export_safetensors(cairn::open(scratch.path("a")), path, {.file_bytes = file_bytes});
}

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

TEST_CASE_METHOD(in_scratch, "a safetensors file becomes a checkpoint, which a C++ state loads by renamed paths") {
  const auto file = scratch.path("trainer.safetensors"), made = scratch.path("made");
  const auto header = R"({"model.0.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                      R"("model.0.bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]},)"
                      R"("epoch":{"dtype":"I64","shape":[],"data_offsets":[32,40]},)"
                      R"("scale":{"dtype":"F32","shape":[],"data_offsets":[40,44]}})"s;
  sample::spill(file, static_cast<char>(header.size()) + "\0\0\0\0\0\0\0"s + header +
                          "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\0\x3f\0\0\0\xbf"
                          "\3\0\0\0\0\0\0\0\0\0\0\0"s);
  // [import]
  cairn::import_options options;
  options.filter = [](std::string_view name) { return name.starts_with("model.") || name == "epoch"; };
  options.rename = [](std::string_view name) {
    std::string path(name);
    if (path.starts_with("model.0.")) path.replace(0, 8, "model.fc1.");  // a name in Python's nn.Sequential
    return path;
  };
  const auto report = cairn::import_file(file, made, options);
  // [import]
  CHECK(report.leaves == 3);
  CHECK(cairn::import_file(file, scratch.path("all")).leaves == 4);

  struct layer {
    std::array<std::array<float, 3>, 2> weight{};
    std::array<float, 2> bias{};
  };
  struct {
    struct {
      layer fc1;
    } model;
    std::int64_t epoch = 0;
  } state;
  // [load]
  cairn::load(made, state);
  // [load]
  CHECK(state.model.fc1.weight == std::array<std::array<float, 3>, 2>{{{0, 1, 2}, {3, 4, 5}}});
  CHECK(state.model.fc1.bias == std::array<float, 2>{0.5F, -0.5F});
  CHECK(state.epoch == 3);
}

TEST_CASE_METHOD(in_scratch, "a directory or an index of safetensors files becomes one checkpoint") {
  arrays state;
  for (int i = 0; i < 10; ++i) state["w" + std::to_string(i)] = std::vector<float>(100, static_cast<float>(i));
  for (const std::uint64_t file_bytes : {std::uint64_t{100'000}, std::uint64_t{1000}}) {
    write(scratch.path("hf"), state, file_bytes);
    cairn::import_file(scratch.path("hf"), scratch.path("made"));
    const auto made = cairn::open(scratch.path("made"));
    CHECK(made.tensors().size() == 10);
    for (const auto& [name, values] : state) CHECK(made.read<float>(name) == values);
  }
  const auto index = scratch.path("hf/model.safetensors.index.json");
  CHECK(cairn::import_file(index, scratch.path("made")).leaves == 10);
  check_refused(scratch.path(), errc::not_found, "neither model.safetensors nor");

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

TEST_CASE_METHOD(in_scratch, "files that cannot be imported are refused by their path, and leave nothing") {
  const auto file = scratch.path("file.safetensors");
  check_refused(file, errc::not_found, "");
  for (const char* begin : {"\x93NUMPY", "PK\3\4", "\x80\2}q"}) {
    sample::spill(file, begin);
    check_refused(file, errc::unsupported, "python -m cairn.convert " + file + " OUT.safetensors");
  }
  sample::spill(file, "hello");
  check_refused(file, errc::corrupt, "");
  sample::spill(file, "");
  check_refused(file, errc::corrupt, "");

  write(file, arrays{{"a", {1}}, {"b", {2}}});
  cairn::import_options options;
  options.rename = [](std::string_view) { return "same"; };
  const auto twice = sample::failure_of([&] { cairn::import_file(file, scratch.path("made"), options); });
  CHECK(twice.code == errc::invalid);
  CHECK(twice.says("same"));
  options.filter = [](std::string_view) { return false; };
  check_refused(file, errc::invalid, "no array is chosen", options);
  options = {};
  options.rename = [](std::string_view) -> std::string { throw 1; };
  check_refused(file, errc::invalid, "no std::exception", options);
}

TEST_CASE("arrays that together take more than the memory of the machine are refused before they are read") {
  const sample::scratch scratch;
  const auto file = scratch.path("file.safetensors");
  const auto first = std::uint64_t{4096}, all = first + cairn::detail::machine_memory();
  auto header = R"({"a":{"dtype":"U8","shape":[4096],"data_offsets":[0,4096]},"b":{"dtype":"U8","shape":[)" +
                std::to_string(all - first) + R"(],"data_offsets":[4096,)" + std::to_string(all) + "]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  sample::spill(file, static_cast<char>(header.size()) + "\0\0\0\0\0\0\0"s + header);
  std::filesystem::resize_file(file, 8 + header.size() + all);  // all of it a hole
  check_refused(file, errc::no_memory, std::to_string(all));
}

TEST_CASE_METHOD(in_scratch, "an import that fails leaves none of the directories that it has made") {
  const auto file = scratch.path("file.safetensors");
  write(file, arrays{{"a", {1}}});
  cairn::import_options options;
  options.save.shards = 200'000;  // refused only when the checkpoint is saved
  const auto failure = sample::failure_of([&] { cairn::import_file(file, scratch.path("a/b/made"), options); });
  CHECK(failure.code == errc::invalid);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"file.safetensors"});
  cairn::import_file(file, scratch.path("a/b/made"));
  CHECK(std::filesystem::exists(scratch.path("a/b/made/index.json")));
}

TEST_CASE_METHOD(in_scratch, "what the check of the options throws ends an import, which leaves nothing") {
  const auto file = scratch.path("file.safetensors");
  write(file, arrays{{"a", std::vector<float>(1 << 22)}});
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
  CHECK(all >= 2);  // while it is read, encoded and written
  for (std::size_t last = 1; last <= all; ++last) {
    CAPTURE(last);
    CHECK(failure_at(last).code == errc::cancelled);
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"file.safetensors"});
  }
}

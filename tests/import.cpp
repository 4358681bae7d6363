#include "cairn/import.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/export.hpp"
#include "cairn/load.hpp"
#include "catch.hpp"
#include "import/torch_file.hpp"
#include "import/zip_file.hpp"
#include "store/sample.hpp"

using namespace std::string_literals;
using namespace torch_file;
using cairn::dtype;
using cairn::errc;
using cairn::extents;

namespace {

const std::string golden = CAIRN_TESTS "/golden/import";  // make.py wrote the files, with numpy and PyTorch

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

/// A zip file as torch.save writes it.
void write_torch(const std::string& path, const std::string& values,
                 std::vector<std::pair<std::string, std::string>> files) {
  files.insert(files.begin(), {"archive/data.pkl", "\x80\x02" + values + "."});
  files.emplace_back("archive/version", "3\n");
  write_zip(path, files);
}

}  // namespace

TEST_CASE("an archive of numpy becomes a checkpoint: the same values under the same names") {
  const sample::scratch scratch;
  for (const char* file : {"/plain.npz", "/compressed.npz"}) {
    const auto report = cairn::import_file(golden + file, scratch.path("made"));
    CHECK(report.leaves == 6);
    CHECK(report.skipped.empty());
    const auto made = cairn::open(scratch.path("made"));
    CHECK(made.tensor("weight").shape == extents{2, 3});
    CHECK(made.read<float>("weight") == std::vector<float>{0, 0.5F, 1, 1.5F, 2, 2.5F});
    CHECK(made.tensor("columns").shape == extents{2, 3});  // in numpy column by column
    CHECK(made.read<double>("columns") == std::vector<double>{0, 1, 2, 3, 4, 5});
    CHECK(made.read<std::int64_t>("step") == std::vector<std::int64_t>{-7});
    CHECK(made.tensor("step").shape.empty());
    CHECK(made.read<std::uint8_t>("bytes") == std::vector<std::uint8_t>{1, 2, 255});
    CHECK(made.tensor("half").type == dtype::f16);
    CHECK(made.tensor("flags").type == dtype::boolean);
  }
}

TEST_CASE("one array of numpy becomes a checkpoint with one array") {
  const sample::scratch scratch;
  cairn::import_file(golden + "/one.npy", scratch.path("made"));
  struct {
    std::vector<float> array = std::vector<float>(4);
  } state;
  cairn::load(scratch.path("made"), state);
  CHECK(state.array == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a file of PyTorch becomes a checkpoint, which a C++ state loads by renamed paths") {
  const sample::scratch scratch;
  const auto file = golden + "/trainer.pt", made = scratch.path("made");
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
  CHECK(report.skipped == std::vector<std::string>{"optimizer.param_groups.0.name", "name"});

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

TEST_CASE("tensors of PyTorch that are views, share a storage or have other dtypes become whole arrays") {
  const sample::scratch scratch;
  cairn::import_file(golden + "/tensors.pt", scratch.path("made"));
  const auto made = cairn::open(scratch.path("made"));
  CHECK(made.read<float>("transposed") == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(made.tensor("transposed").shape == extents{3, 2});
  CHECK(made.read<float>("part") == std::vector<float>{4, 5});
  CHECK(made.read<float>("expanded") == std::vector<float>{7, 7, 7});
  CHECK(made.read<float>("tied") == made.read<float>("first"));
  CHECK(made.tensor("empty").shape == extents{0, 4});
  CHECK(made.read<double>("scalar") == std::vector<double>{2.5});
  for (const auto& [name, type] : std::map<std::string, dtype>{{"bf16", dtype::bf16},
                                                               {"half", dtype::f16},
                                                               {"bool", dtype::boolean},
                                                               {"i8", dtype::i8},
                                                               {"i16", dtype::i16},
                                                               {"i32", dtype::i32},
                                                               {"i64", dtype::i64},
                                                               {"u8", dtype::u8}})
    CHECK(made.tensor(name).type == type);
  CHECK(made.read<std::int16_t>("i16") == std::vector<std::int16_t>{-2, -1, 0});
}

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

  sample::spill(index, R"({"weight_map": {"w0": "../a"}})");
  check_refused(index, errc::corrupt, "no name of a file");
  sample::spill(index, R"({"weight_map": {"w0": "model-00001-of-00005.safetensors", "w0": "b"}})");
  check_refused(index, errc::corrupt, "w0");
  sample::spill(index, R"({"weight_map": {"other": "model-00001-of-00005.safetensors"}})");
  const auto missing = sample::failure_of([&] { cairn::import_file(index, scratch.path("b")); });
  CHECK(missing.code == errc::not_found);
  CHECK(missing.says("other"));
}

TEST_CASE("a file of PyTorch with an object of a class runs nothing, and reports its name") {
  const sample::scratch scratch;
  const auto file = scratch.path("evil.pt"), made = scratch.path("made");
  write_torch(file,
              dict({{"evil", call("os", "system", text("touch " + made) + "\x85")},
                    {"w", tensor("FloatStorage", "0", 1, 0, {}, {})}}),
              {{"archive/data/0", "\0\0\x80\x3f"s}});
  const auto report = cairn::import_file(file, scratch.path("checkpoint"));
  CHECK(report.skipped == std::vector<std::string>{"evil"});
  CHECK(cairn::open(scratch.path("checkpoint")).read<float>("w") == std::vector<float>{1});
  CHECK_FALSE(std::filesystem::exists(made));
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
  const auto elements = [&](const std::string& shape, std::size_t bytes) {
    const auto header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}";
    write_zip(file, {{"a.npy", "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + '\0' + header +
                                   std::string(bytes, '\0')}});
  };
  elements("(2,)", 7);
  check_refused(file, errc::corrupt, "7 bytes of elements");
  elements("(4611686018427387904,)", 0);
  check_refused(file, errc::corrupt, "0 bytes of elements");
  elements("(0, 99999999999)", 0);
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
}

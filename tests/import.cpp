// SPDX-License-Identifier: MIT
#include "cairn/import.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/load.hpp"
#include "catch.hpp"
#include "import/torch_file.hpp"
#include "import/zip_file.hpp"
#include "store/sample.hpp"

using namespace std::string_literals;
using namespace torch_file;
using cairn::dtype;
using cairn::extents;

namespace {

const std::string golden = CAIRN_TESTS "/golden/import";  // make.py wrote the files, with numpy and PyTorch

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
  CHECK(report.skipped.empty());
  CHECK(cairn::import_file(file, scratch.path("all")).skipped ==
        std::vector<std::string>{"optimizer.param_groups.0.name", "name"});

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

TEST_CASE("an import that fails leaves none of the directories that it has made") {
  const sample::scratch scratch;
  sample::spill(scratch.path("file"), "text");
  cairn::import_options options;
  options.save.shards = 200'000;  // refused only when the checkpoint is saved
  const auto failure =
      sample::failure_of([&] { cairn::import_file(golden + "/one.npy", scratch.path("a/b/made"), options); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"file"});
  cairn::import_file(golden + "/one.npy", scratch.path("a/b/made"));
  CHECK(std::filesystem::exists(scratch.path("a/b/made/index.json")));
}

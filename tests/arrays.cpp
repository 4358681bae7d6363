// SPDX-License-Identifier: MIT
#include "cairn/arrays.hpp"

#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "catch.hpp"
#include "in_scratch.hpp"

using cairn::dtype;
using cairn::errc;
using cairn::named_array;
using tests::in_scratch;

namespace {

struct layer {
  std::vector<float> weight;
  std::optional<double> scale;
};
struct model {
  std::map<std::string, layer> layers;
  std::vector<std::vector<std::int32_t>> counts;
  std::uint64_t step = 0;
};

/// The arrays of a checkpoint, each in a buffer of its own.
struct read_arrays {
  std::vector<std::vector<std::byte>> memory;
  std::vector<named_array> arrays;

  explicit read_arrays(const cairn::checkpoint& from) {
    for (const auto& each : from.tensors()) {
      from.read(each.name, memory.emplace_back(each.bytes));
      arrays.push_back({each.name, each.type, each.shape, nullptr});
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].memory = memory[i].data();
  }
};

}  // namespace

TEST_CASE("arrays are saved under their names, also strided ones, and a state of these members loads them") {
  const sample::scratch scratch;
  const std::vector<float> columns{1, 4, 2, 5, 3, 6};
  const double scale = 0.5;
  const named_array arrays[] = {{"model.weight", dtype::f32, {2, 3}, columns.data(), {4, 8}},
                                {"model.scale", dtype::f64, {}, &scale},
                                {"empty", dtype::u8, {0, 4}, nullptr}};
  const auto report = cairn::save_arrays(scratch.path("a"), arrays, {.step = 7, .metrics = {{"loss", 0.25}}});
  CHECK(report.leaves == 3);
  const auto saved = cairn::open(scratch.path("a"));
  CHECK(saved.step() == 7);
  CHECK(saved.metrics().at("loss") == 0.25);
  CHECK(saved.read<float>("model.weight") == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(saved.tensor("empty").shape == cairn::extents{0, 4});
  struct {
    struct {
      float weight[2][3];
      double scale;
    } model;
  } state{};
  cairn::load(scratch.path("a"), state, {.strict = false});
  CHECK(state.model.weight[1][0] == 4);
  CHECK(state.model.scale == 0.5);
}

TEST_CASE_METHOD(in_scratch, "a state loads what was saved like its own checkpoint") {
  const model state{{{"in", {{1, 2, 3}, 0.5}}, {"out.put", {{4}, {}}}}, {{1, 2}, {}, {3}}, 9};
  cairn::save(scratch.path("a"), state);
  const auto like = cairn::open(scratch.path("a"));
  read_arrays read(like);
  const auto changed = std::vector<float>{7, 8, 9};
  for (auto& each : read.arrays)
    if (each.name == "layers.in.weight") each.memory = changed.data();
  cairn::save_arrays(scratch.path("b"), read.arrays, like);
  model loaded;
  cairn::load(scratch.path("b"), loaded);
  CHECK(loaded.layers.at("in").weight == changed);
  CHECK(loaded.layers.at("in").scale == 0.5);
  CHECK(loaded.layers.at("out.put").weight == std::vector<float>{4});
  CHECK_FALSE(loaded.layers.at("out.put").scale);
  CHECK(loaded.counts == state.counts);
  CHECK(loaded.step == 9);
}

TEST_CASE_METHOD(in_scratch, "arrays that cannot be saved are refused, and nothing is left") {
  const float one = 1;
  const auto failure = [&](std::vector<named_array> arrays) {
    return sample::failure_of([&] { cairn::save_arrays(scratch.path("a"), arrays); });
  };
  const named_array good{"a", dtype::f32, {}, &one};
  CHECK(failure({good, good}).code == errc::invalid);
  for (const std::string name : {"", "__metadata__", "\xff"}) {
    auto other = good;
    other.name = name;
    CHECK(failure({other}).code == errc::invalid);
  }
  auto strided = good;
  strided.strides = {4};
  CHECK(failure({strided}).says("0 dimensions, and 1 strides"));
  CHECK_FALSE(std::filesystem::exists(scratch.path("a")));

  cairn::save_arrays(scratch.path("like"), std::vector{good});
  const auto like = cairn::open(scratch.path("like"));
  const auto unlike = [&](std::vector<named_array> arrays) {
    return sample::failure_of([&] { cairn::save_arrays(scratch.path("a"), arrays, like); });
  };
  CHECK(unlike({}).says("\"a\" is missing"));
  auto other = good;
  other.name = "b";
  CHECK(unlike({good, other}).says("\"b\" is not in"));
  CHECK(unlike({good, other}).code == errc::mismatch);
  auto of_other_type = good, of_other_shape = good;
  of_other_type.type = good.type == cairn::dtype::f32 ? cairn::dtype::u32 : cairn::dtype::f32;
  of_other_shape.shape = {1};
  CHECK(unlike({of_other_type}).code == errc::mismatch);
  CHECK(unlike({of_other_type}).says("\"a\" is"));
  CHECK(unlike({of_other_shape}).says("[1], and in"));
  CHECK_FALSE(std::filesystem::exists(scratch.path("a")));
}

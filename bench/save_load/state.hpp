// SPDX-License-Identifier: MIT
// The state that every method saves and loads: a transformer and its Adam moments, 1,200 tensors of very
// unequal size.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct tensor {
  std::vector<std::uint64_t> shape;
  std::vector<float> values;
};

struct block {
  tensor norm1_scale, norm1_shift, qkv_weight, qkv_bias, projection_weight, projection_bias;
  tensor norm2_scale, norm2_shift, up_weight, up_bias, down_weight, down_bias;
};

struct transformer {
  tensor token_embedding, position_embedding;
  std::vector<block> blocks;
  tensor norm_scale, norm_shift;
};

struct training_state {
  transformer weights, first_moment, second_moment;
  std::uint64_t step{};
};

/// The sizes of a transformer; the default makes a state of 1 GiB.
struct dimensions {
  std::uint64_t blocks = 33;
  std::uint64_t width = 448;
  std::uint64_t tokens = 20864;
  std::uint64_t positions = 1024;

  /// The same number of tensors in about `mib` MiB.
  [[nodiscard]] static dimensions of(std::uint64_t mib) {
    dimensions d;
    if (mib == 1024) return d;
    const double scale = std::sqrt(static_cast<double>(mib) / 1024);
    const auto scaled = [&](std::uint64_t n) {
      return 8 + 8 * static_cast<std::uint64_t>(static_cast<double>(n) * scale / 8);
    };
    return {d.blocks, scaled(d.width), scaled(d.tokens), scaled(d.positions)};
  }
};

/// Calls `visit(name, tensor)` for every tensor of a block, in order of its fields.
template <class Block, class Visit>
void for_each_tensor_of_block(Block& b, const Visit& visit) {
  visit("norm1_scale", b.norm1_scale);
  visit("norm1_shift", b.norm1_shift);
  visit("qkv_weight", b.qkv_weight);
  visit("qkv_bias", b.qkv_bias);
  visit("projection_weight", b.projection_weight);
  visit("projection_bias", b.projection_bias);
  visit("norm2_scale", b.norm2_scale);
  visit("norm2_shift", b.norm2_shift);
  visit("up_weight", b.up_weight);
  visit("up_bias", b.up_bias);
  visit("down_weight", b.down_weight);
  visit("down_bias", b.down_bias);
}

/// Calls `visit(path, tensor)` for every tensor of the state, with paths as "weights/blocks/0/qkv_weight":
/// what a user of a library without reflection writes by hand.
template <class State, class Visit>
void for_each_tensor(State& state, const Visit& visit) {
  const auto walk = [&](const std::string& root, auto& model) {
    visit(root + "/token_embedding", model.token_embedding);
    visit(root + "/position_embedding", model.position_embedding);
    for (std::size_t i = 0; i < model.blocks.size(); ++i) {
      const auto prefix = root + "/blocks/" + std::to_string(i) + "/";
      for_each_tensor_of_block(model.blocks[i],
                               [&](std::string_view name, auto& t) { visit(prefix + std::string(name), t); });
    }
    visit(root + "/norm_scale", model.norm_scale);
    visit(root + "/norm_shift", model.norm_shift);
  };
  walk("weights", state.weights);
  walk("first_moment", state.first_moment);
  walk("second_moment", state.second_moment);
}

/// Makes all tensors in their shapes, without elements.
[[nodiscard]] inline training_state make_shapes(const dimensions& d) {
  const auto make = [](tensor& t, std::vector<std::uint64_t> shape) { t.shape = std::move(shape); };
  training_state state;
  state.step = 1234;
  for (auto* model : {&state.weights, &state.first_moment, &state.second_moment}) {
    make(model->token_embedding, {d.tokens, d.width});
    make(model->position_embedding, {d.positions, d.width});
    model->blocks.resize(d.blocks);
    for (auto& b : model->blocks) {
      for (auto* t : {&b.norm1_scale, &b.norm1_shift, &b.projection_bias, &b.norm2_scale, &b.norm2_shift, &b.down_bias})
        make(*t, {d.width});
      make(b.qkv_weight, {3 * d.width, d.width});
      make(b.qkv_bias, {3 * d.width});
      make(b.projection_weight, {d.width, d.width});
      make(b.up_weight, {4 * d.width, d.width});
      make(b.up_bias, {4 * d.width});
      make(b.down_weight, {d.width, 4 * d.width});
    }
    make(model->norm_scale, {d.width});
    make(model->norm_shift, {d.width});
  }
  return state;
}

/// Makes all tensors in their shapes, zeros in them.
[[nodiscard]] inline training_state make_state(const dimensions& d) {
  auto state = make_shapes(d);
  for_each_tensor(state, [](const std::string&, tensor& t) {
    std::uint64_t count = 1;
    for (const auto n : t.shape) count *= n;
    t.values.resize(count);
  });
  return state;
}

/// The value of one element: uniform in [-1, 1), the same in every run. O(1).
[[nodiscard]] inline float value_at(std::uint64_t tensor_index, std::uint64_t element) noexcept {
  std::uint64_t x = tensor_index * 0x9e3779b97f4a7c15ULL + element * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 30)) * 0x94d049bb133111ebULL;
  return static_cast<float>(static_cast<std::int32_t>(x >> 32)) * 0x1p-31F;
}

/// Gives every element its value; also the way to touch all pages.
inline void fill(training_state& state) {
  std::uint64_t index = 0;
  for_each_tensor(state, [&](const std::string&, tensor& t) {
    for (std::size_t i = 0; i < t.values.size(); ++i) t.values[i] = value_at(index, i);
    ++index;
  });
}

/// Overwrites every element, so that a load that did nothing shows.
inline void spoil(training_state& state) {
  for_each_tensor(state, [](const std::string&, tensor& t) { t.values.assign(t.values.size(), -7.0F); });
  state.step = 0;
}

struct state_size {
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;
};

[[nodiscard]] inline state_size size_of(const training_state& state) {
  state_size size;
  for_each_tensor(state, [&](const std::string&, const tensor& t) {
    ++size.tensors;
    size.bytes += t.values.size() * sizeof(float);
  });
  return size;
}

/// True where the tensors have the shapes of `d` and all values are those of `fill`.
[[nodiscard]] inline bool is_intact(const training_state& state, const dimensions& d) {
  if (state.weights.blocks.size() != d.blocks || state.step != 1234) return false;
  bool intact = state.second_moment.token_embedding.shape == std::vector<std::uint64_t>{d.tokens, d.width} &&
                size_of(state).tensors == 3 * (12 * d.blocks + 4);
  std::uint64_t index = 0;
  for_each_tensor(state, [&](const std::string&, const tensor& t) {
    std::uint64_t count = 1;
    for (const auto n : t.shape) count *= n;
    intact = intact && count == t.values.size();
    for (std::size_t i = 0; intact && i < t.values.size(); ++i) intact = t.values[i] == value_at(index, i);
    ++index;
  });
  return intact;
}

}  // namespace bench

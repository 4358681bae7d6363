// SPDX-License-Identifier: MIT
// A small GPT (Radford et al. 2019): pre-norm blocks of causal attention and a two-layer perceptron, over bytes. No
// dropout.
#pragma once

#include <random>
#include <vector>

#include "models/data.hpp"
#include "models/layers.hpp"

namespace bench::models {

struct gpt_block {
  layer_norm norm1;
  dense qkv, projection;
  layer_norm norm2;
  dense up, down;
};

struct gpt {
  matrix tokens, positions;  ///< [vocabulary, features], [length, features]
  std::vector<gpt_block> blocks;
  layer_norm norm;
  dense head;
};

/// The default has 10.7 million parameters.
struct gpt_shape {
  Index vocabulary = 64, length = 32, features = 384, blocks = 6;
};
inline constexpr Index gpt_heads = 4;

[[nodiscard]] inline gpt make_gpt(const gpt_shape& shape, std::mt19937_64& rng) {
  const Index d = shape.features;
  gpt made{draw_normal(shape.vocabulary, d, 0.05F, rng),
           draw_normal(shape.length, d, 0.02F, rng),
           {},
           make_layer_norm(d),
           {}};
  const float residual = 0.5F / static_cast<float>(shape.blocks);
  for (Index i = 0; i < shape.blocks; ++i) {
    auto& b = made.blocks.emplace_back();
    b.norm1 = b.norm2 = make_layer_norm(d);
    b.qkv = make_dense(d, 3 * d, 1, rng);
    b.projection = make_dense(d, d, residual, rng);
    b.up = make_dense(d, 4 * d, 2, rng);
    b.down = make_dense(4 * d, d, residual, rng);
  }
  made.head = make_dense(d, shape.vocabulary, 0.1F, rng);
  return made;
}

struct gpt_block_activations {
  normalized norm1;
  matrix in1, qkv;
  attended attention;
  normalized norm2;
  matrix in2, up;
};

struct gpt_activations {
  std::vector<gpt_block_activations> blocks;
  normalized norm;
  matrix out, scores;
};

[[nodiscard]] inline gpt_activations run(const gpt& model, const text_batch& seen) {
  gpt_activations a;
  const Index length = model.positions.rows();
  matrix x = look_up(model.tokens, seen.tokens);
  for (Index first = 0; first < x.rows(); first += length) x.middleRows(first, length) += model.positions;
  for (const auto& b : model.blocks) {
    auto& c = a.blocks.emplace_back();
    c.norm1 = normalize(x);
    c.in1 = forward(b.norm1, c.norm1);
    c.qkv = forward(b.qkv, c.in1);
    c.attention = attend({length, gpt_heads}, c.qkv);
    x += forward(b.projection, c.attention.mixed);
    c.norm2 = normalize(x);
    c.in2 = forward(b.norm2, c.norm2);
    c.up = relu(forward(b.up, c.in2));
    x += forward(b.down, c.up);
  }
  a.norm = normalize(x);
  a.out = forward(model.norm, a.norm);
  a.scores = forward(model.head, a.out);
  return a;
}

[[nodiscard]] inline score evaluate(const gpt& model, const text_batch& seen) {
  const auto result = cross_entropy(run(model, seen).scores, seen.next);
  return {result.loss, static_cast<double>(result.correct) / static_cast<double>(seen.next.size())};
}

inline double differentiate(const gpt& model, const text_batch& seen, gpt& gradient) {
  const auto a = run(model, seen);
  const auto result = cross_entropy(a.scores, seen.next);
  const Index length = model.positions.rows();
  matrix d = backward(model.norm, a.norm, backward(model.head, a.out, result.delta, gradient.head), gradient.norm);
  for (std::size_t i = model.blocks.size(); i-- > 0;) {
    const auto& b = model.blocks[i];
    const auto& c = a.blocks[i];
    auto& g = gradient.blocks[i];
    matrix inner = relu_gradient(c.up, backward(b.down, c.up, d, g.down));
    d += backward(b.norm2, c.norm2, backward(b.up, c.in2, inner, g.up), g.norm2);
    inner = backward(b.projection, c.attention.mixed, d, g.projection);
    inner = attend_gradient({length, gpt_heads}, c.qkv, c.attention, inner);
    d += backward(b.norm1, c.norm1, backward(b.qkv, c.in1, inner, g.qkv), g.norm1);
  }
  look_up_gradient(seen.tokens, d, gradient.tokens);
  gradient.positions.setZero();
  for (Index first = 0; first < d.rows(); first += length) gradient.positions += d.middleRows(first, length);
  return result.loss;
}

}  // namespace bench::models

// SPDX-License-Identifier: MIT
// The layers that the models share, beside the convolution, pooling, ReLU and cross entropy of examples/lenet. A
// layer's weights are a plain struct; `forward` computes its outputs, and `backward` fills the gradient by the weights
// and returns that by the inputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "models/parameters.hpp"

namespace bench::models {

using lenet::convolution;
using lenet::cross_entropy;
using lenet::forward;
using lenet::geometry;
using lenet::pool_relu;
using lenet::pool_relu_gradient;
using lenet::relu;
using lenet::relu_gradient;

/// Normal numbers of mean 0.
[[nodiscard]] inline matrix draw_normal(Index rows, Index columns, float deviation, std::mt19937_64& rng) {
  std::normal_distribution<float> normal(0, deviation);
  matrix made(rows, columns);
  for (auto& value : made.reshaped()) value = normal(rng);
  return made;
}

// Dense: y = x W + b.

struct dense {
  matrix weight;  ///< [features in, features out]
  vector bias;    ///< [features out]
};

/// Variance of the weights: `gain` / inputs. 2 suits a ReLU (He et al. 2015).
[[nodiscard]] inline dense make_dense(Index inputs, Index outputs, float gain, std::mt19937_64& rng) {
  return {draw_normal(inputs, outputs, std::sqrt(gain / static_cast<float>(inputs)), rng), vector::Zero(outputs)};
}

[[nodiscard]] inline matrix forward(const dense& layer, const matrix& x) {
  matrix y = x * layer.weight;
  y.rowwise() += layer.bias.transpose();
  return y;
}

[[nodiscard]] inline matrix backward(const dense& layer, const matrix& x, const matrix& delta, dense& gradient) {
  gradient.weight.noalias() = x.transpose() * delta;
  gradient.bias = delta.colwise().sum().transpose();
  return delta * layer.weight.transpose();
}

// Convolution.

[[nodiscard]] inline convolution make_convolution(Index channels, const geometry& g, std::mt19937_64& rng) {
  return {draw_normal(channels, g.patch(), std::sqrt(2 / static_cast<float>(g.patch())), rng), vector::Zero(channels)};
}

[[nodiscard]] inline matrix backward(const convolution& layer, const geometry& g, const matrix& x, const matrix& delta,
                                     convolution& gradient) {
  lenet::weight_gradient(g, x, delta, gradient);
  return lenet::input_gradient(layer, g, delta);
}

// Layer normalization of each row (Ba et al. 2016).

struct layer_norm {
  vector scale, shift;  ///< [features]
};

[[nodiscard]] inline layer_norm make_layer_norm(Index features) {
  return {vector::Ones(features), vector::Zero(features)};
}

struct normalized {
  matrix rows;       ///< of mean 0 and variance 1
  vector deviation;  ///< of each row before
};

[[nodiscard]] inline normalized normalize(const matrix& x) {
  normalized n{x.colwise() - x.rowwise().mean(), {}};
  n.deviation = (n.rows.array().square().rowwise().mean() + 1e-5F).sqrt();
  n.rows.array().colwise() /= n.deviation.array();
  return n;
}

[[nodiscard]] inline matrix forward(const layer_norm& layer, const normalized& n) {
  matrix y = n.rows.array().rowwise() * layer.scale.transpose().array();
  y.rowwise() += layer.shift.transpose();
  return y;
}

[[nodiscard]] inline matrix backward(const layer_norm& layer, const normalized& n, const matrix& delta,
                                     layer_norm& gradient) {
  gradient.scale = delta.cwiseProduct(n.rows).colwise().sum().transpose();
  gradient.shift = delta.colwise().sum().transpose();
  const matrix d = delta.array().rowwise() * layer.scale.transpose().array();
  const vector along = d.cwiseProduct(n.rows).rowwise().mean();
  matrix dx = d.colwise() - d.rowwise().mean();
  dx.array() -= n.rows.array().colwise() * along.array();
  dx.array().colwise() /= n.deviation.array();
  return dx;
}

// Embedding: row `token` of the table for each token.

[[nodiscard]] inline matrix look_up(const matrix& table, std::span<const std::uint8_t> tokens) {
  matrix y(static_cast<Index>(tokens.size()), table.cols());
  for (std::size_t i = 0; i < tokens.size(); ++i) y.row(static_cast<Index>(i)) = table.row(tokens[i]);
  return y;
}

inline void look_up_gradient(std::span<const std::uint8_t> tokens, const matrix& delta, matrix& gradient) {
  gradient.setZero();
  for (std::size_t i = 0; i < tokens.size(); ++i) gradient.row(tokens[i]) += delta.row(static_cast<Index>(i));
}

// Causal self-attention. A row of `qkv` has the queries, keys and values of one position, of all heads one after
// another.

struct attention_shape {
  Index length, heads;  ///< positions of a sequence; rows of x are whole sequences
};

struct attended {
  matrix mixed;                ///< [positions, features]
  std::vector<matrix> shares;  ///< of each sequence and head: [query, key], each row sums up to 1
};

[[nodiscard]] inline attended attend(const attention_shape& shape, const matrix& qkv) {
  const Index features = qkv.cols() / 3, width = features / shape.heads, length = shape.length;
  attended result{matrix(qkv.rows(), features), {}};
  for (Index first = 0; first < qkv.rows(); first += length)
    for (Index h = 0; h < shape.heads; ++h) {
      const auto part = [&](Index which) { return qkv.block(first, which * features + h * width, length, width); };
      matrix p = part(0) * part(1).transpose() / std::sqrt(static_cast<float>(width));
      for (Index i = 0; i < length; ++i) {
        auto seen = p.row(i).head(i + 1);
        seen = (seen.array() - seen.maxCoeff()).exp();
        seen /= seen.sum();
        p.row(i).tail(length - i - 1).setZero();
      }
      result.mixed.block(first, h * width, length, width).noalias() = p * part(2);
      result.shares.push_back(std::move(p));
    }
  return result;
}

[[nodiscard]] inline matrix attend_gradient(const attention_shape& shape, const matrix& qkv, const attended& a,
                                            const matrix& delta) {
  const Index features = qkv.cols() / 3, width = features / shape.heads, length = shape.length;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  matrix dx(qkv.rows(), qkv.cols());
  std::size_t next = 0;
  for (Index first = 0; first < qkv.rows(); first += length)
    for (Index h = 0; h < shape.heads; ++h) {
      const auto part = [&](auto& of, Index which) {
        return of.block(first, which * features + h * width, length, width);
      };
      const matrix& p = a.shares[next++];
      const auto d = delta.block(first, h * width, length, width);
      matrix ds = d * part(qkv, 2).transpose();
      const vector sums = ds.cwiseProduct(p).rowwise().sum();
      ds = p.cwiseProduct(ds.colwise() - sums) * scale;
      part(dx, 0).noalias() = ds * part(qkv, 1);
      part(dx, 1).noalias() = ds.transpose() * part(qkv, 0);
      part(dx, 2).noalias() = p.transpose() * d;
    }
  return dx;
}

}  // namespace bench::models

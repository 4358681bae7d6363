// SPDX-License-Identifier: MIT
// The layers of LeNet-5: their weights are plain structs, and free functions compute
// with them. A row is one image of a batch.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace lenet {

using Eigen::Index;
// [types]
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using vector = Eigen::VectorXf;
// [types]

struct convolution {
  matrix weight;  ///< [channels out, channels in * kernel * kernel]
  vector bias;    ///< [channels out]
};

// [linear]
struct linear {
  matrix weight;  ///< [features out, features in]
  vector bias;    ///< [features out]
};
// [linear]

/// Initial weights and biases as in PyTorch: uniform within 1 / sqrt(inputs of a
/// neuron).
template <class Layer, class Rng>
[[nodiscard]] Layer make_layer(Index outputs, Index inputs, Rng& rng) {
  const float bound = 1 / std::sqrt(static_cast<float>(inputs));
  std::uniform_real_distribution<float> uniform(-bound, bound);
  Layer layer{matrix(outputs, inputs), vector(outputs)};
  for (auto& w : layer.weight.reshaped()) w = uniform(rng);
  for (auto& b : layer.bias) b = uniform(rng);
  return layer;
}

// Linear: y = x W^T + b.

[[nodiscard]] inline matrix forward(const linear& layer, const matrix& x) {
  matrix y = x * layer.weight.transpose();
  y.rowwise() += layer.bias.transpose();
  return y;
}

/// The gradient of the loss by the weights, from `delta`, that by the outputs.
inline void weight_gradient(const matrix& x, const matrix& delta, linear& gradient) {
  gradient.weight.noalias() = delta.transpose() * x;
  gradient.bias = delta.colwise().sum().transpose();
}

/// The gradient of the loss by the inputs.
[[nodiscard]] inline matrix input_gradient(const linear& layer, const matrix& delta) {
  return delta * layer.weight;
}

// Convolution, as a product of matrices: one column of `patches` has the inputs of the
// kernel at one position (im2col).

struct geometry {
  Index channels, side, kernel, pad;

  [[nodiscard]] constexpr Index side_out() const { return side + 2 * pad - kernel + 1; }
  [[nodiscard]] constexpr Index pixels_out() const { return side_out() * side_out(); }
  [[nodiscard]] constexpr Index patch() const { return channels * kernel * kernel; }
};

/// Calls `run(offset in patches, offset in the image, length)` for every part of a row
/// that is contiguous in both.
template <class Run>
void for_each_run(const geometry& g, const Run& run) {
  const Index out = g.side_out();
  for (Index row = 0; row < g.patch(); ++row) {
    const Index dx = row % g.kernel - g.pad, dy = row / g.kernel % g.kernel - g.pad;
    const Index plane = row / (g.kernel * g.kernel) * g.side;
    const Index first = std::max<Index>(0, -dx), last = std::min(out, g.side - dx);
    for (Index y = std::max<Index>(0, -dy); y < std::min(out, g.side - dy); ++y) {
      run((row * out + y) * out + first, (plane + y + dy) * g.side + first + dx,
          last - first);
    }
  }
}

inline void gather(const geometry& g, const float* image, matrix& patches) {
  for_each_run(g, [&](Index p, Index i, Index n) {
    std::copy_n(image + i, n, patches.data() + p);
  });
}

inline void scatter_add(const geometry& g, const matrix& patches, float* image) {
  for_each_run(g, [&](Index p, Index i, Index n) {
    std::transform(image + i, image + i + n, patches.data() + p, image + i,
                   std::plus<>{});
  });
}

using image_map = Eigen::Map<matrix>;  // [channels, pixels] of one row
using const_image_map = Eigen::Map<const matrix>;

[[nodiscard]] inline matrix forward(const convolution& layer, const geometry& g,
                                    const matrix& x) {
  matrix y(x.rows(), layer.weight.rows() * g.pixels_out());
  matrix patches = matrix::Zero(g.patch(), g.pixels_out());  // the padding stays 0
  for (Index i = 0; i < x.rows(); ++i) {
    gather(g, x.row(i).data(), patches);
    image_map out(y.row(i).data(), layer.weight.rows(), g.pixels_out());
    out.noalias() = layer.weight * patches;
    out.colwise() += layer.bias;
  }
  return y;
}

inline void weight_gradient(const geometry& g, const matrix& x, const matrix& delta,
                            convolution& gradient) {
  gradient.weight.setZero();
  gradient.bias.setZero();
  matrix patches = matrix::Zero(g.patch(), g.pixels_out());
  for (Index i = 0; i < x.rows(); ++i) {
    gather(g, x.row(i).data(), patches);
    const const_image_map d(delta.row(i).data(), gradient.weight.rows(),
                            g.pixels_out());
    gradient.weight.noalias() += d * patches.transpose();
    gradient.bias += d.rowwise().sum();
  }
}

[[nodiscard]] inline matrix input_gradient(const convolution& layer, const geometry& g,
                                           const matrix& delta) {
  matrix dx = matrix::Zero(delta.rows(), g.channels * g.side * g.side);
  matrix patches(g.patch(), g.pixels_out());
  for (Index i = 0; i < delta.rows(); ++i) {
    const const_image_map d(delta.row(i).data(), layer.weight.rows(), g.pixels_out());
    patches.noalias() = layer.weight.transpose() * d;
    scatter_add(g, patches, dx.row(i).data());
  }
  return dx;
}

// Maximum of 2 x 2, then ReLU (in this order: the same result for a quarter of the
// work).

/// Calls `cell(index of the result, index of the largest of the four)`. `side` is the
/// side of one plane of `x`; it is even.
template <class Cell>
void for_each_maximum(const matrix& x, Index side, const Cell& cell) {
  Index to = 0;
  for (Index from = 0; from < x.size(); from += 2 * side) {
    for (Index i = from; i < from + side; i += 2) {
      const float* v = x.data() + i;
      const Index top = v[1] > v[0], low = side + (v[side + 1] > v[side]);
      cell(to++, i + (v[low] > v[top] ? low : top));
    }
  }
}

[[nodiscard]] inline matrix pool_relu(const matrix& x, Index side) {
  matrix y(x.rows(), x.cols() / 4);
  for_each_maximum(x, side, [&](Index to, Index at) {
    y.data()[to] = std::max(0.0F, x.data()[at]);
  });
  return y;
}

[[nodiscard]] inline matrix pool_relu_gradient(const matrix& x, Index side,
                                               const matrix& delta) {
  matrix dx = matrix::Zero(x.rows(), x.cols());
  for_each_maximum(x, side, [&](Index to, Index at) {
    dx.data()[at] = x.data()[at] > 0 ? delta.data()[to] : 0.0F;
  });
  return dx;
}

[[nodiscard]] inline matrix relu(const matrix& x) { return x.cwiseMax(0.0F); }

/// The gradient by the inputs, from the outputs `y` of `relu`.
[[nodiscard]] inline matrix relu_gradient(const matrix& y, const matrix& delta) {
  return (y.array() > 0).select(delta, 0.0F);
}

struct loss_and_delta {
  float loss;           ///< mean cross entropy of the batch
  std::size_t correct;  ///< images whose largest score is that of their label
  matrix delta;         ///< the gradient of the loss by the scores
};

[[nodiscard]] inline loss_and_delta cross_entropy(
    const matrix& scores, const std::vector<std::uint8_t>& labels) {
  loss_and_delta result{0, 0, scores};
  const auto count = static_cast<float>(scores.rows());
  for (Index i = 0; i < scores.rows(); ++i) {
    auto p = result.delta.row(i);
    const Index label = labels[static_cast<std::size_t>(i)];
    Index best = 0;
    p.array() -= p.maxCoeff(&best);
    p = p.array().exp();
    p /= p.sum();
    result.loss -= std::log(std::max(p(label), 1e-30F)) / count;
    result.correct += best == label ? 1 : 0;
    p(label) -= 1;
    p /= count;
  }
  return result;
}

}  // namespace lenet

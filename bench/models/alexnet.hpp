// SPDX-License-Identifier: MIT
// AlexNet (Krizhevsky et al. 2012), scaled to images of 28 x 28 pixels: five convolutions, three poolings, three dense
// layers; no dropout.
#pragma once

#include <random>

#include "models/data.hpp"
#include "models/layers.hpp"

namespace bench::models {

struct alexnet {
  convolution conv1, conv2, conv3, conv4, conv5;
  dense fc1, fc2, fc3;
};

namespace alex {
inline constexpr geometry g1{.channels = 1, .side = 28, .kernel = 5, .pad = 2};   // pooled to 14 x 14
inline constexpr geometry g2{.channels = 16, .side = 14, .kernel = 3, .pad = 2};  // 16 x 16, pooled to 8 x 8
inline constexpr geometry g3{.channels = 32, .side = 8, .kernel = 3, .pad = 1};
inline constexpr geometry g4{.channels = 48, .side = 8, .kernel = 3, .pad = 1};
inline constexpr geometry g5{.channels = 48, .side = 8, .kernel = 3, .pad = 1};  // pooled to 4 x 4
}  // namespace alex

[[nodiscard]] inline alexnet make_alexnet(std::mt19937_64& rng) {
  alexnet made;
  made.conv1 = make_convolution(16, alex::g1, rng);
  made.conv2 = make_convolution(32, alex::g2, rng);
  made.conv3 = make_convolution(48, alex::g3, rng);
  made.conv4 = make_convolution(48, alex::g4, rng);
  made.conv5 = make_convolution(32, alex::g5, rng);
  made.fc1 = make_dense(512, 256, 2, rng);
  made.fc2 = make_dense(256, 256, 2, rng);
  made.fc3 = make_dense(256, 10, 1, rng);
  return made;
}

namespace alex {

struct activations {
  matrix conv1, pool1, conv2, pool2, conv3, conv4, conv5, pool5, fc1, fc2, scores;
};

[[nodiscard]] inline activations run(const alexnet& net, const matrix& images) {
  activations a;
  a.conv1 = forward(net.conv1, g1, images);
  a.pool1 = pool_relu(a.conv1, g1.side_out());
  a.conv2 = forward(net.conv2, g2, a.pool1);
  a.pool2 = pool_relu(a.conv2, g2.side_out());
  a.conv3 = relu(forward(net.conv3, g3, a.pool2));
  a.conv4 = relu(forward(net.conv4, g4, a.conv3));
  a.conv5 = forward(net.conv5, g5, a.conv4);
  a.pool5 = pool_relu(a.conv5, g5.side_out());
  a.fc1 = relu(forward(net.fc1, a.pool5));
  a.fc2 = relu(forward(net.fc2, a.fc1));
  a.scores = forward(net.fc3, a.fc2);
  return a;
}

}  // namespace alex

[[nodiscard]] inline score evaluate(const alexnet& net, const lenet::batch& seen) {
  return score_of(cross_entropy(alex::run(net, seen.images).scores, seen.labels), seen);
}

inline double differentiate(const alexnet& net, const lenet::batch& seen, alexnet& gradient) {
  using namespace alex;
  const auto a = run(net, seen.images);
  const auto result = cross_entropy(a.scores, seen.labels);
  matrix d = backward(net.fc3, a.fc2, result.delta, gradient.fc3);
  d = backward(net.fc2, a.fc1, relu_gradient(a.fc2, d), gradient.fc2);
  d = backward(net.fc1, a.pool5, relu_gradient(a.fc1, d), gradient.fc1);
  d = backward(net.conv5, g5, a.conv4, pool_relu_gradient(a.conv5, g5.side_out(), d), gradient.conv5);
  d = backward(net.conv4, g4, a.conv3, relu_gradient(a.conv4, d), gradient.conv4);
  d = backward(net.conv3, g3, a.pool2, relu_gradient(a.conv3, d), gradient.conv3);
  d = backward(net.conv2, g2, a.pool1, pool_relu_gradient(a.conv2, g2.side_out(), d), gradient.conv2);
  lenet::weight_gradient(g1, seen.images, pool_relu_gradient(a.conv1, g1.side_out(), d), gradient.conv1);
  return result.loss;
}

}  // namespace bench::models

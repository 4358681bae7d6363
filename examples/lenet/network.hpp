// SPDX-License-Identifier: MIT
// LeNet-5 (LeCun et al. 1998): its weights, its scores for a batch of images, and the
// gradient of its loss.
#pragma once

#include <random>

#include "dataset.hpp"
#include "layers.hpp"

namespace lenet {

struct network {
  convolution conv1, conv2;
  linear fc1, fc2, fc3;
};

// 28 x 28 -> 28 x 28
inline constexpr geometry conv1_geometry{
    .channels = 1, .side = 28, .kernel = 5, .pad = 2};
// 14 x 14 -> 10 x 10
inline constexpr geometry conv2_geometry{
    .channels = 6, .side = 14, .kernel = 5, .pad = 0};

template <class Rng>
[[nodiscard]] network make_network(Rng& rng) {
  // one statement per layer: the order of the random numbers is part of the result
  network made;
  made.conv1 = make_layer<convolution>(6, conv1_geometry.patch(), rng);
  made.conv2 = make_layer<convolution>(16, conv2_geometry.patch(), rng);
  made.fc1 = make_layer<linear>(120, 16 * 5 * 5, rng);
  made.fc2 = make_layer<linear>(84, 120, rng);
  made.fc3 = make_layer<linear>(10, 84, rng);
  return made;
}

/// Calls `body` for every weight and bias, with the corresponding ones of all
/// `networks`: (weights, gradients, ...).
template <class Body, class... Networks>
void for_each_parameter(const Body& body, Networks&... networks) {
  const auto layer = [&](auto&... layers) {
    body(layers.weight...);
    body(layers.bias...);
  };
  layer(networks.conv1...);
  layer(networks.conv2...);
  layer(networks.fc1...);
  layer(networks.fc2...);
  layer(networks.fc3...);
}

/// A network of the shapes of `like`, all zeros: for gradients and for the state of an
/// optimizer.
[[nodiscard]] inline network zeros(const network& like) {
  network made = like;
  for_each_parameter([](auto& parameter) { parameter.setZero(); }, made);
  return made;
}

/// The outputs of every layer for a batch, which the backward pass needs.
struct activations {
  matrix conv1, pool1, conv2, pool2, fc1, fc2, scores;
};

[[nodiscard]] inline activations forward(const network& net, const matrix& images) {
  activations a;
  a.conv1 = forward(net.conv1, conv1_geometry, images);
  a.pool1 = pool_relu(a.conv1, conv1_geometry.side_out());
  a.conv2 = forward(net.conv2, conv2_geometry, a.pool1);
  a.pool2 = pool_relu(a.conv2, conv2_geometry.side_out());
  a.fc1 = relu(forward(net.fc1, a.pool2));
  a.fc2 = relu(forward(net.fc2, a.fc1));
  a.scores = forward(net.fc3, a.fc2);
  return a;
}

/// Fills `gradient` (of the shape of `net`) with the gradient of the mean loss of
/// `seen`.
inline loss_and_delta backward(const network& net, const batch& seen,
                               network& gradient) {
  const activations a = forward(net, seen.images);
  auto result = cross_entropy(a.scores, seen.labels);
  matrix delta = result.delta;
  weight_gradient(a.fc2, delta, gradient.fc3);
  delta = relu_gradient(a.fc2, input_gradient(net.fc3, delta));
  weight_gradient(a.fc1, delta, gradient.fc2);
  delta = relu_gradient(a.fc1, input_gradient(net.fc2, delta));
  weight_gradient(a.pool2, delta, gradient.fc1);
  delta = pool_relu_gradient(a.conv2, conv2_geometry.side_out(),
                             input_gradient(net.fc1, delta));
  weight_gradient(conv2_geometry, a.pool1, delta, gradient.conv2);
  delta = pool_relu_gradient(a.conv1, conv1_geometry.side_out(),
                             input_gradient(net.conv2, conv2_geometry, delta));
  weight_gradient(conv1_geometry, seen.images, delta, gradient.conv1);
  return result;
}

}  // namespace lenet

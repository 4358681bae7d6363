// SPDX-License-Identifier: MIT
// Labelled images of handwritten digits, and batches of them.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "layers.hpp"

namespace lenet {

inline constexpr std::size_t image_side = 28;
inline constexpr std::size_t image_pixels = image_side * image_side;

/// Grey images of 28 x 28 pixels in one array, and the digit that each shows (0 to 9).
struct dataset {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  [[nodiscard]] std::size_t size() const noexcept { return labels.size(); }

  /// Keeps the first `count` images.
  void limit(std::size_t count) {
    if (count >= size()) return;
    pixels.resize(count * image_pixels);
    labels.resize(count);
  }
};

struct digits {
  dataset train, test;
};

/// One mini-batch: a row per image, with a mean of about 0 and a standard deviation of
/// about 1.
struct batch {
  matrix images;                     ///< [count, 784]
  std::vector<std::uint8_t> labels;  ///< [count]
};

/// The images with the indices `which`.
[[nodiscard]] inline batch pick(const dataset& from,
                                std::span<const std::uint64_t> which) {
  constexpr float mean = 0.13F * 255, deviation = 0.31F * 255;
  batch picked{matrix(static_cast<Eigen::Index>(which.size()),
                      static_cast<Eigen::Index>(image_pixels)),
               {}};
  picked.labels.reserve(which.size());
  float* out = picked.images.data();
  for (const std::size_t place : which) {
    const auto image =
        std::span(from.pixels).subspan(place * image_pixels, image_pixels);
    for (const auto grey : image)
      *out++ = (static_cast<float>(grey) - mean) / deviation;
    picked.labels.push_back(from.labels[place]);
  }
  return picked;
}

}  // namespace lenet

// SPDX-License-Identifier: MIT
// Draws synthetic digits, for use without the MNIST files: each is a line of fixed
// shape, shifted, slanted and distorted at random.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "dataset.hpp"

namespace lenet {

struct point {
  float x, y;
};
using stroke = std::vector<point>;

/// The shapes of 0 to 9: one line each, in a square of 100 x 100, y downwards.
inline const std::array<stroke, 10> strokes{{
    {{50, 3},
     {76, 14},
     {86, 50},
     {76, 86},
     {50, 97},
     {24, 86},
     {14, 50},
     {24, 14},
     {50, 3}},
    {{34, 22}, {56, 3}, {56, 97}},
    {{18, 26}, {33, 6}, {66, 6}, {80, 26}, {70, 50}, {18, 96}, {86, 96}},
    {{20, 12},
     {46, 3},
     {76, 14},
     {76, 36},
     {46, 48},
     {80, 60},
     {82, 82},
     {50, 97},
     {18, 86}},
    {{66, 97}, {66, 3}, {14, 66}, {90, 66}},
    {{80, 5}, {28, 5}, {22, 44}, {56, 40}, {82, 58}, {78, 86}, {50, 97}, {18, 86}},
    {{70, 4},
     {36, 28},
     {18, 66},
     {28, 90},
     {58, 97},
     {80, 78},
     {68, 54},
     {38, 54},
     {20, 72}},
    {{14, 6}, {86, 6}, {44, 97}},
    {{50, 48},
     {24, 30},
     {34, 6},
     {66, 6},
     {76, 30},
     {50, 48},
     {20, 70},
     {30, 95},
     {70, 95},
     {80, 70},
     {50, 48}},
    {{76, 40}, {44, 52}, {20, 34}, {30, 8}, {62, 3}, {79, 20}, {76, 40}, {64, 97}},
}};

/// Distance of `p` from the line between `a` and `b`.
[[nodiscard]] inline float distance(point p, point a, point b) {
  const point ab{b.x - a.x, b.y - a.y}, ap{p.x - a.x, p.y - a.y};
  const float along = std::clamp(
      (ap.x * ab.x + ap.y * ab.y) / (ab.x * ab.x + ab.y * ab.y + 1e-6F), 0.0F, 1.0F);
  return std::hypot(ap.x - along * ab.x, ap.y - along * ab.y);
}

/// Draws `digit` once, with random distortions, into 28 x 28 pixels.
template <class Rng>
void draw(std::size_t digit, Rng& rng, std::uint8_t* pixels) {
  const auto about = [&](float middle, float spread) {
    return std::uniform_real_distribution<float>(middle - spread, middle + spread)(rng);
  };
  const point centre{about(13.5F, 2.5F), about(13.5F, 2.5F)},
      size{about(16, 4), about(19, 3)};
  const float slant = about(0.1F, 0.3F), turn = about(0, 0.2F), pen = about(1.2F, 0.5F),
              ink = about(225, 30);

  stroke line = strokes[digit];
  for (auto& p : line) {
    const float y = (p.y + about(0, 4)) / 100 - 0.5F;
    const float x = (p.x + about(0, 4)) / 100 - 0.5F - slant * y;
    p = {centre.x + size.x * x - turn * size.y * y,
         centre.y + size.y * y + turn * size.x * x};
  }
  for (std::size_t i = 0; i < image_pixels; ++i) {
    const point here{static_cast<float>(i % image_side),
                     static_cast<float>(i / image_side)};
    float nearest = image_side;
    for (std::size_t k = 1; k < line.size(); ++k)
      nearest = std::min(nearest, distance(here, line[k - 1], line[k]));
    const float grey =
        ink * std::clamp(pen + 0.5F - nearest, 0.0F, 1.0F) + about(0, 25);
    pixels[i] = static_cast<std::uint8_t>(std::clamp(grey, 0.0F, 255.0F));
  }
}

/// `count` digits. The same seed gives the same digits.
[[nodiscard]] inline dataset draw_dataset(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_int_distribution<unsigned> any_digit(0, 9);
  dataset drawn{std::vector<std::uint8_t>(count * image_pixels),
                std::vector<std::uint8_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const auto digit = any_digit(rng);
    drawn.labels[i] = static_cast<std::uint8_t>(digit);
    draw(digit, rng, drawn.pixels.data() + i * image_pixels);
  }
  return drawn;
}

/// A data set of fixed size, or its first `limit` images. It is the same in every
/// process, like a file.
[[nodiscard]] inline digits draw_digits(std::size_t limit) {
  return {draw_dataset(std::min<std::size_t>(limit, 8000), 28),
          draw_dataset(std::min<std::size_t>(limit, 2000), 29)};
}

}  // namespace lenet

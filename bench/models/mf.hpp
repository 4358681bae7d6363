// SPDX-License-Identifier: MIT
// Matrix factorization: a rating is the product of a user's and an item's factors.
#pragma once

#include <cmath>
#include <random>

#include "models/data.hpp"
#include "models/layers.hpp"

namespace bench::models {

struct mf {
  matrix users, items;  ///< [count, factors]
};

[[nodiscard]] inline mf make_mf(Index users, Index items, Index factors, std::mt19937_64& rng) {
  const float deviation = 0.3F / std::sqrt(static_cast<float>(factors));
  matrix u = draw_normal(users, factors, deviation, rng);
  return {std::move(u), draw_normal(items, factors, deviation, rng)};
}

inline constexpr float mf_decay = 0.02F;  ///< of the factors of a rating, beside its squared error

[[nodiscard]] inline float error_of(const mf& model, const rating& seen) {
  return seen.value - model.users.row(seen.user).dot(model.items.row(seen.item));
}

/// The loss is the mean of the squared errors, in the scale -1 to 1.
[[nodiscard]] inline score evaluate(const mf& model, const std::vector<rating>& seen) {
  double squares = 0;
  for (const auto& r : seen) squares += std::pow(static_cast<double>(error_of(model, r)), 2);
  return {squares / static_cast<double>(seen.size()), 0};
}

/// Fills `gradient`, row by row, with the mean over the row's ratings of the gradient of (error^2 + decay * (|user|^2 +
/// |item|^2)) / 2. A step thus moves a user of few ratings in the batch as far as an item of many. Returns the mean of
/// the squared errors.
inline double differentiate(const mf& model, const std::vector<rating>& seen, mf& gradient) {
  gradient.users.setZero();
  gradient.items.setZero();
  vector user_count = vector::Zero(model.users.rows()), item_count = vector::Zero(model.items.rows());
  double squares = 0;
  for (const auto& r : seen) {
    const float e = error_of(model, r);
    gradient.users.row(r.user) += mf_decay * model.users.row(r.user) - e * model.items.row(r.item);
    gradient.items.row(r.item) += mf_decay * model.items.row(r.item) - e * model.users.row(r.user);
    user_count(r.user) += 1;
    item_count(r.item) += 1;
    squares += static_cast<double>(e * e);
  }
  gradient.users.array().colwise() /= user_count.array().max(1);
  gradient.items.array().colwise() /= item_count.array().max(1);
  return squares / static_cast<double>(seen.size());
}

}  // namespace bench::models

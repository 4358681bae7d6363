// SPDX-License-Identifier: MIT
// Sums over the images of a batch, which the ranks of a job form together.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../lenet/network.hpp"

namespace lenet {

/// Gradients, losses and right answers, one image at a time. All are added as whole
/// multiples of 2^-40. The sum of whole numbers does not depend on their order, as that
/// of floating-point numbers does: any number of ranks computes the same bits.
class batch_sums {
 public:
  /// All 0, for gradients of the shapes of `like`.
  explicit batch_sums(const network& like) {
    std::size_t weights = 0;
    for_each_parameter(
        [&](const auto& p) { weights += static_cast<std::size_t>(p.size()); }, like);
    numbers_.resize(weights + 2);
  }

  void add(const network& gradient, const loss_and_delta& result) {
    auto* to = numbers_.data();
    for_each_parameter(
        [&](const auto& p) {
          if (!(p.cwiseAbs().maxCoeff() < limit))
            throw std::runtime_error("a gradient is too large, or no number");
          to = std::transform(p.data(), p.data() + p.size(), to, to,
                              [](float g, auto sum) { return sum + fixed(g); });
        },
        gradient);
    loss() += fixed(result.loss);
    correct() += static_cast<std::int64_t>(result.correct);
  }

  /// Adds those of all ranks, at all ranks.
  void reduce(MPI_Comm ranks) {
    MPI_Allreduce(MPI_IN_PLACE, numbers_.data(), static_cast<int>(numbers_.size()),
                  MPI_INT64_T, MPI_SUM, ranks);
  }

  void mean_gradient(std::size_t images, network& gradient) const {
    const auto* from = numbers_.data();
    for_each_parameter(
        [&](auto& p) {
          std::transform(from, from + p.size(), p.data(), [&](auto sum) {
            return static_cast<float>(mean(sum, images));
          });
          from += p.size();
        },
        gradient);
  }
  [[nodiscard]] double mean_loss(std::size_t images) const {
    return mean(numbers_[numbers_.size() - 2], images);
  }
  [[nodiscard]] std::uint64_t all_correct() const {
    return static_cast<std::uint64_t>(numbers_.back());
  }

 private:
  static constexpr double one = std::uint64_t{1} << 40U;
  static constexpr float limit = 1 << 10;  // 8,000 images of it stay below 2^63

  [[nodiscard]] static std::int64_t fixed(float x) {
    return static_cast<std::int64_t>(static_cast<double>(x) * one);
  }
  [[nodiscard]] static double mean(std::int64_t sum, std::size_t images) {
    return static_cast<double>(sum) / (one * static_cast<double>(images));
  }
  [[nodiscard]] std::int64_t& loss() { return numbers_[numbers_.size() - 2]; }
  [[nodiscard]] std::int64_t& correct() { return numbers_.back(); }

  // of the weights, then the loss and the number of right answers
  std::vector<std::int64_t> numbers_;
};

}  // namespace lenet

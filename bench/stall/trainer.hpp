// SPDX-License-Identifier: MIT
// A trainer that rewrites its whole state in every step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "save_load/state.hpp"

namespace bench {

/// A transformer and both Adam moments in about `mib` MiB, with values such as training makes: normal weights of
/// deviation 0.02, gradients of 1e-4 and their squares.
[[nodiscard]] training_state trained_state(std::size_t mib);

/// Changes every element once, as fast as one core's memory allows; values keep their distribution.
void rewrite(training_state& state, std::uint64_t step);

/// Changes every element once after some arithmetic: about 2 ns of one core each, far more than the memory takes.
void compute_and_rewrite(training_state& state, std::uint64_t step);

/// As `compute_and_rewrite`, but every element takes a random walk: steps of at most 2^-10 of what it is.
void compute_and_wander(training_state& state, std::uint64_t step);

/// The elements of all tensors.
[[nodiscard]] std::vector<std::span<const float>> arrays_of(const training_state& state);

}  // namespace bench

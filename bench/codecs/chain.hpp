// SPDX-License-Identifier: MIT
// Lossy deltas over a chain of checkpoints, and what else one would make of the same weights.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "codecs/contest.hpp"
#include "codecs/method.hpp"
#include "codecs/trainer.hpp"

namespace bench {

struct chain_methods {
  std::vector<method> deltas;  ///< lossy, of differences to the reference: all deltas of the chain, one after the other
  std::vector<method> whole;   ///< without loss: the newest snapshot, by itself
  std::function<method(double tolerance)> bounded;  ///< lossy, with a bound for the error; may be null
};

/// The deltas begin at an exact copy of the oldest snapshot. What they give back is compared, bit for bit, with what
/// their writer took it for, and their errors are those of the worst snapshot of the chain. `bounded` takes, once for
/// each of `deltas`, the newest snapshot with that largest error, and the difference of the oldest two with the largest
/// error of its delta. memcpy copies every snapshot but the oldest.
[[nodiscard]] std::vector<result> compare_chain(std::span<const parameter> parameters, const weight_chain& chain,
                                                const chain_methods& methods, const patience& how);

}  // namespace bench

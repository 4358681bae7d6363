// SPDX-License-Identifier: MIT
// How even the bytes are that ranks really write, where a codec makes the leaves of a state smaller by different
// factors.
#pragma once

#include "common/arguments.hpp"
#include "common/report.hpp"

namespace bench {

/// Trains LeNet-5 with Adam and with SGD and saves it with four threads as ranks. Adds `balance_encoded.lenet.4`.
void measure_encoded_balance(const arguments& options, report& numbers);

}  // namespace bench

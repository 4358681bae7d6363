// SPDX-License-Identifier: MIT
// How fast parity is computed.
#pragma once

#include <cstddef>

#include "common/report.hpp"

namespace bench {

/// Two rows of six chunks in memory, over ISA-L alone.
void measure_parity(std::size_t repetitions, report& to);

}  // namespace bench

// SPDX-License-Identifier: MIT
#include "find.hpp"

namespace units {

finding avx2() { return find(); }

}  // namespace units

// SPDX-License-Identifier: MIT
#include "find.hpp"

namespace units {

finding plain() { return find(); }

}  // namespace units

// SPDX-License-Identifier: MIT
#include "find.hpp"

namespace units {

finding native() { return find(); }

}  // namespace units

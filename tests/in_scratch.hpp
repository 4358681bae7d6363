// SPDX-License-Identifier: MIT
// What test cases have that work in a directory of their own.
#pragma once

#include "store/sample.hpp"

namespace tests {

struct in_scratch {
  const sample::scratch scratch;
};

}  // namespace tests

// SPDX-License-Identifier: MIT
// The state of the consumer.
#pragma once

#include <string>
#include <vector>

struct training {
  std::vector<float> weights;
  std::string name;
  long step = 0;
};

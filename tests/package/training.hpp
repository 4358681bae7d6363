// The state of the consumer's two units.
#pragma once

#include <string>
#include <vector>

struct training {
  std::vector<float> weights;
  std::string name;
  long step = 0;
};

void save(const std::string& folder, const training& state);

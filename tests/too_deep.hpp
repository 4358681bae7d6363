// SPDX-License-Identifier: MIT
// A state that every save refuses: it is nested deeper than a state may be.
#pragma once

#include "cairn/state/base.hpp"
#include "standard.hpp"

namespace tests {

struct nested {
  std::map<std::string, std::unique_ptr<nested>> inner;
};

inline nested too_deep() {
  nested deep;
  auto* at = &deep;
  for (unsigned depth = 0; depth < cairn::detail::max_nesting; ++depth)
    at = (at->inner["x"] = std::make_unique<nested>()).get();
  return deep;
}

}  // namespace tests

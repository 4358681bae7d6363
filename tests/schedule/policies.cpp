// SPDX-License-Identifier: MIT
#include "cairn/schedule/policies.hpp"

#include "catch.hpp"

// Naming a policy takes this header alone.
static_assert(cairn::policy<cairn::policies::adaptive> && cairn::policy<cairn::policies::young> &&
              cairn::policy<cairn::policies::daly> && cairn::policy<cairn::policies::checkfreq> &&
              cairn::policy<cairn::policies::coci> && cairn::policy<cairn::policies::any_of> &&
              cairn::policy<cairn::policies::every_steps> && cairn::policy<cairn::policies::every>);

// SPDX-License-Identifier: MIT
// expect: include cairn/adapters/boost_multi_array.hpp
// expect: "weights: boost::multi_array<double
#include <boost/multi_array.hpp>

#include "cairn/state/describe.hpp"

struct state {
  boost::multi_array<double, 2> weights;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here

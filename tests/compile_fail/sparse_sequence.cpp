// SPDX-License-Identifier: MIT
// expect: would be lost
// expect: "a: boost::numeric::ublas::
// expect: "b: boost::numeric::ublas::
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // uBLAS derives from std::iterator
#include <boost/numeric/ublas/vector_sparse.hpp>

#include "cairn/state/describe.hpp"

struct first {
  boost::numeric::ublas::mapped_vector<double> a;
};
struct second {
  boost::numeric::ublas::compressed_vector<double> b;
};

void check(const first& s) { (void)cairn::detail::describe(s); }   // here
void check(const second& s) { (void)cairn::detail::describe(s); }  // here

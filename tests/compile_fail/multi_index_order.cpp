// SPDX-License-Identifier: MIT
// expect: an order of its own
// expect: "all: boost::multi_index::
// expect: "list: boost::multi_index::
#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index/sequenced_index.hpp>
#include <boost/multi_index_container.hpp>

#include "cairn/state/describe.hpp"

namespace mi = boost::multi_index;

struct state {
  mi::multi_index_container<int, mi::indexed_by<mi::ordered_unique<mi::identity<int>>, mi::sequenced<>>> all;
};
struct other {
  mi::multi_index_container<int, mi::indexed_by<mi::sequenced<>>> list;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
void check(const other& s) { (void)cairn::detail::describe(s); }  // here

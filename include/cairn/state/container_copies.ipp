// SPDX-License-Identifier: MIT
// Definitions of container_copies.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/state/container_copies.hpp"

namespace cairn::inline v0_1::detail {

void check_limits(const size_limits& limits, std::uint64_t stored) {
  const bool few = stored < limits.least;
  if (few || stored > limits.most)
    fail(errc::mismatch, {"has ", stored, " elements in the checkpoint, and in the state it can have ",
                          few ? "no fewer than " : "at most ", few ? limits.least : limits.most,
                          few || limits.makes_elements ? "" : ", since their type has no default constructor",
                          few                     ? "; give it that size before the load"
                          : limits.makes_elements ? "; give it more room"
                                                  : "; make them before the load",
                          ", or leave it out with filter"});
}

void fail_order() { fail(errc::mismatch, {order_is_null}); }

void check_distinct(std::size_t size, std::size_t stored) {
  if (size != stored)
    fail(errc::mismatch,
         {"has ", stored, " keys or elements in the checkpoint, of which the container in the state takes ", size,
          ", as some are equal; a vector, a multiset or a multimap takes them all, or leave them out with filter"});
}

void check_columns(std::size_t keys, std::size_t values) {
  if (keys != values)
    fail(errc::mismatch, {"has ", keys, " keys and ", values,
                          " values in the checkpoint, so it is no map there; leave it out with filter"});
}

}  // namespace cairn::inline v0_1::detail

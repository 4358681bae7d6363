// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/targets.hpp"

#include <hwy/targets.h>

#include "cairn/encode/simd/lc_kernels.hpp"
#include "cairn/encode/simd/lossless_kernels.hpp"
#include "catch.hpp"

namespace {

struct kernels {
  std::int64_t target;
};

constexpr kernels wide{4}, narrow{2}, least{1};
constexpr const kernels* all[] = {&wide, &narrow, &least};

/// The targets of a family's tables, the best first.
template <class Kernels>
std::vector<std::int64_t> targets_of(cairn::detail::simd::kernel_tables<Kernels> tables) {
  std::vector<std::int64_t> targets;
  for (const auto* each : tables) targets.push_back(each->target);
  return targets;
}

}  // namespace

TEST_CASE("tables that the machine cannot run are left out, but for the last") {
  const auto first_of = [](std::int64_t supported) {
    const auto found = cairn::detail::simd::runnable<kernels>(all, supported);
    CHECK(found.back() == &least);
    return found.front();
  };
  CHECK(first_of(7) == &wide);
  CHECK(first_of(3) == &narrow);
  CHECK(first_of(1) == &least);
  CHECK(first_of(0) == &least);
}

TEST_CASE("every family of kernels is compiled for the same targets, and the best one is chosen") {
  using namespace cairn::detail::simd;
  const auto expected = targets_of<planes_kernels>(all_planes());
  // Compiled once, targets that are better (lower) than the one of the flags are all there.
  for (const std::int64_t target : {HWY_AVX2, HWY_AVX3})
    if (target < HWY_STATIC_TARGET && (hwy::SupportedTargets() & target) != 0)
      CHECK(std::count(expected.begin(), expected.end(), target) == 1);
  CHECK(planes().target == expected.front());
  CHECK(targets_of<zeros_kernels>(all_zeros()) == expected);
  CHECK(targets_of<buckets_kernels>(all_buckets()) == expected);
  CHECK(targets_of<half_floats_kernels>(all_half_floats()) == expected);
  CHECK(targets_of<symbols_kernels>(all_symbols()) == expected);
  CHECK(zeros().target == expected.front());
  CHECK(buckets().target == expected.front());
  CHECK(half_floats().target == expected.front());
  CHECK(symbols().target == expected.front());
}

// SPDX-License-Identifier: MIT
// Compares what the units say. Silent when all is well.
#include <cstdio>
#include <string>

#include <hwy/highway.h>

#include "unit.hpp"

namespace {

int failures = 0;

void check_targets(const char* unit, const units::finding& found) {
  // Of Highway's targets, the better ones have the smaller numbers.
  const auto here = hwy::SupportedTargets();
  std::int64_t enough = HWY_STATIC_TARGET;
  if ((here & HWY_AVX2) != 0) enough = HWY_AVX2;
  for (const auto& [family, target] : found.targets) {
    if (target != 0 && (here & target) != 0 && target <= enough) continue;
    std::printf("unit %s: %s: target %lld is chosen, not %lld or a better one\n", unit, family.c_str(),
                static_cast<long long>(target), static_cast<long long>(enough));
    ++failures;
  }
}

void check_results(const char* unit, const units::finding& found, const units::finding& expected) {
  for (const auto& [what, result] : expected.results) {
    const auto at = found.results.find(what);
    if (at != found.results.end() && at->second == result) continue;
    std::printf("unit %s: %s: not what the plain unit has\n", unit, what.c_str());
    ++failures;
  }
}

}  // namespace

int main() {
  const auto plain = units::plain();
  check_targets("plain", plain);
  for (const auto* codec : {"lossless", "lc2", "lc3"}) {  // else not all kernels have been used
    const auto at = plain.codecs.find(codec + std::string(" of F32"));
    if (at != plain.codecs.end() && at->second == codec) continue;
    std::printf("%s did not encode\n", codec);
    ++failures;
  }
  const auto native = units::native();
  check_targets("native", native);
  check_results("native", native, plain);
  if ((hwy::SupportedTargets() & HWY_AVX2) != 0) {
    const auto avx2 = units::avx2();
    check_targets("avx2", avx2);
    check_results("avx2", avx2, plain);
  }
  return failures == 0 ? 0 : 1;
}

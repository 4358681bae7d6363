#include "cairn/encode/simd/targets.hpp"

#include "catch.hpp"

namespace {

struct kernels {
  int number;
};

constexpr kernels wide{3}, narrow{2}, least{1};
constexpr std::int64_t none = 0;  // a target that no machine has

}  // namespace

TEST_CASE("the first table that the machine can run is taken, and the last one when there is none") {
  const std::int64_t here = HWY_STATIC_TARGET;
  const cairn::simd::choice<kernels> first[] = {{here, &wide}, {here, &narrow}, {here, &least}};
  const cairn::simd::choice<kernels> second[] = {{none, &wide}, {here, &narrow}, {here, &least}};
  const cairn::simd::choice<kernels> last[] = {{none, &wide}, {none, &narrow}, {none, &least}};
  CHECK(first[0].runs());
  CHECK_FALSE(second[0].runs());
  CHECK(cairn::simd::best(first).number == 3);
  CHECK(cairn::simd::best(second).number == 2);
  CHECK(cairn::simd::best(last).number == 1);
}

#include "cairn/state/record.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace {

struct layer {
  std::vector<float> weight;
  float bias[3];
  std::string größe;
};

}  // namespace

TEST_CASE("fields come by name and by reference, in order") {
  layer object{{1}, {1, 2, 3}, "x"};
  std::string names;
  cairn::detail::for_each_field(object, [&](std::string_view name, auto& field) {
    names += std::string(name) + ' ';
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(field)>, std::string>) field = "changed";
  });
  CHECK(names == "weight bias größe ");
  CHECK(object.größe == "changed");
  STATIC_REQUIRE(std::is_same_v<cairn::detail::field_type<layer, 1>, float[3]>);
}

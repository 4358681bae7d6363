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
  auto fields = cairn::detail::tie(object);
  using boost::pfr::detail::sequence_tuple::get;
  CHECK(cairn::detail::stored_field_name<layer, 0>.view() == "weight");
  CHECK(cairn::detail::stored_field_name<layer, 1>.view() == "bias");
  CHECK(cairn::detail::stored_field_name<layer, 2>.view() == "größe");
  get<2>(fields) = "changed";
  CHECK(object.größe == "changed");
  CHECK(get<1>(fields)[2] == 3);
  STATIC_REQUIRE(std::is_same_v<cairn::detail::field_type<layer, 1>, float[3]>);
}

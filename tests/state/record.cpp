#include "cairn/state/record.hpp"

#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace {

struct layer {
  std::vector<float> weight;
  float bias[3];
  std::string größe;
};
struct twelve_fields {
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11;
  int last[2] = {12, 13};
};

}  // namespace

TEST_CASE("fields come by name and by reference, in order") {
  layer object{{1}, {1, 2, 3}, "x"};
  const auto fields = cairn::detail::tie_fields(object);
  CHECK(cairn::detail::stored_field_name<layer, 0>.view() == "weight");
  CHECK(cairn::detail::stored_field_name<layer, 1>.view() == "bias");
  CHECK(cairn::detail::stored_field_name<layer, 2>.view() == "größe");
  std::get<2>(fields) = "changed";
  CHECK(object.größe == "changed");
  CHECK(std::get<1>(fields)[2] == 3);
  STATIC_REQUIRE(std::is_same_v<cairn::detail::field_types<layer>,
                                cairn::detail::type_list<std::vector<float>, float[3], std::string>>);
  const layer& constant = object;
  STATIC_REQUIRE(std::is_same_v<decltype(std::get<2>(cairn::detail::tie_fields(constant))), const std::string&>);
}

TEST_CASE("more fields than ten come in order") {
  twelve_fields object;
  const auto fields = cairn::detail::tie_fields(object);
  CHECK(std::get<8>(fields) == 9);
  CHECK(std::get<10>(fields) == 11);
  CHECK(std::get<11>(fields)[1] == 13);
  CHECK(cairn::detail::stored_field_name<twelve_fields, 9>.view() == "j");
  CHECK(cairn::detail::stored_field_name<twelve_fields, 11>.view() == "last");
}

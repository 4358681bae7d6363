// SPDX-License-Identifier: MIT
#include "cairn/state/type_id.hpp"

#include "catch.hpp"

namespace {

struct named {
  virtual ~named() = default;
  int number = 0;
};
struct layer {
  virtual ~layer() = default;
};
struct dense : named, layer {};
struct plain {};

}  // namespace

TEST_CASE("an object is found whole from a base class of it, with its class") {
  STATIC_REQUIRE(cairn::detail::has_rtti);
  const dense object;
  const layer& base = object;
  REQUIRE(static_cast<const void*>(&base) != &object);
  const auto found = cairn::detail::whole_object(base);
  CHECK(found.address == &object);
  CHECK(*found.type == *cairn::detail::type_info_of<dense>);
  CHECK(*found.type != *cairn::detail::type_info_of<layer>);
}

TEST_CASE("an object of a class without virtual functions is of that class") {
  const plain object;
  const auto found = cairn::detail::whole_object(object);
  CHECK(found.address == &object);
  CHECK(*found.type == typeid(plain));
}

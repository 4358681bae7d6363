// SPDX-License-Identifier: MIT
#include "cairn/state/type_id.hpp"

#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

using cairn::detail::type_id;
using cairn::detail::type_id_of;

namespace nets {
struct dense {
  float weight[3];
};
template <class T>
struct box {};
}  // namespace nets

namespace {
struct hidden {};
}  // namespace

TEST_CASE("each type is equal to itself alone") {
  struct local {};
  const std::vector<type_id> all{type_id_of<int>,
                                 type_id_of<unsigned>,
                                 type_id_of<long>,
                                 type_id_of<long long>,
                                 type_id_of<std::string>,
                                 type_id_of<nets::dense>,
                                 type_id_of<hidden>,
                                 type_id_of<local>,
                                 type_id_of<nets::box<int>>,
                                 type_id_of<nets::box<hidden>>,
                                 type_id_of<nets::box<nets::dense>>,
                                 type_id{}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size(); ++j) CHECK((all[i] == all[j]) == (i == j));
  CHECK(std::set<type_id>(all.begin(), all.end()).size() == all.size());
}

TEST_CASE("a type is known by its name and its size, in every shared library") {
  CHECK(type_id_of<nets::dense> == type_id{"nets::dense", 12, nullptr});
  CHECK(type_id_of<nets::dense> != type_id{"nets::dense", 16, nullptr});
}

TEST_CASE("types of the same name in the anonymous namespaces of two units are not equal") {
  const type_id other{type_id_of<hidden>.name, sizeof(hidden), &other};
  CHECK(type_id_of<hidden> != other);
  CHECK(type_id_of<nets::box<hidden>>.unique != nullptr);
}

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

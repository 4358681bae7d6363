// SPDX-License-Identifier: MIT
#include "cairn/state/pointer_type.hpp"

#include "catch.hpp"

using cairn::detail::type_id;
using cairn::detail::type_id_of;

namespace nets {
struct dense {
  float weight[3];
};
template <class T>
struct box {
  struct inner {};
};
}  // namespace nets

namespace {
struct hidden {};
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

struct named {
  virtual ~named() = default;
  int number = 0;
};
struct second_base {
  virtual ~second_base() = default;
};
struct whole : named, second_base {};
struct plain {};

TEST_CASE("an object is found whole from a base class of it, with its class") {
  STATIC_REQUIRE(cairn::detail::has_rtti);
  const whole object;
  const second_base& base = object;
  REQUIRE(static_cast<const void*>(&base) != &object);
  const auto found = cairn::detail::whole_object(base);
  CHECK(found.address == &object);
  CHECK(*found.type == *cairn::detail::type_info_of<whole>);
  CHECK(*found.type != *cairn::detail::type_info_of<second_base>);
}

TEST_CASE("an object of a class without virtual functions is of that class") {
  const plain object;
  const auto found = cairn::detail::whole_object(object);
  CHECK(found.address == &object);
  CHECK(*found.type == typeid(plain));
}

struct layer {
  virtual ~layer() = default;
};
struct dense : layer {
  double weight = 0;
};
template <class T>
struct convolution : layer {};
struct dropout : layer {};

}  // namespace

template <>
struct cairn::polymorphic<layer>
    : cairn::one_of<dense, cairn::named<"conv", convolution<std::string>, "convolution", "dropout">,
                    cairn::named<"drop", dropout>, cairn::named<"nets::deep", convolution<unsigned long>>> {};

TEST_CASE("a class of a list has the name that it was given, or its own without namespaces") {
  const auto& list = cairn::detail::class_list_of<layer>();
  const auto name_of = [&](const std::type_info& type) { return list.find(type)->names.front(); };
  CHECK(name_of(typeid(dense)) == "dense");
  CHECK(name_of(typeid(convolution<std::string>)) == "conv");
  CHECK(name_of(typeid(dropout)) == "drop");
  CHECK(name_of(typeid(convolution<unsigned long>)) == "nets::deep");
  CHECK(list.find(typeid(layer)) == nullptr);
}

TEST_CASE("a class of a list is found by its name, its former names, and its own name in any namespace") {
  const auto& list = cairn::detail::class_list_of<layer>();
  const auto check = [&](const std::type_info& type, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      CAPTURE(name);
      REQUIRE(list.find(std::string_view(name)));
      CHECK(*list.find(std::string_view(name))->dynamic == type);
    }
  };
  check(typeid(dense), {"dense", "{anonymous}::dense", "(anonymous namespace)::dense", "nets::v1::dense"});
  check(typeid(convolution<std::string>), {"conv", "convolution", "dropout"});
  check(typeid(dropout), {"drop", "{anonymous}::dropout"});
  check(typeid(convolution<unsigned long>), {"nets::deep"});
  for (const char* name : {"", "deep", "::", "dense>", "nets::conv", "box<dense>", "{anonymous}::convolution<int>"})
    CHECK(!list.find(std::string_view(name)));
}

TEST_CASE("the name of a class is the last identifier, which one made by a template does not have") {
  using cairn::detail::stored_class_name;
  struct local {};
  STATIC_REQUIRE(stored_class_name<nets::dense>() == "dense");
  STATIC_REQUIRE(stored_class_name<hidden>() == "hidden");
  STATIC_REQUIRE(stored_class_name<local>() == "local");
  STATIC_REQUIRE(stored_class_name<nets::box<nets::dense>>().empty());
  STATIC_REQUIRE(stored_class_name<nets::box<nets::dense>::inner>() == "inner");
}

TEST_CASE("the type of a pointer says what it takes") {
  constexpr auto& any = cairn::detail::pointer_type_of<const layer>;
  CHECK(any.is_const);
  CHECK(any.takes(cairn::detail::type_id_of<dense>));
  CHECK(!any.takes(cairn::detail::type_id_of<layer>));
  CHECK(!any.takes(cairn::detail::unlisted_type));
  constexpr auto& one = cairn::detail::pointer_type_of<dense>;
  CHECK(!one.is_const);
  CHECK(one.takes(cairn::detail::type_id_of<dense>));
  CHECK(!one.takes(cairn::detail::type_id_of<dropout>));
}

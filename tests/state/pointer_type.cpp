// SPDX-License-Identifier: MIT
#include "cairn/state/pointer_type.hpp"

#include <string>

#include "catch.hpp"

namespace {

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
                    cairn::named<"drop", dropout>, convolution<unsigned long>> {};

TEST_CASE("a class of a list has the name that it was given, or its own") {
  const auto& list = cairn::detail::class_list_of<layer>();
  const auto name_of = [&](const std::type_info& type) { return list.name(*list.find(type)); };
  CHECK(name_of(typeid(dense)) == "(anonymous namespace)::dense");
  CHECK(name_of(typeid(convolution<std::string>)) == "conv");
  CHECK(name_of(typeid(dropout)) == "drop");
  CHECK(name_of(typeid(convolution<unsigned long>)) == "(anonymous namespace)::convolution<unsigned long>");
  CHECK(list.find(typeid(layer)) == nullptr);
}

TEST_CASE("a class of a list is found by its name, its former names, and all spellings of its own name") {
  const auto& list = cairn::detail::class_list_of<layer>();
  const auto check = [&](const std::type_info& type, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      CAPTURE(name);
      REQUIRE(list.find(std::string_view(name)));
      CHECK(*list.find(std::string_view(name))->dynamic == type);
    }
  };
  check(typeid(dense), {"{anonymous}::dense", "(anonymous namespace)::dense"});
  check(typeid(convolution<std::string>),
        {"conv", "convolution", "dropout", "{anonymous}::convolution<std::__cxx11::basic_string<char> >",
         "(anonymous namespace)::convolution<std::basic_string<char>>"});
  check(typeid(dropout), {"drop", "{anonymous}::dropout"});
  check(typeid(convolution<unsigned long>),
        {"{anonymous}::convolution<long unsigned int>", "(anonymous namespace)::convolution<unsigned long>"});
  for (const char* name : {"", "dense", "convolution<float>", "{anonymous}::convolution<int>"})
    CHECK(!list.find(std::string_view(name)));
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

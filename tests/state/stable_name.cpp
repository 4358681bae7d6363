// SPDX-License-Identifier: MIT
#include "cairn/state/stable_name.hpp"

#include <map>
#include <string>
#include <vector>

#include "cairn/state/any_state.hpp"
#include "cairn/state/member_name.hpp"
#include "catch.hpp"

namespace nets {
inline namespace v1 {
struct dense {};
template <class T>
struct moved {};
}  // namespace v1
enum class mode { slow, fast };
struct relu {};
template <class T, class Activation = relu>
struct layer {};
template <int N, mode Mode, bool On>
struct fixed {};
template <std::size_t N>
struct sized {};
}  // namespace nets

namespace {
struct hidden {};

template <class T>
std::string name_of() {
  return cairn::detail::stable_name(typeid(T), cairn::detail::type_name<T>());
}

}  // namespace

TEST_CASE("the version of Cairn is not in stored names") {
  CHECK(name_of<nets::layer<cairn::detail::walker>>() == "nets::layer<cairn::detail::walker>");
  CHECK(cairn::detail::portable_name("box<cairn::v12_34::view<float> >") == "box<cairn::view<float>>");
  CHECK(cairn::detail::portable_name("box<cairn::v1::view<float> >") == "box<cairn::v1::view<float>>");
  CHECK(cairn::detail::portable_name("box<other::v1_2::view<float> >") == "box<other::v1_2::view<float>>");
}

// The same text with g++ and clang.
TEST_CASE("the stored name of a type does not depend on the compiler") {
  CHECK(name_of<nets::relu>() == "nets::relu");
  CHECK(name_of<nets::dense>() == "nets::v1::dense");
  CHECK(name_of<nets::moved<nets::dense>>() == "nets::v1::moved<nets::v1::dense>");
  CHECK(name_of<nets::layer<nets::dense>>() == "nets::layer<nets::v1::dense>");
  CHECK(name_of<nets::layer<float>>() == "nets::layer<float>");
  CHECK(name_of<nets::layer<float, nets::dense>>() == "nets::layer<float, nets::v1::dense>");
  CHECK(name_of<nets::layer<unsigned long>>() == "nets::layer<unsigned long>");
  CHECK(name_of<nets::layer<std::int64_t>>() == "nets::layer<long>");
  CHECK(name_of<nets::layer<unsigned short>>() == "nets::layer<unsigned short>");
  CHECK(name_of<nets::layer<unsigned long long>>() == "nets::layer<unsigned long long>");
  CHECK(name_of<nets::layer<long long>>() == "nets::layer<long long>");
  CHECK(name_of<nets::layer<unsigned char>>() == "nets::layer<unsigned char>");
  CHECK(name_of<nets::layer<signed char>>() == "nets::layer<signed char>");
  CHECK(name_of<nets::layer<unsigned>>() == "nets::layer<unsigned int>");
  CHECK(name_of<nets::layer<long double>>() == "nets::layer<long double>");
  CHECK(name_of<nets::layer<const float*>>() == "nets::layer<const float*>");
  CHECK(name_of<nets::layer<std::string>>() == "nets::layer<std::basic_string<char>>");
  CHECK(name_of<nets::layer<std::map<std::string, std::vector<nets::dense>>>>() ==
        "nets::layer<std::map<std::basic_string<char>, std::vector<nets::v1::dense>>>");
  CHECK(name_of<nets::fixed<-3, nets::mode::fast, true>>() == "nets::fixed<-3, nets::mode::fast, true>");
  CHECK(name_of<nets::sized<3>>() == "nets::sized<3>");
  CHECK(name_of<nets::layer<nets::sized<7>, nets::moved<unsigned>>>() ==
        "nets::layer<nets::sized<7>, nets::v1::moved<unsigned int>>");
  CHECK(name_of<hidden>() == "(anonymous namespace)::hidden");
}

TEST_CASE("the spelling of each compiler has the same portable name") {
  const std::string name = cairn::detail::portable_name("dense<std::__cxx11::basic_string<char>, long unsigned int>");
  CHECK(name == "dense<std::basic_string<char>, unsigned long>");
  CHECK(cairn::detail::portable_name("dense<std::__1::basic_string<char >,unsigned long>") == name);
  CHECK(cairn::detail::portable_name(name) == name);
  CHECK(cairn::detail::portable_name("{anonymous}::a<short unsigned int, signed char, __int128 unsigned, 3ul>") ==
        "(anonymous namespace)::a<unsigned short, signed char, unsigned __int128, 3>");
  CHECK(cairn::detail::portable_name("__gnu::a<long double, long int>") == "__gnu::a<long double, long>");
  CHECK(cairn::detail::portable_name("") == "");
}

TEST_CASE("names get the inline namespaces that clang leaves out") {
  using cairn::detail::with_inline_namespaces;
  CHECK(with_inline_namespaces("a::b", "a::v1::b") == "a::v1::b");
  CHECK(with_inline_namespaces("b", "v1::b") == "v1::b");
  CHECK(with_inline_namespaces("a::b<c, (m)1, d::e>", "a::v1::b<c, m::one, d::v2::e, std::allocator<x, y>, z>") ==
        "a::v1::b<c, (m)1, d::v2::e>");
  CHECK(with_inline_namespaces("a<b<c>, d>", "a<b<c, f<c>>, x::d, g>") == "a<b<c>, x::d>");
  CHECK(with_inline_namespaces("f()::a", "f::a") == "f()::a");
  CHECK(with_inline_namespaces("a::b", "") == "a::b");
  CHECK(with_inline_namespaces("a::b", "<<<") == "a::b");
  CHECK(with_inline_namespaces("", "a::b") == "");
}

TEST_CASE("names with values that compilers spell differently are known") {
  using cairn::detail::has_portable_name;
  STATIC_REQUIRE(has_portable_name("a::b<unsigned long, 3>"));
  STATIC_REQUIRE(has_portable_name("{anonymous}::b<(anonymous namespace)::c>"));
  STATIC_REQUIRE(!has_portable_name("a<text<3>{\"ab\"}>"));
  STATIC_REQUIRE(!has_portable_name("{anonymous}::a<text{1}>"));
  STATIC_REQUIRE(!has_portable_name("a<' '>"));
  STATIC_REQUIRE(!has_portable_name("a<f()::<lambda(int)> >"));
}

TEST_CASE("messages name types as in C++") {
  CHECK(cairn::detail::readable_name(typeid(nets::relu)) == "nets::relu");
  CHECK(cairn::detail::readable_name(typeid(hidden)) == "(anonymous namespace)::hidden");
}

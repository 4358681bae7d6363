// SPDX-License-Identifier: MIT
#include "cairn/adapters/cereal.hpp"

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

using cairn::detail::category;
using cairn::detail::category_of;
using cairn::detail::inherits_cereal_functions;

struct plain {  // Cairn saves it better without its function
  int x = 0;
  std::vector<float> y;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x, y);
  }
};

struct preferring : plain {
  preferring() = default;
};

struct with_pointer {
  int* pointer = nullptr;
  template <class Archive>
  void serialize(Archive& ar) {
    int value = pointer ? *pointer : 0;
    ar(value);
    if (pointer) *pointer = value;
  }
};

struct array_of_pointers {
  int* pointers[2] = {};
};

struct of_records {
  array_of_pointers inner;
  template <class Archive>
  void serialize(Archive&) {}
};

struct with_base : plain {
  int z = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cereal::base_class<plain>(this), z);
  }
};

struct with_reference {
  int& x;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x);
  }
};

class no_functions {
  [[maybe_unused]] int x = 0;
};

class listed {
 public:
  static auto cairn_fields() { return cairn::fields<&listed::x>{}; }
  int x = 0;
  template <class Archive>
  void serialize(Archive&) {}

 private:
  [[maybe_unused]] int y = 0;
};

class adapted {
 public:
  template <class Archive>
  void serialize(Archive&) {}

 private:
  [[maybe_unused]] int x = 0;
};

/// An aggregate with the operations of a sequence, which would leave out its name: a record.
class named_sequence {
 public:
  using value_type = int;
  auto begin() { return values.begin(); }
  auto end() { return values.end(); }
  void resize(std::size_t size) { values.resize(size); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(values, name);
  }
  std::vector<int> values;
  std::string name;
};

// With own functions, and without, in each way.

class has_members {
 public:
  template <class Archive>
  void serialize(Archive&) {}
  int x = 0;
};

class has_split {
 public:
  template <class Archive>
  void save(Archive&) const {}
  template <class Archive>
  void load(Archive&) {}
  int x = 0;
};

class has_versions {
 public:
  template <class Archive>
  void serialize(Archive&, std::uint32_t) {}
  int x = 0;
};

class has_minimal {
 public:
  template <class Archive>
  int save_minimal(const Archive&) const {
    return 0;
  }
  template <class Archive>
  void load_minimal(const Archive&, const int&) {}
  int x = 0;
};

template <class T>
class has_free {
 public:
  T x{};
};
template <class Archive, class T>
void serialize(Archive&, has_free<T>&) {}

class has_free_split {
 public:
  int x = 0;
};
template <class Archive>
void save(Archive&, const has_free_split&, std::uint32_t) {}
template <class Archive>
void load(Archive&, has_free_split&, std::uint32_t) {}

class inherits_free : public has_free<int> {
  [[maybe_unused]] int y = 0;
};
template <class Base>
class inherits : public Base {
  [[maybe_unused]] int y = 0;
};

}  // namespace

template <>
inline constexpr bool cairn::use_bridge<preferring> = true;

template <>
struct cairn::adapter<adapted> {
  static int get(const adapted&) { return 0; }
  static void set(adapted&, int) {}
};

TEST_CASE("a type is saved through its cereal functions where Cairn would not save it, or not whole") {
  STATIC_REQUIRE(category_of<plain>() == category::record);
  STATIC_REQUIRE(category_of<preferring>() == category::bridged);
  STATIC_REQUIRE(category_of<with_pointer>() == category::bridged);
  STATIC_REQUIRE(category_of<of_records>() == category::bridged);
  STATIC_REQUIRE(category_of<with_base>() == category::bridged);
  STATIC_REQUIRE(category_of<with_reference>() == category::bridged);
  STATIC_REQUIRE(category_of<no_functions>() == category::unsupported);
  STATIC_REQUIRE(category_of<listed>() == category::listed);
  STATIC_REQUIRE(category_of<adapted>() == category::adapted);
  STATIC_REQUIRE(category_of<named_sequence>() == category::record);
  STATIC_REQUIRE(category_of<std::string>() == category::sequence);
  STATIC_REQUIRE(category_of<std::vector<plain>>() == category::sequence);
  STATIC_REQUIRE(category_of<std::map<std::string, plain>>() == category::map);
  STATIC_REQUIRE(cairn::loadable<named_sequence>);
}

TEST_CASE("functions that a class inherits are not its own") {
  const auto is_told = []<class... Own>(cairn::detail::type_list<Own...>) {
    return !(inherits_cereal_functions<Own> || ...) && (inherits_cereal_functions<inherits<Own>> && ...);
  };
  STATIC_REQUIRE(is_told(
      cairn::detail::type_list<has_members, has_split, has_versions, has_minimal, has_free<int>, has_free_split>()));
  STATIC_REQUIRE(inherits_cereal_functions<inherits_free>);
  STATIC_REQUIRE(!inherits_cereal_functions<with_base>);
}

TEST_CASE("a class with a base class comes back through its own function") {
  with_base original;
  original.x = 1, original.y = {2, 3}, original.z = 4;
  with_base loaded;
  CHECK(tests::comes_back(original, loaded));
  CHECK(loaded.x == 1);
  CHECK(loaded.z == 4);
}

// SPDX-License-Identifier: MIT
// Compares what a type becomes through Cairn with what it becomes through an archive of cereal.
#pragma once

#include <cereal/archives/binary.hpp>

#include "catch.hpp"
#include "state/kept.hpp"

namespace tests {

template <class T>
std::string cereal_bytes(const T& object) {
  std::ostringstream text;
  cereal::BinaryOutputArchive archive(text);
  archive(object);
  return text.str();
}

template <class T>
void load_cereal_bytes(T& object, const std::string& bytes) {
  std::istringstream text(bytes);
  cereal::BinaryInputArchive archive(text);
  archive(object);
}

template <class T>
T empty_object() {
  if constexpr (requires { T::empty_object(); })  // its default constructor is private
    return T::empty_object();
  else
    return T();
}

/// Objects that `T(random engine)` makes come back into empty and filled ones as they do through an archive of cereal.
template <class T>
void comes_back_as_through_cereal() {
  std::mt19937 next(17);
  for (int i = 0; i < 20; ++i) {
    const T original(next);
    const std::string bytes = cereal_bytes(original);
    T empty = empty_object<T>(), filled(next), through_cereal(next);
    load_cereal_bytes(through_cereal, bytes);
    REQUIRE(cereal_bytes(through_cereal) == bytes);
    CHECK(comes_back(original, empty));
    CHECK(cereal_bytes(empty) == bytes);
    CHECK(comes_back(original, filled));
    CHECK(cereal_bytes(filled) == bytes);
  }
}

}  // namespace tests

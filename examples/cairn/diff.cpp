// SPDX-License-Identifier: MIT
// The command diff: which arrays of two checkpoints differ, and by how much.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cairn/core/float_types.hpp"
#include "cairn/inspect.hpp"
#include "commands.hpp"
#include "json.hpp"
#include "place.hpp"
#include "printing.hpp"

namespace program {

namespace {

struct difference {
  std::string name, what;      ///< `what`: "values", or why they cannot be compared
  std::uint64_t elements = 0;  ///< that differ in a bit
  double largest = 0;          ///< |a - b|; infinite where one of them is no finite number
  double relative = 0;         ///< the Euclidean norm of a - b over that of the finite elements of a
};

template <class T>
void compare(std::span<const std::byte> a, std::span<const std::byte> b, difference& into) {
  long double squares = 0, of_a = 0;  // holds each integer, and the square of each double
  for (std::size_t at = 0; at < a.size(); at += sizeof(T)) {
    T x, y;
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    const auto wide = [](T value) {
      if constexpr (std::is_arithmetic_v<T>)
        return static_cast<long double>(value);
      else
        return static_cast<long double>(static_cast<float>(value));
    };
    const auto p = wide(x), q = wide(y);
    if (std::isfinite(p)) of_a += p * p;
    if (std::memcmp(&x, &y, sizeof x) == 0) continue;
    ++into.elements;
    const auto d =
        std::isfinite(p) && std::isfinite(q) ? std::abs(p - q) : std::numeric_limits<long double>::infinity();
    into.largest = std::max(into.largest, static_cast<double>(d));
    squares += d * d;
  }
  into.relative = squares == 0 ? 0 : static_cast<double>(std::sqrt(squares / of_a));
}

void compare(cairn::dtype type, std::span<const std::byte> a, std::span<const std::byte> b, difference& into) {
  using cairn::dtype;
  switch (type) {
    case dtype::boolean:
    case dtype::u8:
      return compare<std::uint8_t>(a, b, into);
    case dtype::i8:
      return compare<std::int8_t>(a, b, into);
    case dtype::u16:
      return compare<std::uint16_t>(a, b, into);
    case dtype::i16:
      return compare<std::int16_t>(a, b, into);
    case dtype::u32:
      return compare<std::uint32_t>(a, b, into);
    case dtype::i32:
      return compare<std::int32_t>(a, b, into);
    case dtype::u64:
      return compare<std::uint64_t>(a, b, into);
    case dtype::i64:
      return compare<std::int64_t>(a, b, into);
    case dtype::f8_e4m3:
      return compare<cairn::float8_e4m3>(a, b, into);
    case dtype::f8_e5m2:
      return compare<cairn::float8_e5m2>(a, b, into);
    case dtype::f16:
      return compare<cairn::float16>(a, b, into);
    case dtype::bf16:
      return compare<cairn::bfloat16>(a, b, into);
    case dtype::f32:
      return compare<float>(a, b, into);
    case dtype::f64:
      return compare<double>(a, b, into);
  }
}

/// The difference of an array that both have; no elements if they are the same.
difference compare(const cairn::checkpoint& a, const cairn::checkpoint& b, const std::string& name) {
  const auto one = a.tensor(name), other = b.tensor(name);
  difference made{.name = name, .what = "values"};
  if (one.type != other.type) {
    made.what = std::string(cairn::name(one.type)) + " and " + std::string(cairn::name(other.type));
  } else if (one.shape != other.shape) {
    made.what = cairn::to_string(one.shape) + " and " + cairn::to_string(other.shape);
  } else {
    std::vector<std::byte> x(one.bytes), y(one.bytes);
    a.read(name, x);
    b.read(name, y);
    compare(one.type, x, y, made);
  }
  return made;
}

}  // namespace

int diff(const std::string& first, const std::string& second, bool json) {
  const auto a = open_at(first), b = open_at(second);
  std::set<std::string> names;
  for (const auto* each : {&a, &b})
    for (const auto& tensor : each->tensors()) names.insert(tensor.name);
  std::vector<difference> found;
  {
    const progress shown(bytes_at(a.path()) + bytes_at(b.path()), json);
    for (const auto& name : names) {
      auto made = !b.contains(name)   ? difference{.name = name, .what = "only in the first"}
                  : !a.contains(name) ? difference{.name = name, .what = "only in the second"}
                                      : compare(a, b, name);
      if (made.what != "values" || made.elements > 0) found.push_back(std::move(made));
    }
  }
  if (json) {
    auto made = json_value::array();
    for (const auto& each : found) {
      json_value one{{"name", each.name}, {"what", each.what}};
      if (each.what == "values")
        one.update({{"elements", each.elements},
                    {"largest", number_json(each.largest)},
                    {"relative_l2", number_json(each.relative)}});
      made.push_back(std::move(one));
    }
    print(made);
  } else {
    table rows({"NAME", "DIFFERS IN", "ELEMENTS", "LARGEST", "RELATIVE L2"}, 2);
    for (const auto& each : found) {
      const bool has_values = each.what == "values";
      rows.row({each.name, each.what, has_values ? std::to_string(each.elements) : "",
                has_values ? number_text(each.largest) : "", has_values ? number_text(each.relative) : ""});
    }
    if (!found.empty()) rows.print();
    std::cout << found.size() << " of " << names.size() << " arrays differ\n";
  }
  return found.empty() ? 0 : 1;
}

}  // namespace program

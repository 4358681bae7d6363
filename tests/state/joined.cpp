// SPDX-License-Identifier: MIT
#include "cairn/state/joined.hpp"

#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"
#include "state/refuses.hpp"

#include "cairn/fields.hpp"

namespace {

struct point {
  float x = 0;
  std::int16_t y = 0;
  friend bool operator==(const point&, const point&) = default;
};
struct branch {
  std::vector<std::uint8_t> bytes;
  std::optional<std::string> name;
  friend bool operator==(const branch&, const branch&) = default;
};
struct record {
  std::vector<float> values;
  int id = 0;
  std::string text;
  bool flag = false;
  std::vector<point> points;
  std::vector<std::string> tags;
  std::optional<std::vector<double>> extra;
  std::optional<point> place;
  std::vector<std::vector<int>> nested;
  std::array<std::vector<std::uint8_t>, 2> pair;
  std::list<branch> branches;
  std::deque<short> deque;
  std::set<int> set;
  std::map<std::string, float> table;
  std::vector<bool> bits;
  std::complex<double> z;
  std::array<point, 2> fixed;
  std::pair<int, std::vector<long>> two;
  std::optional<std::optional<int>> maybe;
  std::chrono::year_month_day day{std::chrono::year(2000), std::chrono::month(1), std::chrono::day(1)};
  friend bool operator==(const record&, const record&) = default;
};

class source {
 public:
  explicit source(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }
  void fill(auto& number)
  requires(std::is_arithmetic_v<std::remove_reference_t<decltype(number)>>)
  {
    number = static_cast<std::remove_reference_t<decltype(number)>>(random_() % 100);
  }
  void fill(bool& flag) { flag = below(2) == 1; }
  void fill(std::string& text) { text = std::string(below(4), static_cast<char>('a' + below(26))); }
  void fill(point& p) { fill(p.x), fill(p.y); }
  void fill(std::complex<double>& z) { z = {static_cast<double>(below(9)), static_cast<double>(below(9))}; }
  void fill(branch& b) { fill(b.bytes), fill(b.name); }
  void fill(std::vector<bool>& bits) {
    bits.resize(below(4));
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = below(2) == 1;
  }
  void fill(std::set<int>& set) {
    set.clear();
    for (auto left = below(4); left > 0; --left) set.insert(static_cast<int>(below(50)));
  }
  template <class T>
  void fill(std::vector<T>& all) {
    fill_all(all);
  }
  template <class T>
  void fill(std::list<T>& all) {
    fill_all(all);
  }
  template <class T>
  void fill(std::deque<T>& all) {
    fill_all(all);
  }
  template <class T, std::size_t N>
  void fill(std::array<T, N>& all) {
    for (auto& each : all) fill(each);
  }
  template <class A, class B>
  void fill(std::pair<A, B>& two) {
    fill(two.first), fill(two.second);
  }
  template <class T>
  void fill(std::optional<T>& maybe) {
    maybe.reset();
    if (below(2) == 1) fill(maybe.emplace());
  }
  void fill(std::map<std::string, float>& table) {
    table.clear();
    for (auto left = below(4); left > 0; --left) {
      std::string key;
      fill(key);
      fill(table[key]);
    }
  }
  void fill(record& r) {
    fill(r.values), fill(r.id), fill(r.text), fill(r.flag), fill(r.points), fill(r.tags), fill(r.extra), fill(r.place);
    fill(r.nested), fill(r.pair), fill(r.branches), fill(r.deque), fill(r.set), fill(r.table), fill(r.bits), fill(r.z);
    fill(r.fixed), fill(r.two), fill(r.maybe);
    r.day = std::chrono::year_month_day(std::chrono::year(static_cast<int>(2000 + below(50))),
                                        std::chrono::month(1 + static_cast<unsigned>(below(12))),
                                        std::chrono::day(1 + static_cast<unsigned>(below(28))));
  }
  template <class Container>
  Container make(std::size_t size) {
    Container all;
    all.resize(size);
    for (auto& each : all) fill(each);
    return all;
  }
  template <class Map>
  Map make_map(std::size_t size) {
    Map all;
    while (all.size() < size) {
      typename Map::key_type key{};
      if constexpr (std::is_integral_v<typename Map::key_type>)
        key = static_cast<typename Map::key_type>(random_());
      else
        key = std::to_string(random_() % 100000);
      fill(all[key]);
    }
    return all;
  }

 private:
  template <class T>
  void fill_all(T& all) {
    all.resize(below(4));
    for (auto& each : all) fill(each);
  }

  std::mt19937 random_;
};

bool is_joined(const tests::kept& kept, const std::string& path = "value") {
  const auto at = kept.contents.structure.find(path);
  return at != kept.contents.structure.end() && at->second.what == cairn::detail::structure_entry::kind::rows;
}

/// Loads `all` into each of `others`, and into an empty object.
template <class T>
void check_loads(const T& all, std::vector<T> others, bool joined) {
  const tests::kept kept(cairn::detail::describe(all));
  CHECK(is_joined(kept) == joined);
  others.emplace_back();
  for (auto& each : others) {
    kept.load(each);
    CHECK(each == all);
  }
}

template <class T>
void check_sizes(unsigned seed) {
  source from(seed);
  check_loads(from.make<T>(256), {from.make<T>(256), from.make<T>(300), from.make<T>(3)}, true);
  check_loads(from.make<T>(20), {from.make<T>(256), from.make<T>(20)}, false);
}

}  // namespace

TEST_CASE("vectors in a vector are joined") {
  std::vector<std::vector<float>> state(300);
  for (std::size_t i = 0; i < state.size(); ++i) state[i].assign(i % 5, static_cast<float>(i));
  const tests::kept kept(cairn::detail::describe(state));
  CHECK(kept.paths() == "ends value");
  CHECK(kept.contents.structure.at("value").number == 300);
  std::vector<std::vector<float>> fresh;
  kept.load(fresh);
  CHECK(fresh == state);
}

TEST_CASE("many small objects come back, joined or not, into objects of any size") {
  for (unsigned seed = 0; seed < 5; ++seed) {
    check_sizes<std::vector<record>>(seed);
    check_sizes<std::list<record>>(seed);
    check_sizes<std::vector<std::vector<branch>>>(seed);
    check_sizes<std::deque<std::optional<std::vector<std::string>>>>(seed);
    check_sizes<std::vector<std::vector<std::vector<point>>>>(seed);
    check_sizes<std::vector<std::vector<bool>>>(seed);
    check_sizes<std::vector<std::pair<int, std::optional<std::vector<int>>>>>(seed);
  }
}

TEST_CASE("maps of many small objects come back") {
  const auto check = []<class Map>(const Map*) {
    source from(7);
    const auto all = from.make_map<Map>(280), other = from.make_map<Map>(500), few = from.make_map<Map>(9);
    auto mixed = all;
    mixed.erase(mixed.begin());
    from.fill(mixed.begin()->second);
    check_loads(all, {other, few, mixed, all}, true);
    check_loads(few, {other, all}, false);
  };
  check(static_cast<const std::map<std::string, record>*>(nullptr));
  check(static_cast<const std::unordered_map<int, std::vector<float>>*>(nullptr));
  check(static_cast<const std::unordered_map<std::string, std::vector<std::vector<int>>>*>(nullptr));
}

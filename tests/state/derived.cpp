// SPDX-License-Identifier: MIT
#include "cairn/state/derived.hpp"

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "catch.hpp"

namespace {

using cairn::detail::may_lose_members;

struct ids : std::vector<int> {
  using std::vector<int>::vector;
};
struct named : std::vector<float> {
  std::string name;
};
struct redeclares : std::vector<float> {
  std::string name;
  [[nodiscard]] std::size_t size() const { return name.size(); }
};
struct named_map : std::map<int, int> {
  int version = 0;
};
struct named_queue : std::queue<int> {
  int version = 0;
};
struct counted_engine : std::mt19937 {
  int calls = 0;
};
struct counted_distribution : std::normal_distribution<> {
  int calls = 0;
};
struct named_pointer : std::shared_ptr<int> {
  int version = 0;
};
struct marked : std::optional<int> {
  bool mark = false;
};
struct named_atomic : std::atomic<int> {
  int version = 0;
};
template <class Derived>
struct crtp_container {
  using value_type = float;
  [[nodiscard]] float* data() { return static_cast<Derived*>(this)->values; }
  [[nodiscard]] std::size_t size() const { return 2; }
};
struct crtp : crtp_container<crtp> {
  float values[2];
};
template <class Derived>
struct crtp_owner {
  std::vector<float> values;
  using value_type = float;
  [[nodiscard]] auto begin() { return values.begin(); }
  [[nodiscard]] auto end() { return values.end(); }
  void resize(std::size_t to) { values.resize(to); }
};
struct crtp_of_owner : crtp_owner<crtp_of_owner> {};
struct named_crtp_of_owner : crtp_owner<named_crtp_of_owner> {
  std::string name;
};
struct named_crtp : crtp {
  std::string name;
};
class private_crtp : public crtp_owner<private_crtp> {
  [[maybe_unused]] int version_ = 0;
};

template <class... Types>
constexpr bool none_may = !(may_lose_members<Types>() || ...);
template <class... Types>
constexpr bool all_may = (may_lose_members<Types>() && ...);

}  // namespace

TEST_CASE(
    "types of the standard library, CRTP of an empty class, and derived classes of the same size have no further "
    "members") {
  STATIC_REQUIRE(none_may<std::vector<int>, std::vector<bool>, std::string, std::map<int, int>, std::optional<int>,
                          std::unordered_map<int, int>, std::shared_ptr<int>, std::unique_ptr<int>, std::weak_ptr<int>,
                          std::atomic<int>, std::mt19937, std::normal_distribution<>, std::filesystem::path>);
  STATIC_REQUIRE(none_may<ids, crtp, crtp_of_owner>);
}

TEST_CASE("a derived class that is larger, or that has room in padding, may have further members") {
  STATIC_REQUIRE(all_may<named, redeclares, named_map, named_queue, counted_engine, counted_distribution, named_pointer,
                         marked, named_atomic>);
}

TEST_CASE("an argument of its base class (CRTP) may have further members if the base class is not empty") {
  STATIC_REQUIRE(all_may<named_crtp_of_owner, private_crtp, named_crtp>);
}

#include "cairn/state/arity.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "state/records.hpp"

using tests::recursive;
using tests::without_default;

namespace {

struct none {};
struct one {
  int a;
};
struct arrays {
  int a[5];
  float b[2][3];
  int c;
};
struct library_types {
  std::optional<int> a;
  std::optional<std::vector<int>> b;
  std::variant<int, std::string> c;
  std::unique_ptr<int> d;
  std::shared_ptr<int> e;
  std::atomic<int> f;
  std::map<std::string, int> g;
  std::function<void()> h;
  std::array<int, 4> i;
  std::string j;
};
struct inner {
  int a;
  float b[3];
};
struct nested {
  inner a;
  inner b[2];
  std::vector<inner> c;
};
#if !defined(__clang__)  // which compiles the constructor whatever the initializer is
/// As a matrix of Eigen: claims to be made from any type, and does not compile if it is.
struct greedy {
  greedy() = default;
  template <class T>
  explicit greedy(const T& /*from*/) {
    static_assert(sizeof(T) == 0);
  }
};
struct with_greedy {
  std::optional<greedy> a;
  int b;
};
#endif
struct with_defaults {
  int a = 1;
  std::string b = "x";
};

}  // namespace

TEST_CASE("fields are counted one by one, C arrays as one") {
  using cairn::detail::arity;
  STATIC_REQUIRE(arity<none> == 0);
  STATIC_REQUIRE(arity<one> == 1);
  STATIC_REQUIRE(arity<arrays> == 3);
  STATIC_REQUIRE(arity<library_types> == 10);
  STATIC_REQUIRE(arity<nested> == 3);
  STATIC_REQUIRE(arity<recursive> == 3);
  STATIC_REQUIRE(arity<without_default> == 3);
#if !defined(__clang__)
  STATIC_REQUIRE(arity<with_greedy> == 2);
#endif
  STATIC_REQUIRE(arity<with_defaults> == 2);
}

// SPDX-License-Identifier: MIT
#include "cairn/schedule/base.hpp"

#include <functional>

#include "catch.hpp"

namespace {

struct cost {};

struct none {};
struct right {
  void saved(const cost&) {}
};
struct overloaded {
  void saved(int) {}
  void saved(const char*) {}
};
struct generic {
  template <class T>
  void saved(T) {}
};
class hidden {
  [[maybe_unused]] void saved(const cost&) {}
};
struct inherited : hidden {};
struct number {
  bool saved = false;
};
struct last final {
  void saved() {}
};
struct last_none final {};
struct counter {
  virtual ~counter() = default;
  [[nodiscard]] virtual std::unique_ptr<counter> clone() const = 0;
  int count = 0;
};
struct one final : counter {
  [[nodiscard]] std::unique_ptr<counter> clone() const override { return std::make_unique<one>(*this); }
};

}  // namespace

using cairn::detail::has_function_saved;
static_assert(!has_function_saved<none> && !has_function_saved<last_none>);
static_assert(has_function_saved<right> && has_function_saved<overloaded> && has_function_saved<generic>);
static_assert(has_function_saved<hidden> && has_function_saved<inherited> && has_function_saved<last>);
static_assert(!has_function_saved<number>);
static_assert(!cairn::detail::has_function_recall<right> && !cairn::detail::has_function_remember<right> &&
              !cairn::detail::has_function_restarted<right>);

TEST_CASE("a copy of what is owned behind an interface is deep, and it may be assigned to itself") {
  cairn::detail::cloned<counter> first(std::make_unique<one>());
  first->count = 1;
  auto second = first;
  second->count = 2;
  CHECK(first->count == 1);
  first = second;
  second->count = 3;
  CHECK(first->count == 2);
  const auto& itself = first;
  first = itself;
  CHECK(first->count == 2);
  first = std::move(second);
  CHECK(first->count == 3);
}

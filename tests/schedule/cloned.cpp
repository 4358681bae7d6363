#include "cairn/schedule/cloned.hpp"

#include "catch.hpp"

namespace {

struct counter {
  virtual ~counter() = default;
  [[nodiscard]] virtual std::unique_ptr<counter> clone() const = 0;
  int count = 0;
};
struct one final : counter {
  [[nodiscard]] std::unique_ptr<counter> clone() const override { return std::make_unique<one>(*this); }
};

}  // namespace

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

// SPDX-License-Identifier: MIT
#include "cairn/store/order.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>

#include "catch.hpp"

TEST_CASE("any items are sorted, also those that can only be moved") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> items(random() % 50);
    for (auto& item : items) item = std::to_string(random() % 30);
    if (round % 4 == 0) std::sort(items.begin(), items.end());
    auto expected = items;
    std::sort(expected.begin(), expected.end());
    std::vector<std::unique_ptr<std::string>> owned;
    for (const auto& item : items) owned.push_back(std::make_unique<std::string>(item));
    cairn::detail::sort_items(items, std::less<>());
    CHECK(items == expected);
    cairn::detail::sort_items(owned, [](const auto& a, const auto& b) { return *a < *b; });
    for (std::size_t i = 0; i < owned.size(); ++i) CHECK(*owned[i] == expected[i]);
  }
}

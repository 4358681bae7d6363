// SPDX-License-Identifier: MIT
#include "cairn/store/leaf_text.hpp"

#include <limits>
#include <string>

#include "catch.hpp"

using namespace cairn::detail;

namespace {

cairn::loss member_by_member(const std::string& text) {
  cairn::loss read;
  const auto lost = [&]() -> cairn::loss& { return read; };
  read_json(
      text, "text",
      json_object({loss_field("max_error", lost), loss_field("relative_l2", lost), loss_field("delta_l2", lost)}));
  return read;
}

}  // namespace

TEST_CASE("losses come back from members and from lists, with and without that of the delta") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const cairn::loss& lost : {cairn::loss{0.5, 0.1}, cairn::loss{0.5, 0.1, 0.3}, cairn::loss{0, 0, 0},
                                  cairn::loss{1e300, infinite, infinite}}) {
    json_writer members, list;
    members.begin_object();
    write_loss(members, lost);
    CHECK(member_by_member(members.end_object().take()) == lost);
    std::vector<double> numbers;
    list.begin_object();
    write_loss_list(list.key("lost"), lost).end_list();
    read_json(
        list.end_object().take(), "text",
        json_object({{"lost", json_list(json_real([&](const json_value& each) { numbers.push_back(each.real); }))}}));
    CHECK(read_loss_list(numbers) == lost);
  }
}

TEST_CASE("a list of another length is no loss") {
  const double four[] = {1, 2, 3, 4};
  for (const std::size_t length : {0U, 1U, 4U}) CHECK_FALSE(read_loss_list(std::span(four).first(length)));
}

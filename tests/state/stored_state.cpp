// SPDX-License-Identifier: MIT
#include "cairn/state/stored_state.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

namespace {

using cairn::detail::catalog;
using cairn::detail::structure_entry;
using names = std::vector<std::string>;

catalog sample_catalog() {
  catalog all;
  all.has_structure = true;
  for (const auto* const path : {"a", "a.b", "a.c.d", "ab", "e"}) all.leaves.push_back({path, cairn::dtype::f32, {2}});
  all.structure["a"] = {.what = structure_entry::kind::engaged, .number = 1};
  all.structure["f"] = {.what = structure_entry::kind::same, .text = "e"};
  all.structure["g"] = {.what = structure_entry::kind::same, .text = "nowhere"};
  return all;
}

}  // namespace

TEST_CASE("what is stored is found under its renamed path, and below it") {
  const catalog all = sample_catalog();
  const cairn::detail::match_options how{.rename = [](std::string_view path) { return std::string(path.substr(1)); },
                                         .filter = {}};
  const cairn::detail::stored_state stored(all, how);
  for (const auto& leaf : all.leaves) {
    CHECK(stored.find_leaf(leaf.path) == all.find(leaf.path));
    CHECK(stored.leaf("x" + leaf.path, 7) == &all.leaves[all.find(leaf.path)]);
    CHECK(stored.has_part("x" + leaf.path));
  }
  CHECK(stored.has_part("xa.c"));
  for (const auto* const path : {"a", "xb", "xa.d", "xc"}) CHECK_FALSE(stored.has_part(path));
  CHECK(stored.find_entry("xa") == &all.structure.at("a"));
  CHECK(stored.find_entry("a") == nullptr);
  CHECK(stored.find_leaf("f") == all.find("e"));
  CHECK(stored.find_leaf("g") == catalog::npos);
  CHECK(stored.leaf("xf", 2) == nullptr);  // a tied array that has the count already
  CHECK(stored.leaf("xf", 3) == &all.leaves[all.find("e")]);
}

TEST_CASE("what nothing uses is unexpected, if the filter selects it") {
  const catalog all = sample_catalog();
  cairn::detail::match_options how;
  const auto unexpected = [&](const auto& use) {
    cairn::detail::stored_state stored(all, how);
    use(stored);
    return stored.unexpected();
  };
  CHECK(unexpected([](auto&) {}) == names{"a", "ab", "e", "f", "g"});
  CHECK(unexpected([](auto& stored) { stored.use_all(""); }).empty());
  CHECK(unexpected([](auto& stored) { stored.use_all("a"); }) == names{"ab", "e", "f", "g"});
  CHECK(unexpected([](auto& stored) { stored.use_leaf("f"); }) == names{"a", "ab", "g"});
  CHECK(unexpected([](auto& stored) { stored.use_leaf("g"); }) == names{"a", "ab", "e", "f"});
  CHECK(unexpected([](auto& stored) { stored.use_leaf("a.c.d"); }) == names{"a", "a.b", "ab", "e", "f", "g"});
  how.filter = [](std::string_view path) { return path == "a.c.d" || path == "f"; };
  CHECK(unexpected([](auto&) {}) == names{"a.c.d", "f"});
  cairn::detail::stored_state stored(all, how);
  for (const auto* const path : {"a", "a.c", "a.c.d", "f"}) CHECK(stored.selects(path));
  for (const auto* const path : {"a.b", "ab", "e", "g"}) CHECK_FALSE(stored.selects(path));
  CHECK(stored.selects_some(""));
  CHECK(stored.selects_some("a"));
  CHECK_FALSE(stored.selects_some("a.c"));
  CHECK(stored.bytes() == 5 * 8);
}

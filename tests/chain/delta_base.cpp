// SPDX-License-Identifier: MIT
#include "cairn/chain/delta_base.hpp"

#include "catch.hpp"

using cairn::dtype;

TEST_CASE("a chain can be extended until its next anchor is due") {
  cairn::detail::delta_base chain;
  const cairn::chain_options every_third{.anchor_every = 3};
  CHECK_FALSE(chain.can_extend(1, every_third));
  chain.published({"step-000000001", 7}, 1, false);
  CHECK(chain.can_extend(2, every_third));
  CHECK_FALSE(chain.can_extend(1, every_third));  // it would replace its own parent
  CHECK_FALSE(chain.can_extend(2, {.anchor_every = 1}));
  chain.published({"step-000000002", 8}, 2, true);
  CHECK(chain.can_extend(3, every_third));
  chain.published({"step-000000003", 9}, 3, true);
  CHECK_FALSE(chain.can_extend(4, every_third));
  CHECK(chain.can_extend(4, {.anchor_every = std::nullopt}));
  CHECK(chain.parent() == cairn::detail::checkpoint_ref{"step-000000003", 9});
  CHECK(chain.deltas_to_merge() == 2);
  chain.merged(false);
  CHECK(chain.deltas_to_merge() == 0);
  CHECK_FALSE(chain.can_extend(4, every_third));
  chain.merged(true);
  CHECK(chain.can_extend(4, every_third));
  chain.clear();
  CHECK_FALSE(chain.can_extend(4, every_third));
}

TEST_CASE("a restored chain knows how long it is") {
  cairn::detail::delta_base chain;
  chain.restored({"step-000000005", 1}, 5, 4);
  CHECK(chain.deltas_to_merge() == 3);
  CHECK(chain.can_extend(6, {.anchor_every = 5}));
  CHECK_FALSE(chain.can_extend(6, {.anchor_every = 4}));
  CHECK_FALSE(chain.can_extend(5, {.anchor_every = 5}));
}

TEST_CASE("nothing is to be merged of a chain that was cleared") {
  cairn::detail::delta_base base;
  base.restored({"step-000000005", 7}, 5, 3);
  CHECK(base.deltas_to_merge() == 2);
  base.clear();
  CHECK(base.deltas_to_merge() == 0);
  CHECK_FALSE(base.parent());
}

TEST_CASE("references are found by path, type and shape") {
  cairn::detail::delta_base chain;
  CHECK_FALSE(chain.has_references());
  auto& made = chain.make("w", dtype::f32, {2, 3});
  CHECK(made.values.bytes().size() == 24);
  CHECK(chain.find("w", dtype::f32, {2, 3}) == &made);
  CHECK(chain.find("w", dtype::f32, {3, 2}) == nullptr);
  CHECK(chain.find("w", dtype::i32, {2, 3}) == nullptr);
  CHECK(chain.find("v", dtype::f32, {2, 3}) == nullptr);
  CHECK(chain.make("w", dtype::f16, {4}).values.bytes().size() == 8);
  CHECK(chain.find("w", dtype::f32, {2, 3}) == nullptr);
  chain.make("b", dtype::f32, {1});
  chain.keep_only({"b"});
  CHECK(chain.find("w", dtype::f16, {4}) == nullptr);
  CHECK(chain.find("b", dtype::f32, {1}) != nullptr);
  chain.forget();
  CHECK_FALSE(chain.has_references());
}

TEST_CASE("code tables do not end a chain") {
  cairn::detail::delta_base chain;
  chain.published({"step-000000001", 7}, 1, false);
  for (std::uint64_t id = 0; id < 10'000; ++id) chain.tables().add({id, {}});
  CHECK(chain.can_extend(2, {}));
}

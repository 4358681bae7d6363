// SPDX-License-Identifier: MIT
// The containers of Abseil, which need no adapter. Compiled where Abseil is installed.
#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>
#include <absl/container/node_hash_map.h>
#include <absl/types/optional.h>

#include "containers.hpp"

namespace {

using floats = std::vector<float>;

using sequences = std::tuple<absl::InlinedVector<float, 4>, absl::InlinedVector<floats, 2>>;
using associative = std::tuple<absl::btree_set<int>, absl::btree_map<int, float>, absl::btree_map<std::string, floats>,
                               absl::flat_hash_set<std::string>, absl::flat_hash_map<std::string, floats>,
                               absl::flat_hash_map<int, double>, absl::node_hash_map<std::string, floats>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("absl: sequences", "", sequences) { tests::check_container<TestType>(); }

TEMPLATE_LIST_TEST_CASE("absl: sets and maps", "", associative) { tests::check_container<TestType>(); }

TEST_CASE("absl: optionals") {
  struct state {
    absl::optional<floats> maybe;
  } original{floats{1, 2}}, fresh;
  CHECK(tests::comes_back(original, fresh));
  REQUIRE(fresh.maybe.has_value());
  CHECK(*fresh.maybe == floats{1, 2});
}

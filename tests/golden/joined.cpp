// SPDX-License-Identifier: MIT

#include "cairn/load.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "golden/same_files.hpp"
#include "save_as.hpp"
#include "store/sample.hpp"

// The checkpoint in tests/golden/joined-2 was written once: containers of 256 small objects and more, saved as columns.

namespace {

struct record {
  std::vector<float> seen;
  std::string text;
  std::optional<std::int32_t> reward;
  std::vector<std::vector<std::uint8_t>> frames;
  friend bool operator==(const record&, const record&) = default;
};
struct joined_state {
  std::vector<record> replay;
  std::map<std::string, std::vector<float>> words;
  std::vector<std::vector<std::int32_t>> rows;
  friend bool operator==(const joined_state&, const joined_state&) = default;
};

joined_state original() {
  joined_state all;
  for (std::uint32_t i = 0; i < 300; ++i) {
    record each{std::vector<float>(i % 4, static_cast<float>(i)), std::string(i % 3, 'x'), std::nullopt, {}};
    if (i % 5 == 0) each.reward = static_cast<std::int32_t>(i) - 100;
    for (std::uint32_t frame = 0; frame < i % 3; ++frame)
      each.frames.emplace_back(frame + i % 2, static_cast<std::uint8_t>(i));
    all.replay.push_back(std::move(each));
    all.words["word" + std::to_string(i)] = {static_cast<float>(i), 0.5F};
    all.rows.emplace_back(i % 7, static_cast<std::int32_t>(i));
  }
  return all;
}

const std::string root = CAIRN_TESTS "/golden/joined-2";
const std::string name = cairn::detail::checkpoint_name(1);

}  // namespace

TEST_CASE("the frozen columns of joined objects still load, and are written with the same bytes") {
  joined_state state;
  cairn::load(root + "/" + name, state);
  CHECK(state == original());
  cairn::any_store store = cairn::stores::memory();
  tests::save_as(store, name, state, {.step = 1});
  golden::check_same_files(store, cairn::stores::directory(root), name);
}

TEST_CASE("writes the frozen columns, for a new version", "[.write]") {
  cairn::any_store store = cairn::stores::directory(root);
  tests::save_as(store, name, original(), {.step = 1});
}

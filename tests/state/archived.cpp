// SPDX-License-Identifier: MIT
#include "cairn/state/archived.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

/// Passes its values by functions that a test chooses; the objects of a load get those of `loading`.
struct scripted {
  using script = std::function<void(cairn::detail::archived_values&, scripted&)>;
  static inline script saving, loading;

  std::uint32_t numbers[3] = {1, 2, 3};

  static void save(cairn::detail::archived_values& to, void* object) { saving(to, *static_cast<scripted*>(object)); }
  static void load(cairn::detail::archived_values& from, void* object) {
    loading(from, *static_cast<scripted*>(object));
  }
  static void* make() { return new scripted(); }
  static constexpr cairn::detail::archived_operations operations() {
    return {sizeof(scripted), save, load, make, cairn::detail::destroy<scripted>};
  }
};

}  // namespace

template <>
inline constexpr bool cairn::use_bridge<scripted> = true;

template <>
struct cairn::detail::bridge<scripted> {
  static void walk(walker& w, scripted& object) {
    static constexpr auto operations = scripted::operations();
    walk_archived(w, &object, operations);
  }
};

namespace {

using cairn::dtype;
using cairn::detail::archived_values;

/// The error of a load by `loading` of what `saving` saves.
std::string error_of(const scripted::script& saving, const scripted::script& loading) {
  scripted::saving = saving;
  scripted::loading = loading;
  const tests::kept saved(cairn::detail::describe(scripted()));
  scripted loaded;
  loaded.numbers[0] = 77;
  try {
    saved.load(loaded);
  } catch (const cairn::error& problem) {
    CHECK(loaded.numbers[0] == 77);
    return problem.what();
  }
  return "";
}

}  // namespace

TEST_CASE("names that occur twice are numbered, also where another name looks like that") {
  scripted::saving = [](archived_values& to, scripted&) {
    std::vector<float> values{1};
    for (const auto* const name : {"a_2", "a", "a", "", "a", "value0", "", "value2", ""})
      to.part(name, &values, cairn::detail::walk<std::vector<float>>);
  };
  const tests::kept saved(cairn::detail::describe(scripted()));
  CHECK(saved.paths() == "a a_2 a_3 a_4 value0 value0_2 value1 value2 value3");
}

TEST_CASE("a load function that reads more or fewer numbers than are stored fails") {
  const auto numbers = [](std::size_t count) {
    return [count](archived_values& to, scripted& object) {
      for (std::size_t i = 0; i < count; ++i) to.number("n", dtype::u32, &object.numbers[i]);
      to.number("last", dtype::u32, &object.numbers[0]);
    };
  };
  for (const std::size_t saved : {1U, 2U, 3U})
    for (const std::size_t loaded : {1U, 2U, 3U})
      CHECK(error_of(numbers(saved), numbers(loaded)).empty() == (saved == loaded));
  CHECK_THAT(error_of(numbers(3), numbers(2)), ContainsSubstring("has 3 numbers 'n' in the checkpoint, more than"));
  CHECK_THAT(error_of(numbers(2), numbers(3)), ContainsSubstring("has fewer numbers 'n' in the checkpoint than"));
}

TEST_CASE("a size is at most the bytes of the checkpoint, where it is not small") {
  const auto size = [](std::uint64_t count) {
    return [count](archived_values& to, scripted&) {
      auto copy = count;
      to.size("", copy);
    };
  };
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1} << 20U})
    CHECK(error_of(size(count), size(0)).empty());
  for (const std::uint64_t count : {(std::uint64_t{1} << 20U) + 1, ~std::uint64_t{0}})
    CHECK_THAT(error_of(size(count), size(0)), ContainsSubstring("more than the checkpoint has bytes"));
}

TEST_CASE("what a save function passes from outside the object is copied") {
  scripted::saving = [](archived_values& to, scripted&) {
    for (std::uint32_t i = 0; i < 2; ++i) {  // at one address, but not one value
      std::vector<std::uint32_t> gone(4, i);
      to.part("", &gone, cairn::detail::walk<std::vector<std::uint32_t>>);
      to.array("", dtype::u32, gone.data(), gone.size());
      to.number("", dtype::u32, &i);
      const auto shared = std::make_shared<std::uint32_t>(i);
      auto copy = shared;
      to.part("", &copy, cairn::detail::walk<std::shared_ptr<std::uint32_t>>);
    }
  };
  const auto what = cairn::detail::describe(scripted());
  REQUIRE(what.leaves.size() == 8);
  for (std::size_t leaf = 0; leaf < 8; ++leaf) {
    CHECK(what.leaves[leaf].path == "value" + std::to_string(leaf));
    CHECK(what.leaves[leaf].owner != nullptr);
    std::uint32_t first = 9;
    std::memcpy(&first, what.leaves[leaf].memory, sizeof(first));
    CHECK(first == leaf / 4);
  }
}

TEST_CASE("a function that fails on the state, and not on a new object, ends the load with an error") {
  const auto number = [](archived_values& to, scripted& object) { to.number("n", dtype::u32, &object.numbers[1]); };
  scripted::saving = number;
  const tests::kept saved(cairn::detail::describe(scripted()));
  scripted loaded;
  loaded.numbers[0] = 77;
  scripted::loading = [&](archived_values& from, scripted& object) {
    number(from, object);
    if (object.numbers[0] == 77) throw std::runtime_error("not that one");
  };
  CHECK_THROWS_WITH(saved.load(loaded), ContainsSubstring("not that one; the check of the load did not find that"));
  scripted::loading = [&](archived_values& from, scripted& object) {
    if (object.numbers[0] == 77) from.number("other", dtype::u32, &object.numbers[2]);
    number(from, object);
  };
  CHECK_THROWS_WITH(saved.load(loaded), ContainsSubstring("has read other parts than in the check"));
}

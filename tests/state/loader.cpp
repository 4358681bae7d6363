// SPDX-License-Identifier: MIT
#include "cairn/state/loader.hpp"

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

// Not in an unnamed namespace: clang warns of the conversions by which the fields of state_of are counted.
namespace evolved {

struct flat_record {
  float x = 1;
  std::int32_t y = 2;
  bool operator==(const flat_record&) const = default;
};
struct layer {
  std::vector<float> weight{1, 2, 3};
  std::string name = "dense";
  int value = 4;
  bool operator==(const layer&) const = default;
};

}  // namespace evolved

namespace {

using evolved::flat_record;
using evolved::layer;

template <class Form>
struct state_of {
  int before = 1;
  Form field{};
  double after = 2;
};

template <class T>
const T& only(const T& object) {
  return object;
}
template <class T, class Form>
requires(!std::is_same_v<T, Form> && requires(const Form& form) { *form; })
const T& only(const Form& form) {
  REQUIRE(static_cast<bool>(form));
  return *form;
}
template <class T, class Form>
requires(!std::is_same_v<T, Form> && requires(const Form& form) { form.front(); })
const T& only(const Form& form) {
  REQUIRE(form.size() == 1);
  return form.front();
}

template <class T, class Form>
Form form_of(const T& value) {
  if constexpr (std::is_same_v<Form, T>)
    return value;
  else if constexpr (requires { Form(new T(value)); })
    return Form(new T(value));
  else if constexpr (requires(Form form) { form.emplace_back(value); })
    return Form(1, value);
  else
    return Form{value};
}

/// Loads what was saved as each of the forms into each of them, which are empty and filled before.
template <class T, class... Forms>
void load_each_as_each(const T& value, const T& other) {
  const auto load_as = [&]<class Form>(const tests::kept& kept, std::type_identity<Form>) {
    state_of<Form> filled{9, form_of<T, Form>(other), 9}, fresh{9, {}, 9};
    for (auto* const each : {&filled, &fresh}) {
      const auto report = kept.load(*each);
      CHECK(only<T>(each->field) == value);
      CHECK(each->before == 1);
      CHECK(each->after == 2);
      CHECK(report.missing.empty());
      CHECK(report.unexpected.empty());
    }
  };
  const auto save_as = [&]<class From>(std::type_identity<From>) {
    const tests::kept kept(cairn::detail::describe(state_of<From>{1, form_of<T, From>(value), 2}));
    (load_as(kept, std::type_identity<Forms>{}), ...);
  };
  (save_as(std::type_identity<Forms>{}), ...);
}

using keyed = std::map<std::string, std::vector<int>>;

}  // namespace

TEST_CASE("a value loads as an optional or a pointer, one of fixed layout as a container of one, and the reverse") {
  load_each_as_each<float, float, std::optional<float>, std::unique_ptr<float>, std::shared_ptr<float>,
                    std::unique_ptr<const float>, std::vector<float>, std::array<float, 1>, std::list<float>>(3.5F,
                                                                                                              1.25F);
  load_each_as_each<flat_record, flat_record, std::optional<flat_record>, std::vector<flat_record>,
                    std::array<flat_record, 1>, std::unique_ptr<flat_record>>({5, 6}, {7, 8});
  load_each_as_each<layer, layer, std::optional<layer>, std::unique_ptr<layer>, std::shared_ptr<layer>>(
      {{5, 6}, "conv", 7}, {{1}, "", 0});
  load_each_as_each<std::string, std::string, std::optional<std::string>, std::unique_ptr<std::string>>("text",
                                                                                                        "other");
  load_each_as_each<keyed, keyed, std::optional<keyed>, std::unique_ptr<keyed>>({{"a", {1, 2}}, {"b", {}}},
                                                                                {{"c", {3}}});
  load_each_as_each<std::vector<float>, std::vector<float>, std::optional<std::vector<float>>,
                    std::unique_ptr<std::vector<float>>>({1, 2, 3}, {4});
  load_each_as_each<std::vector<layer>, std::vector<layer>, std::optional<std::vector<layer>>,
                    std::shared_ptr<std::vector<layer>>>({{}, {{5, 6}, "conv", 7}}, {});
}

namespace {

template <class To, class From>
std::string problem(From from, const cairn::detail::match_options& how = tests::any_size) {
  const tests::kept kept(cairn::detail::describe(state_of<From>{1, std::move(from), 2}));
  state_of<To> fresh{};
  const auto failure = sample::failure_of([&] { kept.load(fresh, how); });
  CHECK(failure.code == cairn::errc::mismatch);
  CHECK(fresh.before == 1);
  return failure.sentence.substr(failure.sentence.find("kept does"));
}

}  // namespace

TEST_CASE("no object and several objects do not load as one: one problem, which names the field") {
  const std::string begin = "kept does not fit the state: field ", end = ". Nothing was changed";
  const std::string null =
      "is null in the checkpoint and an object in the state; make it a std::optional, or leave it out with filter";
  CHECK(problem<float>(std::optional<float>()) == begin + null + end);
  CHECK(problem<layer>(std::optional<layer>()) == begin + null + end);
  CHECK(problem<layer>(std::shared_ptr<layer>()) == begin + null + end);
  for (const std::size_t count : {0U, 1U, 2U})
    CHECK(problem<layer>(std::vector<layer>(count)) ==
          begin + "is a container of " + std::to_string(count) +
              " objects in the checkpoint and one object in the state; leave it out with filter" + end);
  CHECK(problem<float>(std::vector<float>(3)) == begin +
                                                     "has shape [3] in the checkpoint and [] in the state; leave it "
                                                     "out with filter" +
                                                     end);
  const std::string other = "is another kind of object in the checkpoint; leave it out with filter";
  CHECK(problem<float>(keyed{{"a", {1}}}) == begin + other + end);
  CHECK(problem<keyed>(layer{}) == begin + other + end);
}

TEST_CASE("without strict, an object keeps its value where the checkpoint has none") {
  const tests::kept kept(cairn::detail::describe(state_of<std::optional<layer>>{}));
  state_of<layer> one{9, {{7}, "kept", 7}, 9};
  const auto report = kept.load(one, {.strict = false, .rename = {}, .filter = {}});
  CHECK(one.field == layer{{7}, "kept", 7});
  CHECK(one.before == 1);
  CHECK(report.missing == std::vector<std::string>{"field"});
  CHECK(report.unexpected.empty());
}

TEST_CASE("an array of objects and a container of them do not load as each other") {
  const std::string begin = "kept does not fit the state: field ", end = ". Nothing was changed";
  for (const std::size_t count : {0U, 1U, 2U})
    CHECK(problem<std::array<layer, 2>>(std::vector<layer>(count)) ==
          begin + "is a container of " + std::to_string(count) +
              " objects in the checkpoint and an array of 2 in the state; make it a std::vector, or leave it out with "
              "filter" +
              end);
  CHECK(problem<std::vector<layer>>(std::array<layer, 2>{}) ==
        begin + "is another kind of object in the checkpoint; leave it out with filter" + end);
}

TEST_CASE("a whole state of another kind is not left out with filter") {
  std::optional<int> loaded;
  const tests::kept kept(cairn::detail::describe(5));
  const auto failure = sample::failure_of([&] { kept.load(loaded); });
  CHECK(failure.sentence ==
        "cairn: kept does not fit the state: value is another kind of object in the checkpoint; load it into an object "
        "of "
        "that kind. Nothing was changed");
}

// SPDX-License-Identifier: MIT
#include "cairn/state/changes.hpp"

#include "state/refuses.hpp"

// One enum in three programs: without names, with names, and with names after its values were reordered, renamed and
// given another type.
namespace by_number {
enum class kind : std::int16_t { relu, tanh, gelu, last = -3 };
}
namespace with_names {
enum class kind : std::int16_t { relu, tanh, gelu, last = -3 };
}
namespace reordered {
enum class kind : std::uint64_t { none, last = std::uint64_t{1} << 63U, gelu = 200, tanh_ = 7, relu = 1 };
}
namespace swapped {
enum class kind : std::int16_t { gelu, last, tanh, relu = -3 };
}
namespace extended {
enum class kind : std::int16_t { relu, tanh, gelu, last = -3, more = 8 };
}
namespace fewer {
enum class kind : std::int16_t { relu, gelu = 2, last = -3, more = 8 };
}
template <>
struct cairn::by_name<with_names::kind> : cairn::enumerators<with_names::kind::relu, with_names::kind::tanh,
                                                             with_names::kind::gelu, with_names::kind::last> {};
template <>
struct cairn::by_name<reordered::kind>
    : cairn::enumerators<reordered::kind::none, reordered::kind::last,
                         cairn::enumerator<"GELU", reordered::kind::gelu, "erf", "gelu">,
                         cairn::enumerator<"tanh", reordered::kind::tanh_>, reordered::kind::relu> {};
template <>
struct cairn::by_name<swapped::kind>
    : cairn::enumerators<swapped::kind::relu, swapped::kind::tanh, swapped::kind::gelu, swapped::kind::last> {};
template <>
struct cairn::by_name<extended::kind>
    : cairn::enumerators<extended::kind::relu, extended::kind::tanh, extended::kind::gelu, extended::kind::last,
                         extended::kind::more> {};
template <>
struct cairn::by_name<fewer::kind>
    : cairn::enumerators<fewer::kind::relu, fewer::kind::gelu, fewer::kind::last, fewer::kind::more> {};

namespace {

using cairn::detail::enum_table;

std::mt19937 random_numbers(1);

/// The same of the four values in each program.
template <class Kind>
Kind value_of(unsigned which) {
  using enum_type = Kind;
  if constexpr (requires { enum_type::tanh_; })
    return std::array{enum_type::relu, enum_type::tanh_, enum_type::gelu, enum_type::last}[which];
  else
    return std::array{enum_type::relu, enum_type::tanh, enum_type::gelu, enum_type::last}[which];
}

template <class Kind>
struct row {
  float weight = 0;
  Kind kind{};
};

template <class Kind>
struct state {
  Kind one{};
  std::vector<Kind> many;
  std::array<Kind, 3> three{};
  std::deque<Kind> queue;
  std::set<Kind> set;
  std::map<Kind, int> numbers;
  std::map<Kind, std::vector<std::string>> texts;
  std::map<std::string, Kind> named;
  std::vector<row<Kind>> rows;
  std::vector<std::array<row<Kind>, 2>> grid;
  std::vector<std::pair<std::string, Kind>> pairs;
  std::optional<Kind> maybe;
  std::variant<int, Kind> either;
  std::atomic<Kind> atomic{};
};

/// Each value of the state is that of the next number in `which`.
template <class Kind>
void fill(state<Kind>& all, const std::vector<unsigned>& which) {
  std::size_t at = 0;
  const auto next = [&] { return value_of<Kind>(which[at++]); };
  all.one = next();
  all.many = {next(), next(), next(), next()};
  for (auto& each : all.three) each = next();
  all.queue = {next(), next()};
  all.set = {next(), next()};
  all.numbers = {{next(), 5}, {next(), 6}};
  all.texts = {{next(), {"a", "b"}}, {next(), {"c"}}};
  all.named = {{"a", next()}, {"b", next()}};
  all.rows = {{1, next()}, {2, next()}, {3, next()}};
  all.grid = {{row<Kind>{1, next()}, row<Kind>{2, next()}}, {row<Kind>{3, next()}, row<Kind>{4, next()}}};
  all.pairs = {{"a", next()}, {"b", next()}};
  all.maybe = next();
  all.either = next();
  all.atomic = next();
}
std::vector<unsigned> some_values() {
  std::vector<unsigned> which(40);
  for (auto& each : which) each = static_cast<unsigned>(random_numbers() % 4);
  for (const std::size_t key : {10U, 12U, 14U}) which[key + 1] = (which[key] + 1) % 4;  // keys differ
  return which;
}

template <class Old, class Now>
void check_load() {
  for (int round = 0; round < 20; ++round) {
    const auto which = some_values();
    state<Old> old;
    fill(old, which);
    state<Now> expected, fresh, filled;
    fill(expected, which);
    fill(filled, some_values());
    const tests::kept kept(old), wanted(cairn::detail::describe(expected));
    kept.load(fresh);
    REQUIRE(tests::kept(fresh) == wanted);
    kept.load(filled);
    REQUIRE(tests::kept(filled) == wanted);
  }
}

}  // namespace

TEST_CASE("values of an enum come back by number and by name, in every container") {
  check_load<by_number::kind, by_number::kind>();
  check_load<with_names::kind, with_names::kind>();
  check_load<reordered::kind, reordered::kind>();
}

TEST_CASE("a checkpoint without names is loaded by number") { check_load<by_number::kind, with_names::kind>(); }

TEST_CASE("reordered and renamed values of another integer type are loaded by name") {
  check_load<with_names::kind, reordered::kind>();
  check_load<with_names::kind, swapped::kind>();
  check_load<with_names::kind, extended::kind>();
}

TEST_CASE("large vectors of values are loaded by name") {
  std::vector<row<with_names::kind>> old(50'000);
  for (std::size_t i = 0; i < old.size(); ++i) old[i].kind = value_of<with_names::kind>(i % 4);
  std::vector<row<reordered::kind>> now(3);
  tests::kept(old).load(now);
  REQUIRE(now.size() == old.size());
  for (std::size_t i = 0; i < old.size(); ++i) REQUIRE(now[i].kind == value_of<reordered::kind>(i % 4));
}

TEST_CASE("a name that is not listed is refused if an element has it, and nothing changes") {
  std::vector<row<with_names::kind>> old{{1, with_names::kind::relu}, {2, with_names::kind::last}};
  std::vector<row<fewer::kind>> now{{7, fewer::kind::more}};
  tests::kept(old).load(now);
  CHECK(now[1].kind == fewer::kind::last);
  old.push_back({3, with_names::kind::tanh});
  const tests::kept unknown(old);
  tests::refuses(unknown, now, cairn::errc::mismatch,
                 "kind is 'tanh' in the checkpoint, which cairn::by_name does not list");
  CHECK(now.size() == 2);
  CHECK(now[0].weight == 1);
}

TEST_CASE("a value that is not listed is loaded by number, unless it has a name now") {
  struct one {
    with_names::kind kind;
  };
  struct other {
    extended::kind kind;
  } into{};
  for (const int number : {5, 8}) {
    const one old{static_cast<with_names::kind>(number)};
    const tests::kept kept(old);
    one same{};
    kept.load(same);
    CHECK(same.kind == old.kind);
    if (number == 5) {
      kept.load(into);
      CHECK(into.kind == static_cast<extended::kind>(5));
    } else {
      tests::refuses(kept, into, cairn::errc::mismatch,
                     "kind is 8 in the checkpoint, a value that had no name there and is 'more' now; "
                     "give that name another value, or leave it out with filter");
    }
  }
}

TEST_CASE("a number that does not fit is refused") {
  struct one {
    reordered::kind kind;
  } old{static_cast<reordered::kind>(100'000)};
  struct other {
    fewer::kind kind;
  } into{};
  tests::refuses(tests::kept(old), into, cairn::errc::mismatch,
                 "which does not fit into I16; give the enum a wider type, or leave it "
                 "out with filter");
}

TEST_CASE("a malformed list of names is corrupt") {
  with_names::kind kind{};
  for (const char* const text : {"", "relu", "0", "0 ", "x relu", "99999999999999999999 a", "0 relu"}) {
    tests::kept kept(kind);
    kept.contents.structure.at("@names").keys = {"0 relu", text};
    CHECK_THROWS_AS(kept.load(kind), cairn::error);
  }
}

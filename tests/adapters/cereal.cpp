// SPDX-License-Identifier: MIT
#include "cairn/adapters/cereal.hpp"

#include <cereal/types/array.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "adapters/cereal/round_trip.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

using tests::cereal_bytes;
using tests::comes_back_as_through_cereal;
using tests::load_cereal_bytes;
using random_engine = std::mt19937;

/// The forms of cereal functions, as cereal's documentation describes them. The classes are no aggregates, so that
/// Cairn needs these functions.

class member_serialize {
 public:
  member_serialize() = default;
  explicit member_serialize(random_engine& next)
      : x(static_cast<int>(next())), y(static_cast<float>(next())), flag(next() % 2 == 0), name(next() % 9, 'x') {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(CEREAL_NVP(x), cereal::make_nvp("why", y), flag, name);
  }

 private:
  int x = 0;
  float y = 0;
  bool flag = false;
  std::string name;
};

class free_serialize {
 public:
  free_serialize() = default;
  explicit free_serialize(random_engine& next) : values{double(next()), double(next())}, many(next() % 5, next()) {}
  std::array<double, 2> values{};
  std::vector<std::uint64_t> many;
};
template <class Archive>
void serialize(Archive& ar, free_serialize& object) {
  ar(object.values, object.many);
}

/// Saves what it does not have as a member, and finds its members from it.
class member_split {
 public:
  member_split() = default;
  explicit member_split(random_engine& next) : values_(next() % 6, int(next() % 100)) { add_up(); }
  template <class Archive>
  void save(Archive& ar) const {
    std::vector<std::int64_t> doubled;
    for (const int value : values_) doubled.push_back(2 * std::int64_t{value});
    ar(cereal::make_nvp("doubled", doubled), cereal::make_nvp("count", values_.size()));
  }
  template <class Archive>
  void load(Archive& ar) {
    std::vector<std::int64_t> doubled;
    std::size_t count = 0;
    ar(cereal::make_nvp("doubled", doubled), cereal::make_nvp("count", count));
    if (count != doubled.size()) throw std::runtime_error("another count");
    values_.clear();
    for (const auto value : doubled) values_.push_back(static_cast<int>(value / 2));
    add_up();
  }

 private:
  void add_up() {
    sum_ = 0;
    for (const int value : values_) sum_ += value;
  }

  std::vector<int> values_;
  int sum_ = 0;
};

class free_split {
 public:
  free_split() = default;
  explicit free_split(random_engine& next) : left(std::uint32_t(next())), right(std::uint32_t(next())) {}
  std::uint32_t left = 0, right = 0;
};
template <class Archive>
void save(Archive& ar, const free_split& object) {
  ar(object.left ^ object.right, object.right);  // the first one is a temporary
}
template <class Archive>
void load(Archive& ar, free_split& object) {
  ar(object.left, object.right);
  object.left ^= object.right;
}

class member_minimal {
 public:
  member_minimal() = default;
  explicit member_minimal(random_engine& next) : id_(static_cast<int>(next() % 1000)) {}
  template <class Archive>
  std::string save_minimal(const Archive&) const {
    return "#" + std::to_string(id_);
  }
  template <class Archive>
  void load_minimal(const Archive&, const std::string& text) {
    if (text.empty() || text[0] != '#') throw std::runtime_error("an id begins with #");
    id_ = std::stoi(text.substr(1));
  }
  friend bool operator<(const member_minimal& a, const member_minimal& b) { return a.id_ < b.id_; }

 private:
  int id_ = 0;
};

class free_minimal {
 public:
  free_minimal() = default;
  explicit free_minimal(random_engine& next) : metres(double(next()) / 7) {}
  double metres = 0;
};
template <class Archive>
double save_minimal(const Archive&, const free_minimal& length) {
  return length.metres;
}
template <class Archive>
void load_minimal(const Archive&, free_minimal& length, const double& metres) {
  length.metres = metres;
}

class versioned_minimal {
 public:
  versioned_minimal() = default;
  explicit versioned_minimal(random_engine& next) : tick_(next()) {}
  template <class Archive>
  std::uint64_t save_minimal(const Archive&, const std::uint32_t version) const {
    return tick_ * (version == 5 ? 3 : 1);
  }
  template <class Archive>
  void load_minimal(const Archive&, const std::uint64_t& stored, const std::uint32_t version) {
    tick_ = stored / (version == 5 ? 3 : 1);
  }

 private:
  std::uint64_t tick_ = 0;
};

class versioned {
 public:
  versioned() = default;
  explicit versioned(random_engine& next) : a(int(next())), b(int(next())) {}
  template <class Archive>
  void serialize(Archive& ar, const std::uint32_t version) {
    ar(CEREAL_NVP(a));
    if (version >= 2) ar(CEREAL_NVP(b));
    seen = version;
  }
  int a = 0, b = 0;
  std::uint32_t seen = 0;
};

class private_functions {
 public:
  explicit private_functions(random_engine& next) : secret_(next()) {}
  static private_functions empty_object() { return {}; }

 private:
  friend class cereal::access;
  private_functions() = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(secret_);
  }
  std::uint64_t secret_ = 0;
};

struct base {
  base() = default;
  explicit base(random_engine& next) : x(int(next())) {}
  virtual ~base() = default;
  virtual int answer() const = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x);
  }
  int x = 0;
};
struct derived final : base {
  derived() = default;
  explicit derived(random_engine& next) : base(next), y(int(next())) {}
  int answer() const override { return y; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cereal::base_class<base>(this), y);
  }
  int y = 0;
};

struct top {
  virtual ~top() = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x);
  }
  int x = 0;
};
struct left : virtual top {
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cereal::virtual_base_class<top>(this), y);
  }
  int y = 0;
};
struct right : virtual top {
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cereal::virtual_base_class<top>(this), z);
  }
  int z = 0;
};
struct diamond final : left, right {
  diamond() = default;
  explicit diamond(random_engine& next) : a(int(next())) { x = int(next()), y = int(next()), z = int(next()); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cereal::virtual_base_class<left>(this), cereal::virtual_base_class<right>(this), a);
  }
  int a = 0;
};

/// Inherits `serialize` and has its own save and load: cereal is told which to use.
class specialized : public member_serialize {
 public:
  specialized() = default;
  explicit specialized(random_engine& next) : member_serialize(next), own_(std::uint32_t(next())) {}
  template <class Archive>
  void save(Archive& ar) const {
    ar(cereal::base_class<member_serialize>(this), own_);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(cereal::base_class<member_serialize>(this), own_);
  }

 private:
  std::uint32_t own_ = 0;
};

class holder {
 public:
  holder() = default;
  explicit holder(random_engine& next)
      : unique(std::make_unique<member_serialize>(next)),
        shared(std::make_shared<free_serialize>(next)),
        same(shared),
        vector(3, member_split(next)),
        map{{"a", versioned(next)}, {"b", versioned(next)}},
        set{member_minimal(next), member_minimal(next)} {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(CEREAL_NVP(unique), CEREAL_NVP(none), CEREAL_NVP(shared), CEREAL_NVP(same), CEREAL_NVP(vector), CEREAL_NVP(map),
       CEREAL_NVP(set));
  }
  std::unique_ptr<member_serialize> unique, none;
  std::shared_ptr<free_serialize> shared, same;
  std::vector<member_split> vector;
  std::map<std::string, versioned> map;
  std::set<member_minimal> set;
};

/// Owns memory by a raw pointer, and says its size by a size tag.
struct buffer {
  buffer() = default;
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  explicit buffer(random_engine& next) : size(next() % 20), memory(new float[size]) {
    for (std::size_t i = 0; i < size; ++i) memory[i] = float(next());
  }
  ~buffer() { delete[] memory; }
  template <class Archive>
  void save(Archive& ar) const {
    ar(cereal::make_size_tag(static_cast<cereal::size_type>(size)));
    ar(cereal::binary_data(memory, size * sizeof(float)));
  }
  template <class Archive>
  void load(Archive& ar) {
    cereal::size_type count = 0;
    ar(cereal::make_size_tag(count));
    delete[] memory;
    memory = nullptr;
    memory = new float[count];
    size = count;
    ar(cereal::binary_data(memory, size * sizeof(float)));
  }
  std::size_t size = 0;
  float* memory = nullptr;
};

}  // namespace

template <>
inline constexpr bool cairn::use_bridge<private_functions> = true;  // its default constructor is private

CEREAL_CLASS_VERSION(versioned_minimal, 5)
CEREAL_CLASS_VERSION(versioned, 2)
CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES(specialized, cereal::specialization::member_load_save)

TEST_CASE("types with cereal functions come back from Cairn as they do from cereal") {
  comes_back_as_through_cereal<member_serialize>();
  comes_back_as_through_cereal<free_serialize>();
  comes_back_as_through_cereal<member_split>();
  comes_back_as_through_cereal<free_split>();
  comes_back_as_through_cereal<member_minimal>();
  comes_back_as_through_cereal<free_minimal>();
  comes_back_as_through_cereal<versioned_minimal>();
  comes_back_as_through_cereal<versioned>();
  comes_back_as_through_cereal<private_functions>();
  comes_back_as_through_cereal<derived>();
  comes_back_as_through_cereal<diamond>();
  comes_back_as_through_cereal<specialized>();
  comes_back_as_through_cereal<holder>();
  comes_back_as_through_cereal<buffer>();
}

TEST_CASE("values have the names that they have in cereal's JSON") {
  random_engine next(1);
  const auto paths = [](const auto& object) { return tests::kept(object).paths(); };
  struct state {
    member_serialize member;
    free_serialize free;
    derived of_base;
    diamond of_bases;
    versioned with_version;
    member_minimal text;
    free_minimal number;
    versioned_minimal number_of_version;
    buffer memory;
  } original{member_serialize(next), free_serialize(next), derived(next),           diamond(next), versioned(next),
             member_minimal(next),   free_minimal(next),   versioned_minimal(next), buffer(next)};
  CHECK(paths(original) ==
        "free.value0 free.value1 member.value0 member.value1 member.why member.x memory.size memory.value0 number "
        "number_of_version.cereal_class_version number_of_version.value0 of_base.base.value0 of_base.value0 "
        "of_bases.left.top.value0 of_bases.left.value0 of_bases.right.value0 of_bases.value0 text "
        "with_version.a with_version.b with_version.cereal_class_version");
}

TEST_CASE("values with minimal functions are columns, as the values that they give are") {
  random_engine next(2);
  const std::vector<free_minimal> lengths{free_minimal(next), free_minimal(next)};
  const auto what = cairn::detail::describe(lengths);
  REQUIRE(what.leaves.size() == 1);
  CHECK(what.leaves[0].type == cairn::dtype::f64);
  CHECK(what.leaves[0].shape == cairn::extents{2});
}

TEST_CASE("a state of types with cereal functions is saved to a file and loaded from it") {
  random_engine next(3);
  struct state {
    std::vector<holder> holders;
    std::map<std::string, std::unique_ptr<derived>> objects;
    std::shared_ptr<buffer> memory;
    std::vector<float> weights;
  } saved, loaded;
  for (int i = 0; i < 3; ++i) saved.holders.emplace_back(next);
  saved.objects["one"] = std::make_unique<derived>(next);
  saved.memory = std::make_shared<buffer>(next);
  saved.weights = {1, 2, 3};
  const sample::scratch scratch;
  cairn::save(scratch.path("once"), saved);
  cairn::load(scratch.path("once"), loaded);
  REQUIRE(loaded.holders.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(cereal_bytes(loaded.holders[i]) == cereal_bytes(saved.holders[i]));
    CHECK(loaded.holders[i].shared == loaded.holders[i].same);
  }
  REQUIRE(loaded.objects.size() == 1);
  CHECK(cereal_bytes(*loaded.objects["one"]) == cereal_bytes(*saved.objects["one"]));
  REQUIRE(loaded.memory);
  CHECK(cereal_bytes(*loaded.memory) == cereal_bytes(*saved.memory));
  CHECK(loaded.weights == saved.weights);
}

namespace {

/// As it was before member b came.
class versioned_before {
 public:
  versioned_before() = default;
  template <class Archive>
  void serialize(Archive& ar, const std::uint32_t) {
    ar(CEREAL_NVP(a));
  }
  int a = 41;
};

cairn::detail::match_options tolerating() {
  cairn::detail::match_options options;
  options.strict = false;
  return options;
}

cairn::detail::match_options filtering(std::function<bool(std::string_view)> by) {
  cairn::detail::match_options options;
  options.filter = std::move(by);
  return options;
}

class refusing {
 public:
  explicit refusing(int with = 0) : value(with) {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(CEREAL_NVP(other), CEREAL_NVP(value));
    if (Archive::is_loading::value && value == 13) throw std::runtime_error("not 13");
    if (Archive::is_saving::value && value == 14) throw std::runtime_error("not 14");
  }
  int other = 0, value;
};

template <class State>
std::string why_not(const tests::kept& from, State& state,
                    const cairn::detail::match_options& options = tests::any_size) {
  try {
    from.load(state, options);
  } catch (const cairn::error& problem) {
    CHECK(problem.code() == cairn::errc::mismatch);
    return problem.what();
  }
  return "";
}

}  // namespace

CEREAL_CLASS_VERSION(versioned_before, 1)

TEST_CASE("a load function gets the version of the class that was saved") {
  const tests::kept before(cairn::detail::describe(versioned_before()));
  versioned now;
  now.b = 7;
  before.load(now);
  CHECK(now.a == 41);
  CHECK(now.b == 7);
  CHECK(now.seen == 1);
}

TEST_CASE("a load function that fails leaves the state as it was") {
  struct state {
    std::vector<int> first;
    refusing second;
  };
  const tests::kept saved(state{{1, 2}, refusing(13)});
  state loaded{{3}, refusing(5)};
  CHECK_THAT(why_not(saved, loaded), ContainsSubstring("second cannot be loaded") && ContainsSubstring("not 13"));
  CHECK(loaded.first == std::vector<int>{3});
  CHECK(loaded.second.value == 5);
  CHECK_THROWS_WITH(cairn::detail::describe(state{{}, refusing(14)}),
                    ContainsSubstring("second cannot be saved") && ContainsSubstring("not 14"));

  random_engine next(4);
  tests::kept text(std::vector<member_minimal>{member_minimal(next)});
  text.bytes.at("text").assign(text.bytes.at("text").size(), std::byte{'x'});
  std::vector<member_minimal> ids(1, member_minimal(next));
  const auto before = cereal_bytes(ids);
  CHECK_THROWS_WITH(text.load(ids), ContainsSubstring("an id begins with #"));
  CHECK(cereal_bytes(ids) == before);
}

TEST_CASE("an object of which a value is missing is kept whole") {
  random_engine next(5);
  const member_serialize original(next);
  tests::kept saved(original);
  std::erase_if(saved.contents.leaves, [](const auto& leaf) { return leaf.path == "why"; });
  member_serialize loaded(next);
  const auto before = cereal_bytes(loaded);
  const auto problem = why_not(saved, loaded);
  CHECK_THAT(problem, ContainsSubstring("why is missing"));
  CHECK(problem.find("but not in the state") == std::string::npos);  // what the function did not come to
  const auto report = saved.load(loaded, tolerating());
  CHECK(report.missing == std::vector<std::string>{"why"});
  CHECK(report.unexpected.empty());
  CHECK(cereal_bytes(loaded) == before);

  struct state {
    std::vector<member_serialize> all;
  } many{{original, original}}, fresh{{loaded}};
  tests::kept two(many);
  std::erase_if(two.contents.leaves, [](const auto& leaf) { return leaf.path == "all.1.why"; });
  two.load(fresh, tolerating());
  REQUIRE(fresh.all.size() == 2);
  CHECK(cereal_bytes(fresh.all[0]) == cereal_bytes(original));
  CHECK(cereal_bytes(fresh.all[1]) == cereal_bytes(member_serialize()));
}

TEST_CASE("a filter selects all of an object or nothing of it") {
  struct state {
    refusing one, two;
  };
  const tests::kept saved(state{refusing(1), refusing(2)});
  state loaded{refusing(3), refusing(4)};
  saved.load(loaded, filtering([](std::string_view path) { return path.starts_with("one."); }));
  CHECK(loaded.one.value == 1);
  CHECK(loaded.two.value == 4);
  CHECK_THAT(why_not(saved, loaded, filtering([](std::string_view path) { return path == "two.value"; })),
             ContainsSubstring("two can only be loaded as a whole"));
  CHECK(loaded.two.value == 4);
}

TEST_CASE("a checkpoint with other sizes is refused, and the state stays as it was") {
  random_engine next(6);
  buffer original(next);
  while (original.size < 3) load_cereal_bytes(original, cereal_bytes(buffer(next)));
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{2}, original.size + 1, std::uint64_t{1} << 20U,
                                   std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
    tests::kept altered(original);
    std::memcpy(altered.bytes.at("size").data(), &size, sizeof(size));
    buffer loaded(next);
    const auto before = cereal_bytes(loaded);
    CHECK(!why_not(altered, loaded).empty());
    CHECK(cereal_bytes(loaded) == before);
  }
}

namespace {

/// Member functions of all kinds, which say nothing of a derived class. As in cereal's own test of cereal::specialize.
struct bogus {
  template <class A>
  void serialize(A&) {
    throw std::logic_error("the function of a base class");
  }
  template <class A>
  void save(A&) const {
    throw std::logic_error("the function of a base class");
  }
  template <class A>
  void load(A&) {
    throw std::logic_error("the function of a base class");
  }
  template <class A>
  int save_minimal(const A&) const {
    return 0;
  }
  template <class A>
  void load_minimal(const A&, const int&) {}
};
struct bogus_minimal {
  template <class A>
  int save_minimal(const A&) const {
    return 0;
  }
  template <class A>
  void load_minimal(const A&, const int&) {}
};

/// Classes that differ in the kind of the functions that cereal is told to use.
template <class Base, int Kind>
class told : public Base {
 public:
  told() = default;
  int x = 0;
};
template <class Base>
using with_serialize = told<Base, 0>;
template <class Base>
using with_versioned_serialize = told<Base, 1>;
template <class Base>
using with_split = told<Base, 2>;
template <class Base>
using with_versioned_split = told<Base, 3>;
template <class Base>
using with_minimal = told<Base, 4>;
template <class Base>
using with_versioned_minimal = told<Base, 5>;

template <class A, class Base>
void serialize(A& a, with_serialize<Base>& object) {
  a(object.x);
}
template <class A, class Base>
void serialize(A& a, with_versioned_serialize<Base>& object, const std::uint32_t) {
  a(object.x);
}
template <class A, class Base>
void save(A& a, const with_split<Base>& object) {
  a(object.x);
}
template <class A, class Base>
void load(A& a, with_split<Base>& object) {
  a(object.x);
}
template <class A, class Base>
void save(A& a, const with_versioned_split<Base>& object, const std::uint32_t) {
  a(object.x);
}
template <class A, class Base>
void load(A& a, with_versioned_split<Base>& object, const std::uint32_t) {
  a(object.x);
}
template <class A, class Base>
int save_minimal(const A&, const with_minimal<Base>& object) {
  return object.x;
}
template <class A, class Base>
void load_minimal(const A&, with_minimal<Base>& object, const int& stored) {
  object.x = stored;
}
template <class A, class Base>
int save_minimal(const A&, const with_versioned_minimal<Base>& object, const std::uint32_t) {
  return object.x;
}
template <class A, class Base>
void load_minimal(const A&, with_versioned_minimal<Base>& object, const int& stored, const std::uint32_t) {
  object.x = stored;
}

}  // namespace

namespace cereal {
template <class A, class Base, int Kind>
    struct specialize < A,
    told<Base, Kind>,
    Kind < 2 ? specialization::non_member_serialize
             : Kind<4 ? specialization::non_member_load_save : specialization::non_member_load_save_minimal> {};
}  // namespace cereal

TEMPLATE_TEST_CASE("cereal::specialize chooses functions that are no members, as in cereal", "", bogus, bogus_minimal) {
  struct state {
    with_serialize<TestType> a;
    with_versioned_serialize<TestType> b;
    with_split<TestType> c;
    with_versioned_split<TestType> d;
    with_minimal<TestType> e;
    with_versioned_minimal<TestType> f;
  };
  state saved, loaded;
  saved.a.x = 1, saved.b.x = 2, saved.c.x = 3, saved.d.x = 4, saved.e.x = 5, saved.f.x = 6;
  CHECK(tests::comes_back(saved, loaded));
  CHECK((loaded.a.x == 1 && loaded.b.x == 2 && loaded.c.x == 3));
  CHECK((loaded.d.x == 4 && loaded.e.x == 5 && loaded.f.x == 6));
}

// SPDX-License-Identifier: MIT
// The types of cereal's documentation, through the bridge.
#include <cereal/types/array.hpp>
#include <cereal/types/atomic.hpp>
#include <cereal/types/bitset.hpp>
#include <cereal/types/chrono.hpp>
#include <cereal/types/complex.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/forward_list.hpp>
#include <cereal/types/list.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/queue.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/stack.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/valarray.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>

#include "adapters/cereal/round_trip.hpp"
#include "cairn/adapters/cereal.hpp"
#include "catch.hpp"

namespace {

using random_engine = std::mt19937;
using tests::comes_back_as_through_cereal;

struct my_record {
  my_record() = default;
  explicit my_record(random_engine& next) : x(next() & 255U), y(next() & 255U), z(float(next())) {}
  std::uint8_t x = 0, y = 0;
  float z = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x, y, z);
  }
};

// Types of the standard library, in a class that only its function can take apart.

enum class colour : std::uint8_t { red, green, blue };

class standard_types {
 public:
  standard_types() = default;
  explicit standard_types(random_engine& next) {
    const auto count = [&] { return next() % 4; };
    const auto number = [&] { return static_cast<int>(next() % 1000); };
    const auto text = [&] { return std::string(count(), 'x') + std::to_string(number()); };
    for (auto& each : array_) each = number();
    for (auto& each : c_array_) each = number();
    for (auto& each : records_) each = my_record(next);
    bits_ = next();
    flag_ = next() % 2 == 0;
    letter_ = static_cast<char>(next());
    colour_ = static_cast<colour>(next() % 3);
    atomic_ = number();
    complex_ = {double(number()), double(number())};
    duration_ = std::chrono::milliseconds(number());
    time_ = std::chrono::system_clock::time_point(std::chrono::seconds(number()));
    vector_.assign(count(), float(number()));
    for (auto i = count(); i > 0; --i) bools_.push_back(next() % 2 == 0);
    for (auto i = count(); i > 0; --i) {
      deque_.push_back(text());
      forward_list_.push_front(number());
      list_.push_back(my_record(next));
      map_.emplace(text(), std::vector<int>(count(), number()));
      multimap_.emplace(number(), text());
      set_.insert(text());
      multiset_.insert(number());
      stack_.push(number());
      queue_.push(text());
      priority_queue_.push(number());
    }
    valarray_.resize(count() + 1, number());  // cereal refers to its first element
    pair_ = {number(), text()};
    tuple_ = {number(), text(), {my_record(next)}};
    if (next() % 2 == 0) optional_ = text();
    if (next() % 2 == 0) variant_ = text();
    unique_ = std::make_unique<my_record>(next);
    shared_ = std::make_shared<my_record>(next);
    same_ = shared_;
    weak_ = shared_;
  }
  standard_types(standard_types&&) = delete;

 private:
  friend class cereal::access;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(array_, c_array_, records_, bits_, flag_, letter_, colour_, atomic_, complex_, duration_, time_);
    ar(vector_, bools_, deque_, forward_list_, list_, map_, multimap_, set_, multiset_, stack_, queue_);
    ar(priority_queue_, valarray_, pair_, tuple_, optional_, variant_, unique_, none_, shared_, same_, weak_);
  }

  std::array<int, 3> array_{};
  int c_array_[2] = {};
  my_record records_[2];
  std::bitset<70> bits_;
  bool flag_ = false;
  char letter_ = 0;
  colour colour_ = colour::red;
  std::atomic<int> atomic_ = 0;
  std::complex<double> complex_;
  std::chrono::milliseconds duration_{};
  std::chrono::system_clock::time_point time_;
  std::vector<float> vector_;
  std::vector<bool> bools_;
  std::deque<std::string> deque_;
  std::forward_list<int> forward_list_;
  std::list<my_record> list_;
  std::map<std::string, std::vector<int>> map_;
  std::multimap<int, std::string> multimap_;
  std::set<std::string> set_;
  std::multiset<int> multiset_;
  std::stack<int> stack_;
  std::queue<std::string> queue_;
  std::priority_queue<int> priority_queue_;
  std::valarray<int> valarray_;
  std::pair<int, std::string> pair_;
  std::tuple<int, std::string, std::vector<my_record>> tuple_;
  std::optional<std::string> optional_;
  std::variant<int, std::string> variant_;
  std::unique_ptr<my_record> unique_, none_;
  std::shared_ptr<my_record> shared_, same_;
  std::weak_ptr<my_record> weak_;
};

class unordered_types {
 public:
  unordered_types() = default;
  explicit unordered_types(random_engine& next) {
    for (int i = 0; i < 5; ++i) map_.emplace(std::to_string(next()), next()), set_.insert(next());
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(CEREAL_NVP(map_), CEREAL_NVP(set_));
  }
  friend bool operator==(const unordered_types&, const unordered_types&) = default;

 private:
  std::unordered_map<std::string, std::uint64_t> map_;
  std::unordered_set<std::uint64_t> set_;
};

// Versions.

class versioned_split {
 public:
  versioned_split() = default;
  explicit versioned_split(random_engine& next) : value_(next()) {}
  template <class Archive>
  void save(Archive& ar, const std::uint32_t version) const {
    ar(value_ + version);
  }
  template <class Archive>
  void load(Archive& ar, const std::uint32_t version) {
    ar(value_);
    value_ -= version;
  }

 private:
  std::uint64_t value_ = 0;
};

template <int>
class of_free_functions {
 public:
  of_free_functions() = default;
  explicit of_free_functions(random_engine& next) : value(next()) {}
  std::uint64_t value = 0;
};
using free_versioned = of_free_functions<0>;
using free_versioned_split = of_free_functions<1>;
using free_versioned_minimal = of_free_functions<2>;
template <class Archive>
void serialize(Archive& ar, free_versioned& object, const std::uint32_t version) {
  if (version != 3) throw std::runtime_error("another version");
  ar(object.value);
}
template <class Archive>
void save(Archive& ar, const free_versioned_split& object, const std::uint32_t version) {
  ar(object.value * version);
}
template <class Archive>
void load(Archive& ar, free_versioned_split& object, const std::uint32_t version) {
  ar(object.value);
  object.value /= version;
}
template <class Archive>
std::string save_minimal(const Archive&, const free_versioned_minimal& object, const std::uint32_t version) {
  return std::to_string(version) + ' ' + std::to_string(object.value);
}
template <class Archive>
void load_minimal(const Archive&, free_versioned_minimal& object, const std::string& text, const std::uint32_t) {
  object.value = std::stoull(text.substr(text.find(' ') + 1));
}

// Inheritance and polymorphism.

struct base_record {
  virtual ~base_record() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  bool flag = false;
};
struct derived_record_one : base_record {
  [[nodiscard]] std::string name() const override { return "one"; }
  int x = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(flag, x);
  }
};
struct embarrassing_derived_record : base_record {
  [[nodiscard]] std::string name() const override { return "two"; }
  float y = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(CEREAL_NVP(flag), CEREAL_NVP(y));
  }
};

class polymorphic_pointers {
 public:
  polymorphic_pointers() = default;
  explicit polymorphic_pointers(random_engine& next) {
    for (auto i = next() % 4; i > 0; --i) {
      auto one = std::make_unique<derived_record_one>();
      one->x = int(next()), one->flag = true;
      auto two = std::make_shared<embarrassing_derived_record>();
      two->y = float(next());
      all_.push_back(std::move(one));
      shared_.insert(shared_.end(), {two, nullptr, two});
    }
  }
  polymorphic_pointers(polymorphic_pointers&&) = delete;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, shared_);
  }
  [[nodiscard]] std::string names() const {
    std::string all;
    for (const auto& each : all_) all += each->name() + ' ';
    for (const auto& each : shared_) all += each ? each->name() + ' ' : "null ";
    return all;
  }

 private:
  std::vector<std::unique_ptr<base_record>> all_;
  std::vector<std::shared_ptr<base_record>> shared_;
};

/// Derives from a container for which cereal has functions: cereal is told which to use.
class named_numbers : public std::vector<int> {
 public:
  named_numbers() = default;
  explicit named_numbers(random_engine& next) : vector(next() % 5, int(next())), name_(next() % 5, 'n') {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cereal::base_class<std::vector<int>>(this), name_);
  }

 private:
  std::string name_;
};

/// Is made by `load_and_construct` behind cereal's pointers. It has a default constructor too, which Cairn uses.
class constructed {
 public:
  constructed() = default;
  explicit constructed(int x) : x_(x) {}
  explicit constructed(random_engine& next) : x_(int(next())) {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x_);
  }
  template <class Archive>
  static void load_and_construct(Archive& ar, cereal::construct<constructed>& construct) {
    int x = 0;
    ar(x);
    construct(x);
  }

 private:
  int x_ = 0;
};

class pointers_to_constructed {
 public:
  pointers_to_constructed() = default;
  explicit pointers_to_constructed(random_engine& next)
      : unique_(std::make_unique<constructed>(next)), shared_(std::make_shared<constructed>(next)) {}
  pointers_to_constructed(pointers_to_constructed&&) = delete;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(unique_, shared_);
  }

 private:
  std::unique_ptr<constructed> unique_;
  std::shared_ptr<constructed> shared_;
};

}  // namespace

CEREAL_CLASS_VERSION(versioned_split, 7)
CEREAL_CLASS_VERSION(free_versioned, 3)
CEREAL_CLASS_VERSION(free_versioned_split, 4)
CEREAL_CLASS_VERSION(free_versioned_minimal, 5)
CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES(named_numbers, cereal::specialization::member_serialize)

template <>
struct cairn::polymorphic<base_record>
    : cairn::one_of<derived_record_one, cairn::named<"DerivedClassTwo", embarrassing_derived_record>> {};

TEST_CASE("cereal's types of the standard library") {
  comes_back_as_through_cereal<standard_types>();
  random_engine next(1);
  for (int i = 0; i < 10; ++i) {
    const unordered_types original(next);
    unordered_types empty, filled(next);
    CHECK(tests::comes_back(original, empty));
    CHECK(tests::comes_back(original, filled));
    CHECK(empty == original);
    CHECK(filled == original);
  }
}

TEST_CASE("cereal's class versions, with each form of functions") {
  comes_back_as_through_cereal<versioned_split>();
  comes_back_as_through_cereal<free_versioned>();
  comes_back_as_through_cereal<free_versioned_split>();
  comes_back_as_through_cereal<free_versioned_minimal>();
}

// Of docs/adapters.md.

// [tokenizer]
class tokenizer {
 public:
  tokenizer() = default;
  explicit tokenizer(std::vector<std::string> all) : words(std::move(all)), position(words.size()) {}

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(words), position);  // <path>.words and <path>.value0
  }

 private:
  std::vector<std::string> words;
  std::uint64_t position = 0;
};
// [tokenizer]

TEST_CASE("a class with cereal's functions, as in Cairn's documentation") {
  const tokenizer original({"a", "", "b c"});
  tokenizer loaded({"d"});
  CHECK(tests::comes_back(original, loaded));
  CHECK(tests::cereal_bytes(loaded) == tests::cereal_bytes(original));
}

// CEREAL_REGISTER_TYPE has no effect: see compile_fail/cereal.cpp.
TEST_CASE("cereal's polymorphic pointers") {
  random_engine next(2);
  for (int i = 0; i < 10; ++i) {
    const polymorphic_pointers original(next);
    polymorphic_pointers empty, filled(next);
    for (auto* const loaded : {&empty, &filled}) {
      CHECK(tests::comes_back(original, *loaded));
      CHECK(loaded->names() == original.names());
    }
  }
}

TEST_CASE("cereal's inheritance and pointers") {
  comes_back_as_through_cereal<named_numbers>();
  comes_back_as_through_cereal<pointers_to_constructed>();
}

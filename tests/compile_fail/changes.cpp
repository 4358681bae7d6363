// SPDX-License-Identifier: MIT
// The lines cairn_changes and cairn_version, and the function cairn_migrate.
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

class name_in_use {
 public:
  static auto cairn_fields() { return cairn::fields<&name_in_use::weight_, &name_in_use::bias_>{}; }
  using cairn_changes = cairn::changes<cairn::renamed<"weight", "bias">, cairn::removed<"momentum">>;

 private:
  std::vector<float> weight_, bias_;
};
struct misspelled {
  std::vector<float> weight;
  using cairn_changes = cairn::renamed<"wieght", "w">;
};
struct not_a_list {
  std::vector<float> weight;
  using cairn_changes = cairn::changes<cairn::names<"weight">>;
};
class private_changes {
  int weight_ = 0;
  using cairn_changes = cairn::changes<cairn::renamed<"weight", "w">>;

 public:
  static auto cairn_fields() { return cairn::fields<&private_changes::weight_>{}; }
};
struct removes_member {
  std::vector<float> weight;
  using cairn_changes = cairn::removed<"weight">;
};
struct since_no_version {
  std::vector<float> weight;
  using cairn_changes = cairn::since<1, "weight">;
};
// clang-format off
struct s1 { std::vector<name_in_use> layers; };
struct s2 { std::vector<misspelled> layers; };
// clang-format on

// expect: a former name is not that of another member
void check(const s1& s) { (void)describe(s); }  // here "layers\.\*: name_in_use"
// expect: `removed` names no member of the class, the others do
void check(const s2& s) { (void)describe(s); }  // here "layers\.\*: misspelled"
// expect: cairn_changes is made of cairn::renamed, added, since, removed and resizable
void check(const not_a_list& s) { (void)describe(s); }  // here "not_a_list"
// expect: is private or of another form than .*`using cairn_changes = cairn::changes
void check(const private_changes& s) { (void)describe(s); }  // here "private_changes"
// expect: `removed` names no member of the class, the others do
void check(const removes_member& s) { (void)describe(s); }  // here "removes_member"
// expect: needs a cairn_version of at least N
void check(const since_no_version& s) { (void)describe(s); }  // here "since_no_version"

struct not_unsigned {
  int id = 0;
  static constexpr int cairn_version = 1;
};
struct base {
  int id = 0;
  static constexpr unsigned cairn_version = 1;
};
struct version_of_base : base {
  std::vector<float> weight;
  using cairn_bases = cairn::bases<base>;
  static auto cairn_fields() { return cairn::fields<&version_of_base::weight>{}; }
};
class private_version {
  int weight_ = 0;
  static constexpr unsigned cairn_version = 1;

 public:
  static auto cairn_fields() { return cairn::fields<&private_version::weight_>{}; }
};
// clang-format off
struct s3 { std::vector<version_of_base> layers; };
// clang-format on

// expect: is private or of another form than .*`static constexpr unsigned cairn_version
void check(const not_unsigned& s) { (void)describe(s); }     // here "not_unsigned"
void check(const private_version& s) { (void)describe(s); }  // here "private_version"
// expect: A cairn_version is that of this class, not of one in cairn_bases
void check(const s3& s) { (void)describe(s); }  // here "layers\.\*: version_of_base"

struct other_argument {
  std::vector<float> weight;
  static constexpr unsigned cairn_version = 1;
  void cairn_migrate(const std::string& old);
};
struct without_version {
  std::vector<float> weight;
  void cairn_migrate(cairn::stored_parts& old) { weight = old.get<std::vector<float>>("w"); }
};
class private_migration {
  int weight_ = 0;
  void cairn_migrate(cairn::stored_parts&) { weight_ = 1; }

 public:
  static constexpr unsigned cairn_version = 1;
  static auto cairn_fields() { return cairn::fields<&private_migration::weight_>{}; }
};
// clang-format off
struct s4 { std::vector<other_argument> layers; };
// clang-format on

// expect: with a version and a default constructor, `void cairn_migrate\(cairn::stored_parts& old\)`
void check(const s4& s) { (void)describe(s); }                 // here "layers\.\*: other_argument"
void check(const without_version& s) { (void)describe(s); }    // here "without_version"
void check(const private_migration& s) { (void)describe(s); }  // here "private_migration"

struct reads_pointer {
  int first = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "first">;
  // expect: a raw pointer does not say how much it points to
  void cairn_migrate(cairn::stored_parts& old) { first = *old.get<int*>("all"); }  // here "int ?\*"
};
struct rate {
  explicit rate(float initial) : value(initial) {}
  float value;
  static auto cairn_fields() { return cairn::fields<&rate::value>{}; }
};
struct reads_without_constructor {
  float first = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "first">;
  // expect: stored_parts::get makes the value that it returns
  // expect: use `load` into an object that exists
  // lines: 15 there is one error
  void cairn_migrate(cairn::stored_parts& old) { first = old.get<rate>("rate").value; }  // here
};
void check(const reads_pointer& s) { (void)describe(s); }
void check(const reads_without_constructor& s) { (void)describe(s); }

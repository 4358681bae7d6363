// SPDX-License-Identifier: MIT
// The lines cairn_fields, cairn_bases and cairn_skip, the paths that they give, and cairn::by_name.
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

struct with_static {
  int a = 0;
  static inline int count = 0;
  static auto cairn_fields() { return cairn::fields<&with_static::a, &with_static::count>{}; }
};
struct with_number {
  int a = 0;
  static auto cairn_fields() { return cairn::fields<&with_number::a, nullptr, 3>{}; }
};
struct not_static {
  int value = 0;
  auto cairn_fields() const { return cairn::fields<&not_static::value>{}; }
};
struct not_a_list {
  int value = 0;
  static int cairn_fields() { return 0; }
};
struct a_type {
  int value = 0;
  using cairn_fields = cairn::fields<&a_type::value>;
};
class private_fields {
  int hits_ = 0;
  static auto cairn_fields() { return cairn::fields<&private_fields::hits_>{}; }
};
// clang-format off
struct f1 { with_static a; };
struct f2 { with_number b; };
struct f3 { not_static a; };
struct f4 { not_a_list b; };
struct f5 { a_type c; };
// clang-format on

// expect: `static auto cairn_fields\(\) .* .members that are not static
void check(const f1& s) { (void)describe(s); }  // here "a: with_static"
void check(const f2& s) { (void)describe(s); }  // here "b: with_number"
// expect: is private or of another form than `static auto cairn_fields\(\)
void check(const f3& s) { (void)describe(s); }              // here "a: not_static"
void check(const f4& s) { (void)describe(s); }              // here "b: not_a_list"
void check(const f5& s) { (void)describe(s); }              // here "c: a_type"
void check(const private_fields& s) { (void)describe(s); }  // here "private_fields"

struct base {
  int x = 0;
};
struct derived : base {
  int x = 0;
  using cairn_bases = cairn::bases<base>;
  static auto cairn_fields() { return cairn::fields<&derived::x>{}; }
};
struct underscore {
  int a = 0, a_ = 0;
  static auto cairn_fields() { return cairn::fields<&underscore::a, &underscore::a_>{}; }
};
struct container : std::vector<int> {
  int base = 0;
  using cairn_bases = cairn::bases<std::vector<int>>;
  static auto cairn_fields() { return cairn::fields<&container::base>{}; }
};
// clang-format off
struct p1 { std::optional<derived> a; };
struct p2 { std::optional<underscore> b; };
struct p3 { std::optional<container> c; };
struct p4 { int __metadata__ = 0; };
// clang-format on

// expect: have the same path
void check(const p1& s) { (void)describe(s); }  // here "a: member x of derived"
void check(const p2& s) { (void)describe(s); }  // here "b: member a of underscore"
void check(const p3& s) { (void)describe(s); }  // here "c: member base of container"
// expect: or one has the reserved path __metadata__
void check(const p4& s) { (void)describe(s); }  // here "member __metadata__ of p4"

struct skip_and_fields {
  int weight = 0, cache = 0;
  using cairn_skip = cairn::names<"cache">;
  static auto cairn_fields() { return cairn::fields<&skip_and_fields::weight, &skip_and_fields::cache>{}; }
};
struct skip_misspelled {
  int weight = 0, cache = 0;
  using cairn_skip = cairn::names<"cahce">;
};
struct skip_twice {
  int weight = 0, cache = 0;
  using cairn_skip = cairn::names<"cache", "cache">;
};
struct skip_not_names {
  int weight = 0, cache = 0;
  using cairn_skip = int;
};

// expect: is not for a class with cairn_fields, whose list leaves out the members that are not state
void check(const skip_and_fields& s) { (void)describe(s); }  // here "skip_and_fields"
// expect: cairn_skip has each name once, as the struct that contains it has it
void check(const skip_misspelled& s) { (void)describe(s); }  // here "skip_misspelled"
void check(const skip_twice& s) { (void)describe(s); }       // here "skip_twice"
// expect: is private or of another form than .*`using cairn_skip = cairn::names
void check(const skip_not_names& s) { (void)describe(s); }  // here "skip_not_names"

struct counted {
  int count = 0;
};

struct without_lines : counted {
  int step;
};
// expect: using cairn_bases = cairn::bases<Base>
void check(const without_lines& s) { (void)describe(s); }  // here "without_lines"

struct without_own_fields : counted {
  int step;
  using cairn_bases = cairn::bases<counted>;
};
// expect: leaves out the members of the class itself: add them with a public line
void check(const without_own_fields& s) { (void)describe(s); }  // here "without_own_fields"

struct bases_not_a_list : counted {
  float weight = 0;
  using cairn_bases = counted;
  static auto cairn_fields() { return cairn::fields<&bases_not_a_list::weight>{}; }
};
class private_list : public counted {
  using cairn_bases = cairn::bases<counted>;
  float weight_ = 0;

 public:
  static auto cairn_fields() { return cairn::fields<&private_list::weight_>{}; }
};
struct state {
  private_list hidden;
};
// expect: is private or of another form than .*`using cairn_bases = cairn::bases<Base>;`
void check(const bases_not_a_list& s) { (void)describe(s); }  // here "bases_not_a_list"
void check(const state& s) { (void)describe(s); }             // here "hidden: private_list"

class private_base : counted {
 public:
  int step = 0;
  using cairn_bases = cairn::bases<counted>;
  static auto cairn_fields() { return cairn::fields<&private_base::step>{}; }
};
// expect: cairn::bases<Base>;` .direct, public base classes
void check(const private_base& s) { (void)describe(s); }  // here "private_base"

struct shared : std::enable_shared_from_this<shared> {
  int step;
};
// expect: enable_shared_from_this
void check(const shared& s) { (void)describe(s); }  // here "shared"

enum class other { relu, tanh };
// clang-format off
enum class enum_not_a_list { relu, tanh };
template <> struct cairn::by_name<enum_not_a_list> {};
struct e1 { enum_not_a_list one{}; };
// expect: cairn::by_name lists values of the enum, .* cairn::enumerators<
void check(const e1& s) { (void)describe(s); }  // here "one: enum_not_a_list"

enum class listed_twice { relu, tanh };
template <> struct cairn::by_name<listed_twice> : cairn::enumerators<listed_twice::relu, listed_twice::relu> {};
struct e2 { listed_twice one{}; };
// expect: each once and with a name of its own
void check(const e2& s) { (void)describe(s); }  // here "one: listed_twice"

enum class of_other { relu, tanh };
template <>
struct cairn::by_name<of_other> : cairn::enumerators<of_other::relu, cairn::enumerator<"t", other::tanh>> {};
struct e3 { of_other one{}; };
// expect: lists values of the enum
void check(const e3& s) { (void)describe(s); }  // here "one: of_other"

enum class no_name { relu, tanh };
template <> struct cairn::by_name<no_name> : cairn::enumerators<no_name::relu, no_name{5}> {};
struct e4 { std::vector<no_name> all; };
// expect: A value without a name in C.. gets one by
void check(const e4& s) { (void)describe(s); }  // here "all\.\*: no_name"
// clang-format on

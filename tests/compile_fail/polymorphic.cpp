// SPDX-License-Identifier: MIT
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

struct layer {
  virtual ~layer() = default;
  virtual void run() {}
};

// clang-format off
struct s1 { std::unique_ptr<layer> first; };
// expect: needs the closed list of types
void check(const s1& s) { (void)describe(s); }  // here "first: std::unique_ptr<layer>"

struct other_form : layer {};
template <> struct cairn::polymorphic<other_form> {};
struct s2 { std::unique_ptr<other_form> first; };
// expect: cairn::one_of<A, B>
void check(const s2& s) { (void)describe(s); }  // here "first: std::unique_ptr<other_form

struct lists_none : layer {};
template <> struct cairn::polymorphic<lists_none> : cairn::one_of<> {};
struct s3 { std::unique_ptr<lists_none> first; };
// expect: cairn::polymorphic<Base> lists classes with their definitions
void check(const s3& s) { (void)describe(s); }  // here "first: std::unique_ptr<lists_none>"

struct lists_declared : layer {};
struct declared;
template <> struct cairn::polymorphic<lists_declared> : cairn::one_of<declared> {};
struct s4 { std::unique_ptr<lists_declared> first; };
// expect: cairn::polymorphic<Base> lists classes with their definitions
void check(const s4& s) { (void)describe(s); }  // here "first: std::unique_ptr<lists_declared>"

struct lists_other : layer {};
struct other {};
template <> struct cairn::polymorphic<lists_other> : cairn::one_of<other> {};
struct s5 { std::unique_ptr<lists_other> first; };
// expect: are derived from Base publicly and once
void check(const s5& s) { (void)describe(s); }  // here "first: std::unique_ptr<lists_other>"

struct lists_both : layer {};
struct left : lists_both {};
struct right : lists_both {};
struct both : left, right {};
template <> struct cairn::polymorphic<lists_both> : cairn::one_of<both> {};
struct s6 { std::unique_ptr<lists_both> first; };
// expect: are derived from Base publicly and once
void check(const s6& s) { (void)describe(s); }  // here "first: std::unique_ptr<lists_both>"

struct lists_abstract : layer {};
struct activation : lists_abstract { virtual float at(float x) = 0; };
template <> struct cairn::polymorphic<lists_abstract> : cairn::one_of<activation> {};
struct s7 { std::unique_ptr<lists_abstract> first; };
// expect: and none of them abstract
void check(const s7& s) { (void)describe(s); }  // here "first: std::unique_ptr<lists_abstract>"

struct lists_twice : layer {};
struct twice : lists_twice {};
template <> struct cairn::polymorphic<lists_twice> : cairn::one_of<twice, cairn::named<"other", twice>> {};
struct s8 { std::unique_ptr<lists_twice> first; };
// expect: each once and none of them abstract
void check(const s8& s) { (void)describe(s); }  // here "first: std::unique_ptr<lists_twice>"

struct one_name : layer {};
struct dense : one_name {};
struct conv : one_name {};
template <> struct cairn::polymorphic<one_name> : cairn::one_of<dense, cairn::named<"conv", conv, "dense">> {};
struct s9 { std::unique_ptr<one_name> first; };
// expect: Each has a name of its own
void check(const s9& s) { (void)describe(s); }  // here "first: std::unique_ptr<one_name>"

struct two_namespaces : layer {};
namespace a { struct dense : two_namespaces {}; }
namespace b { struct dense : two_namespaces {}; }
template <> struct cairn::polymorphic<two_namespaces> : cairn::one_of<a::dense, b::dense> {};
// expect: Each has a name of its own, namespaces apart
void check(const std::unique_ptr<two_namespaces>& s) { (void)describe(s); }  // here "std::unique_ptr<two_namespaces>"

struct lists_template : layer {};
template <class T> struct typed : lists_template {};
template <> struct cairn::polymorphic<lists_template> : cairn::one_of<typed<float>> {};
struct s10 { std::unique_ptr<lists_template> first; };
// expect: as is each class that a template makes
void check(const s10& s) { (void)describe(s); }  // here "first: std::unique_ptr<lists_template>"

struct no_name : layer {};
struct pooling : no_name {};
template <> struct cairn::polymorphic<no_name> : cairn::one_of<cairn::named<"", pooling>> {};
// expect: is given one that is not empty
void check(const std::unique_ptr<no_name>& s) { (void)describe(s); }  // here "std::unique_ptr<no_name>"

struct not_virtual {};
struct derived : not_virtual {};
template <> struct cairn::polymorphic<not_virtual> : cairn::one_of<not_virtual, derived> {};
struct s11 { std::unique_ptr<not_virtual> first; };
// expect: give the base class a virtual destructor: without virtual functions it does not tell the type of an
void check(const s11& s) { (void)describe(s); }  // here "first: std::unique_ptr<not_virtual>"

struct no_destructor { virtual void run() {} };
struct deleted : no_destructor {};
template <> struct cairn::polymorphic<no_destructor> : cairn::one_of<deleted> {};
struct s12 { std::unique_ptr<no_destructor> first; };
// expect: give the base class a virtual destructor: .* and a unique_ptr deletes objects
void check(const s12& s) { (void)describe(s); }  // here "first: std::unique_ptr<no_destructor>"
// clang-format on

struct with_list : layer {
  int id = 0;
  static auto cairn_fields() { return cairn::fields<&with_list::id>{}; }
};
struct with_weight : with_list {
  std::vector<float> weight;
};
struct with_empty_list : layer {
  static auto cairn_fields() { return cairn::fields<>{}; }
};
struct with_number : with_empty_list {
  float number = 0;
};
template <>
struct cairn::polymorphic<with_list> : cairn::one_of<with_weight> {};
template <>
struct cairn::polymorphic<with_empty_list> : cairn::one_of<with_number> {};
struct s13 {
  std::vector<std::unique_ptr<with_list>> layers;
};
struct s14 {
  std::unique_ptr<with_empty_list> first;
};

// expect: a list for the base classes leaves out the members of the class itself
void check(const s13& s) { (void)describe(s); }  // here "layers\.\*: with_weight"
void check(const s14& s) { (void)describe(s); }  // here "first: with_number"

// SPDX-License-Identifier: MIT
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

template <class T>
struct has {
  T part{};
};
struct row {
  const int width = 3;
};
class listed {
 public:
  static auto cairn_fields() { return cairn::fields<&listed::height_>{}; }

 private:
  const int height_ = 3;
};
class table {
 public:
  const float* values() const { return values_; }

 private:
  const float* values_ = nullptr;
};
template <>
struct cairn::adapter<table> {
  static tensor_view<const float> view(table& t) { return {t.values(), {3}}; }
};

// expect: what is const can be saved but not loaded into: drop the const
void check(row& s) { (void)cairn::refer(s); }                                // here "width"
void check(listed& s) { (void)cairn::refer(s); }                             // here "height"
void check(has<std::array<const float, 2>>& s) { (void)cairn::refer(s); }    // here "part\.\*"
void check(has<std::tuple<int, const float>>& s) { (void)cairn::refer(s); }  // here "part\.1"

// expect: also of the elements of a span
void check(has<std::span<const float>>& s) { (void)cairn::refer(s); }           // here "part\.\*"
void check(has<cairn::tensor_view<const float>>& s) { (void)cairn::refer(s); }  // here "part"
void check(has<table>& s) { (void)cairn::refer(s); }                            // here "part"

// expect: use cairn::state in place of cairn::const_state
void check(has<cairn::const_state>& s) { (void)cairn::refer(s); }  // here "part"

// expect: assigns the content of an optional, a variant or a container, .* drop its const
void check(const has<std::list<row>>& s) { (void)describe(s); }              // here "part: std::(__cxx11::)?list<row>"
void check(const has<std::optional<const float>>& s) { (void)describe(s); }  // here "part: std::optional<const float>"
using number_or_const = std::variant<int, const float>;
void check(const has<number_or_const>& s) { (void)describe(s); }  // here "part: std::variant<int, const float>"

class scale {
 public:
  explicit scale(int by) : by_(by) {}
  static auto cairn_fields() { return cairn::fields<&scale::by_>{}; }

 private:
  int by_;
};

// expect: replaces an object behind a pointer to const: drop its const
using with_deleter = std::unique_ptr<const int, void (*)(const int*)>;
void check(const has<with_deleter>& s) { (void)describe(s); }  // here "part: std::unique_ptr<const int,
// expect: behind a pointer without a deleter of yours, a default constructor
using shared_scale = std::shared_ptr<const scale>;
void check(const has<shared_scale>& s) { (void)describe(s); }  // here "part: std::shared_ptr<const scale>"

void check(const std::vector<float>& weights, std::vector<float> (*make)()) {
  // expect: a const object cannot be loaded into: use cairn::const_state
  const cairn::state all{{"weights", weights}};  // here
  // expect: a temporary object is gone when the state is used
  const cairn::state made{{"weights", make()}};  // here
  // expect: give cairn::const_state an object that lives longer
  const cairn::const_state made_const{{"weights", make()}};  // here
}

// SPDX-License-Identifier: MIT
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

struct raw {
  float* weights;
};
struct model {
  raw self_attention;
};
struct encoder {
  std::vector<model> layers;
};
struct translator {
  encoder text_encoder;
};
struct deep {
  translator best_so_far;  // clang prints no text of more than 36 characters as a whole
};
struct moments {
  float* exponential_moving_average_of_the_squared_gradient;
};
struct long_name {
  moments all;
};
struct not_ascii {
  float* größe;
};
struct parameter {
  float* first;
  std::array<std::size_t, 2> dims;
  std::string name;
  float* data() const { return first; }
  const std::array<std::size_t, 2>& shape() const { return dims; }
};
struct with_operations {
  parameter weight;
};

// expect: a raw pointer does not say how much it points to
void check(const raw& s) { (void)describe(s); }        // here "weights: float ?\*"
void check(const not_ascii& s) { (void)describe(s); }  // here "gr\?\?e: float ?\*"
// expect: a raw pointer does not say how much it points to
// expect: "best_so_far\.text_encoder\.layers\.\*\..*self_attention\.weights: float ?\*"
void check(const deep& s) { (void)describe(s); }  // here
// expect: a raw pointer does not say how much it points to
// expect: "all\..*exponential_moving_average_of_the_sq.*uared_gradient: float ?\*"
void check(const long_name& s) { (void)describe(s); }  // here
// expect: specialise cairn::adapter for its class
void check(const with_operations& s) { (void)describe(s); }  // here "weight\.first: float ?\*"

// clang-format off
struct f1 { float (*activation)(float) = nullptr; };
struct f2 { void (f2::*step)() = nullptr; };
struct f3 { float raw::* member; };
// clang-format on

// expect: a pointer to a function cannot be saved: save which function it is, for example by an enum or a name
void check(const f1& s) { (void)describe(s); }  // here "activation: float ?\(\*\)\(float\)"
void check(const f2& s) { (void)describe(s); }  // here "step: void ?\(f2::\*\)\(\)"
// expect: a raw pointer does not say how much it points to
void check(const f3& s) { (void)describe(s); }  // here "member: float ?raw::\*"

class pimpl {
 public:
  pimpl();
  ~pimpl();
  static auto cairn_fields() { return cairn::fields<&pimpl::hidden_>{}; }

 private:
  struct implementation;
  std::unique_ptr<implementation> hidden_;
};
struct implementation;
// clang-format off
struct s1 { std::shared_ptr<implementation> hidden; };
struct s2 { std::unique_ptr<float[]> weights; };
struct s3 { std::shared_ptr<void> handle; };
struct s4 { std::unique_ptr<volatile int> flag; };
// clang-format on

// expect: a pointer to .* an incomplete type .* include the definition
void check(const pimpl& s) { (void)describe(s); }  // here "hidden: std::unique_ptr<pimpl::.*implementation>"
void check(const s1& s) { (void)describe(s); }     // here "hidden: std::shared_ptr<.*implementation>"
// expect: a pointer to an array, .* use std::vector
void check(const s2& s) { (void)describe(s); }  // here "weights: std::unique_ptr<float ?\[\]>"
// expect: a pointer to .* void, .* to the type, or std::variant
void check(const s3& s) { (void)describe(s); }  // here "handle: std::shared_ptr<void>"
// expect: a pointer to .* volatile cannot be saved: .* drop the volatile
void check(const s4& s) { (void)describe(s); }  // here "flag: std::unique_ptr<volatile int>"

// SPDX-License-Identifier: MIT
// expect: a pointer to a polymorphic class needs the closed list of types that it may point to
// expect: "std::unique_ptr<base>"
// lines: 45 calls of cereal are between the member and the state
#include <cereal/archives/binary.hpp>
#include <cereal/types/polymorphic.hpp>
#include <memory>

#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

class base {
 public:
  virtual ~base() = default;
  template <class Archive>
  void serialize(Archive&) {}
};

class derived : public base {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x);
  }

 private:
  int x = 0;
};
CEREAL_REGISTER_TYPE(derived)
CEREAL_REGISTER_POLYMORPHIC_RELATION(base, derived)

class state {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(pointer);  // here
  }

 private:
  std::unique_ptr<base> pointer;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here

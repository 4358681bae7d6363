// SPDX-License-Identifier: MIT
#include <cereal/archives/binary.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/polymorphic.hpp>
#include <memory>

#include "cairn/adapters/cereal.hpp"
#include "cairn/state/describe.hpp"

using cairn::detail::describe;

class only_saved {
 public:
  template <class Archive>
  void save(Archive& ar) const {
    ar(x_);
  }

 private:
  int x_ = 0;
};
class only_loaded {
 public:
  template <class Archive>
  void load(Archive& ar) {
    ar(x_);
  }

 private:
  int x_ = 0;
};
class base {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x_);
  }

 private:
  int x_ = 0;
};
class derived : public base {
  int y_ = 0;
};
class several : public base {
 public:
  template <class Archive>
  void save(Archive& ar) const {
    ar(y_);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(y_);
  }

 private:
  int y_ = 0;
};
class no_default {
 public:
  explicit no_default(int value) : x_(value) {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x_);
  }

 private:
  int x_;
};

// expect: needs a cereal function of its own that saves it, and one that loads it
void check(const only_saved& s) { (void)describe(s); }   // here "only_saved"
void check(const only_loaded& s) { (void)describe(s); }  // here "only_loaded"
// expect: needs a cereal function of its own
// expect: Those of a base class leave out its own members
void check(const derived& s) { (void)describe(s); }  // here "derived"
// expect: Of several choose with CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES
void check(const several& s) { (void)describe(s); }  // here "several"
// expect: is tried on a new object first, .* give this class a default constructor
void check(const no_default& s) { (void)describe(s); }  // here "no_default"

template <bool Serialize>
class constructed {
 public:
  explicit constructed(int x) : x_(x) {}
  template <class Archive>
  requires Serialize
  void serialize(Archive& ar) {
    ar(x_);
  }
  template <class Archive>
  requires(!Serialize)
  void save(Archive& ar) const {
    ar(x_);
  }
  template <class Archive>
  static void load_and_construct(Archive& ar, cereal::construct<constructed>& construct) {
    int x = 0;
    ar(x);
    construct(x);
  }

 private:
  int x_;
};
struct s1 {
  std::unique_ptr<constructed<true>> pointer;
};
struct s2 {
  std::shared_ptr<constructed<false>> pointer;
};

// expect: load_and_construct is not called
void check(const s1& s) { (void)describe(s); }  // here "pointer: constructed<true>"
void check(const s2& s) { (void)describe(s); }  // here "pointer: constructed<false>"

class polymorphic {
 public:
  virtual ~polymorphic() = default;
  template <class Archive>
  void serialize(Archive&) {}
};
class registered : public polymorphic {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x_);
  }

 private:
  int x_ = 0;
};
CEREAL_REGISTER_TYPE(registered)
CEREAL_REGISTER_POLYMORPHIC_RELATION(polymorphic, registered)

class with_const {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    // expect: cairn: a cereal function loads into something const
    // lines: 45 calls of cereal are between the member and the state
    ar(number_);  // here pass_to.*const int
  }

 private:
  const int number_ = 1;
};
class with_binary {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    // expect: cairn: a cereal function loads into something const
    // lines: 45 calls of cereal are between the member and the state
    ar(cereal::binary_data(static_cast<const float*>(numbers_), sizeof(numbers_)));  // here pass_binary
  }

 private:
  float numbers_[4] = {};
};
class with_raw_pointer {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    // expect: a raw pointer does not say how much it points to
    // lines: 45 calls of cereal are between the member and the state
    ar(pointer_);  // here "int ?\*"
  }

 private:
  int* pointer_ = nullptr;
};
class with_polymorphic {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    // expect: a pointer to a polymorphic class needs the closed list of types that it may point to
    // lines: 45 calls of cereal are between the member and the state
    ar(pointer_);  // here "std::unique_ptr<polymorphic>"
  }

 private:
  std::unique_ptr<polymorphic> pointer_;
};
class with_part {
 public:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(part_);
  }

 private:
  only_saved part_;
};

// expect: cairn
// lines: 45 calls of cereal are between the member and the state
void check(const with_const& s) { (void)describe(s); }        // here pass_to.*const int
void check(const with_binary& s) { (void)describe(s); }       // here pass_binary
void check(const with_raw_pointer& s) { (void)describe(s); }  // here "int ?\*"
void check(const with_polymorphic& s) { (void)describe(s); }  // here "std::unique_ptr<polymorphic>"
// expect: needs a cereal function of its own that saves it, and one that loads it
// lines: 45 calls of cereal are between the member and the state
void check(const with_part& s) { (void)describe(s); }  // here "only_saved"

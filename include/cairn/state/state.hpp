// SPDX-License-Identifier: MIT
// A state without a struct: references to objects, with names.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/operations.hpp"

namespace cairn::inline v0_1 {

class state;
class const_state;
template <class T>
class sharded;

namespace detail {

/// Names, each with a pointer to an object and the walk function of its type. A copy refers to the same objects.
class named_references {
 public:
  struct reference {
    std::string name;
    void* object;
    walk_function walk;
    std::shared_ptr<void> nested{};  ///< keeps what is at `object`; null: the object is the caller's
  };

  [[nodiscard]] const std::vector<reference>& all() const noexcept { return all_; }

 protected:
  /// errc::invalid: a name that is empty, has a '.', or is there twice.
  void add(reference one);

  template <bool Loads, class T>
  static reference refer_to(std::string name, const T& object) {
    return {std::move(name), const_cast<T*>(std::addressof(object)),  // what is const is only saved
            checked_part_walk<T, Loads>()};
  }
  template <bool Loads, class Box>
  static reference refer_to_box(std::string name, std::shared_ptr<Box> box) {
    auto made = refer_to<Loads>(std::move(name), *box);
    made.nested = std::move(box);
    return made;
  }
  static reference refer_to_copy(std::string name, const named_references& nested);

 private:
  std::vector<reference> all_;
};

/// Walks each object of the `named_references` at `all`.
void walk_references(walker& w, void* all);

}  // namespace detail

/// Objects that are saved and loaded together, where no struct has them: `cairn::state all{{"model", model}, {"rng",
/// rng}};` is used as a struct of these members is, and gives the same checkpoints. It refers to the objects, so these
/// have to live as long; a copy refers to the same objects. A value may be another `cairn::state`. errc::invalid: a
/// name that is empty, has a '.', or is there twice.
class state : public detail::named_references {
 public:
  /// A name and the object that it refers to, another state, or a box of a larger array.
  class part {
   public:
    template <class T>
    part(std::string name, T&& object) : what_(make(std::move(name), object)) {
      static_assert(
          std::is_lvalue_reference_v<T>,
          "cairn: a temporary object is gone when the state is used: give cairn::state an object that lives longer");
    }
    part(std::string name, state nested) : what_(refer_to_copy(std::move(name), nested)) {}
    template <class T>
    part(std::string name, sharded<T>&& box)
        : what_(refer_to_box<true>(std::move(name), std::make_shared<sharded<T>>(std::move(box)))) {}

   private:
    friend class state;

    template <class T>
    static reference make(std::string name, T& object) {
      static_assert(!std::is_const_v<T>,
                    "cairn: a const object cannot be loaded into: use cairn::const_state, which can only be saved");
      return refer_to<true>(std::move(name), std::as_const(object));
    }

    reference what_;
  };

  state(std::initializer_list<part> parts) {
    for (const part& each : parts) add(each.what_);
  }
};

/// As `cairn::state`, for objects that may be const. It can be saved but not loaded into.
class const_state : public detail::named_references {
 public:
  /// A name and the object that it refers to, another state, or a box of a larger array.
  class part {
   public:
    template <class T>
    part(std::string name, T&& object) : what_(refer_to<false>(std::move(name), std::as_const(object))) {
      static_assert(std::is_lvalue_reference_v<T>,
                    "cairn: a temporary object is gone when the state is used: give cairn::const_state an object that "
                    "lives longer");
    }
    part(std::string name, state nested) : what_(refer_to_copy(std::move(name), nested)) {}
    part(std::string name, const_state nested) : what_(refer_to_copy(std::move(name), nested)) {}

   private:
    friend class const_state;

    reference what_;
  };

  const_state(std::initializer_list<part> parts) {
    for (const part& each : parts) add(each.what_);
  }
};

}  // namespace cairn::inline v0_1

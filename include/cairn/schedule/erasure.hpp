// SPDX-License-Identifier: MIT
// What any_policy and any_estimator share: deep copies, and checks of the optional members of a user's type.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace cairn::inline v0_1::detail {

/// Owns an object that derives from `Interface`, and copies it by `Interface::clone`, which returns a std::unique_ptr.
template <class Interface>
class cloned {
 public:
  explicit cloned(std::unique_ptr<Interface> owned) noexcept : owned_(std::move(owned)) {}
  cloned(const cloned& other) : owned_(other.owned_->clone()) {}
  cloned& operator=(const cloned& other) {
    if (this != &other) owned_ = other.owned_->clone();
    return *this;
  }
  cloned(cloned&&) noexcept = default;
  cloned& operator=(cloned&&) noexcept = default;
  ~cloned() = default;

  [[nodiscard]] Interface* operator->() noexcept { return owned_.get(); }
  [[nodiscard]] const Interface* operator->() const noexcept { return owned_.get(); }

 private:
  std::unique_ptr<Interface> owned_;
};

// Optional members are found by their names alone, so that one that would never be called can be refused.

struct hook_names {
  int saved, restarted, remember, recall;
};

/// A name that `Type` has too is ambiguous here, whatever its signature and access.
template <class Type>
struct with_hook_names : Type, hook_names {};

/// The type in which a name is looked up. A final type cannot be a base, so its own members are named: those that are public and not
/// overloaded are found.
template <class Type>
using hook_lookup = typename std::conditional_t<std::is_final_v<Type>, std::type_identity<Type>,
                                                std::type_identity<with_hook_names<Type>>>::type;

template <class Type, bool IsNamed>
inline constexpr bool has_name = std::is_final_v<Type> ? IsNamed : !IsNamed;

/// Data members may have these names.
template <class Type>
concept has_function_saved = has_name<Type, requires { &hook_lookup<Type>::saved; }> &&
                             !requires { requires std::is_member_object_pointer_v<decltype(&Type::saved)>; };
template <class Type>
concept has_function_restarted = has_name<Type, requires { &hook_lookup<Type>::restarted; }> &&
                                 !requires { requires std::is_member_object_pointer_v<decltype(&Type::restarted)>; };
template <class Type>
concept has_function_remember = has_name<Type, requires { &hook_lookup<Type>::remember; }> &&
                                !requires { requires std::is_member_object_pointer_v<decltype(&Type::remember)>; };
template <class Type>
concept has_function_recall = has_name<Type, requires { &hook_lookup<Type>::recall; }> &&
                              !requires { requires std::is_member_object_pointer_v<decltype(&Type::recall)>; };

}  // namespace cairn::inline v0_1::detail

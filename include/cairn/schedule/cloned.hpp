// Ownership behind an interface, with deep copies: what any_policy and any_estimator hold.
#pragma once

#include <memory>
#include <utility>

namespace cairn::detail {

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

}  // namespace cairn::detail

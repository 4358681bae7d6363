// SPDX-License-Identifier: MIT
// A publication whose files a test opens: to count, to fail, or to act before or after.
#pragma once

#include "cairn/store/base.hpp"
#include "standard.hpp"

namespace tests {

class hooked_publication final : public cairn::stores::publication {
 public:
  using opener = std::function<std::unique_ptr<cairn::stores::source>(const cairn::stores::publication& of,
                                                                      std::string_view file)>;

  hooked_publication(std::shared_ptr<const publication> of, opener by) : of_(std::move(of)), by_(std::move(by)) {}

  [[nodiscard]] std::string location() const override { return of_->location(); }
  [[nodiscard]] std::vector<std::string> files() const override { return of_->files(); }
  [[nodiscard]] std::unique_ptr<cairn::stores::source> open(std::string_view file) const override {
    return by_(*of_, file);
  }

 private:
  std::shared_ptr<const publication> of_;
  opener by_;
};

}  // namespace tests

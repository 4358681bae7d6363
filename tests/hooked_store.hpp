// SPDX-License-Identifier: MIT
// A store that calls functions of a test around its calls: to fail, or to end the process.
#pragma once

#include "cairn/store/base.hpp"
#include "hooked_publication.hpp"
#include "standard.hpp"

struct store_hooks {
  std::function<void()> before_write = [] {
  };  ///< before a checkpoint is begun, joined, prepared or published, and before a file is created
  std::function<void()> after_write = [] {};  ///< after it is prepared or published
  /// Gets the names of the checkpoint and of the file.
  std::function<void(std::string_view, std::string_view)> before_open = [](std::string_view, std::string_view) {};
  std::function<void()> before_other = [] {
  };  ///< before the store is locked or listed, and before a checkpoint is removed
};

class hooked_transaction final : public cairn::stores::transaction {
 public:
  hooked_transaction(std::unique_ptr<transaction> base, store_hooks by) : base_(std::move(base)), by_(std::move(by)) {}

  cairn::stores::sink& create(std::string_view file, std::uint64_t bytes) override {
    by_.before_write();
    return base_->create(file, bytes);
  }
  void prepare() override {
    by_.before_write();
    base_->prepare();
    by_.after_write();
  }
  void publish() override {
    by_.before_write();
    base_->publish();
    by_.after_write();
  }
  [[nodiscard]] std::string attempt() const override { return base_->attempt(); }

 private:
  std::unique_ptr<transaction> base_;
  store_hooks by_;
};

struct hooked_store {
  cairn::any_store base;
  store_hooks by;

  [[nodiscard]] std::string location() const { return base.location(); }
  [[nodiscard]] cairn::stores::ownership lock() {
    by.before_other();
    return base.lock();
  }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) {
    by.before_write();
    return std::make_unique<hooked_transaction>(base.begin(name), by);
  }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> join(std::string_view name, std::string_view attempt) {
    by.before_write();
    return std::make_unique<hooked_transaction>(base.join(name, attempt), by);
  }
  [[nodiscard]] std::vector<std::string> list() const {
    by.before_other();
    return base.list();
  }
  [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
    return std::make_shared<tests::hooked_publication>(
        base.open(name), [before_open = by.before_open, name = std::string(name)](const auto& of, auto file) {
          before_open(name, file);
          return of.open(file);
        });
  }
  void remove(std::string_view name) {
    by.before_other();
    base.remove(name);
  }
};

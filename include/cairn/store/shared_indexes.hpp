// SPDX-License-Identifier: MIT
// A store whose indexes one rank has read for all: what a file system shows differs between hosts for a time, and thousands of ranks that read the same
// file wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::stores::detail {

/// Opens the files of another store, for reading alone. It keeps the text of each index that is opened; the store of another rank that has these texts opens
/// the same indexes. Copies share the texts. One thread at a time opens indexes.
class shared_indexes {
 public:
  /// Reads the indexes of `base`, which must outlive the copies of this object.
  explicit shared_indexes(const any_store* base) : base_(base) {}
  /// Has the indexes that another one has read, as its `texts` says; the others are those of `base`.
  shared_indexes(const any_store* base, std::string_view texts) : base_(base) {
    while (!texts.empty()) {
      const auto name = take(texts);
      known_->insert_or_assign(std::string(name), std::string(take(texts)));
    }
  }

  /// The indexes that were opened, with the names of their checkpoints.
  [[nodiscard]] std::string texts() const {
    std::string all;
    for (const auto& [name, text] : *known_)
      for (const auto* each : {&name, &text}) all += std::to_string(each->size()) + '\n' + *each;
    return all;
  }

  [[nodiscard]] std::string location() const { return base_->location(); }
  [[nodiscard]] ownership lock() const { only_reads(); }
  [[nodiscard]] std::unique_ptr<transaction> begin(std::string_view /*name*/) const { only_reads(); }
  void remove(std::string_view /*name*/) const { only_reads(); }
  [[nodiscard]] std::vector<std::string> list() const { return base_->list(); }
  [[nodiscard]] std::vector<std::string> files(std::string_view name) const { return base_->files(name); }
  [[nodiscard]] std::unique_ptr<source> open(std::string_view name, std::string_view file) const {
    if (file != cairn::detail::index_file) return base_->open(name, file);
    auto at = known_->find(name);
    if (at == known_->end()) {
      const auto opened = base_->open(name, file);
      at = known_->emplace(std::string(name), read_text(*opened, 0, opened->size())).first;
    }
    return std::make_unique<text_source>(at->second, base_->location() + "/" + std::string(name) + "/index.json");
  }

 private:
  class text_source final : public source {
   public:
    text_source(std::string text, std::string where) : text_(std::move(text)), where_(std::move(where)) {}
    [[nodiscard]] std::uint64_t size() const override { return text_.size(); }
    void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
      check_range(where_, text_.size(), offset, into);
      for (const auto& each : into) {
        if (!each.empty()) std::memcpy(each.data(), text_.data() + offset, each.size());
        offset += each.size();
      }
    }

   private:
    std::string text_, where_;
  };

  /// The next of the texts, each after its number of bytes and a new line.
  static std::string_view take(std::string_view& texts) {
    const auto end = texts.find('\n');
    const auto bytes = std::stoull(std::string(texts.substr(0, end)));
    const auto taken = texts.substr(end + 1, bytes);
    texts.remove_prefix(end + 1 + bytes);
    return taken;
  }
  [[noreturn]] void only_reads() const { fail(errc::invalid, {base_->location(), ": shared indexes are only read"}); }

  const any_store* base_;
  std::shared_ptr<std::map<std::string, std::string, std::less<>>> known_ =
      std::make_shared<std::map<std::string, std::string, std::less<>>>();
};

}  // namespace cairn::inline v0_1::stores::detail

// SPDX-License-Identifier: MIT
// Definitions of store/memory.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "cairn/store/memory.hpp"
#include "cairn/system/sort.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::stores {

namespace detail {

using cairn::detail::huge_buffer;

struct memory_file {
  std::shared_ptr<const huge_buffer> memory;
  std::uint64_t size = 0;
};

using memory_checkpoint = std::map<std::string, memory_file, std::less<>>;

/// A checkpoint that is being written.
struct memory_attempt {
  std::string id;
  memory_checkpoint files;
};

struct memory_contents {
  std::mutex mutex;  // guards all members
  std::map<std::string, std::shared_ptr<const memory_checkpoint>, std::less<>> published;
  std::map<std::string, memory_attempt, std::less<>> unfinished;
  std::uint64_t attempts = 0;
  bool owned = false;
};

class memory_sink final : public sink {
 public:
  explicit memory_sink(memory_file file) : file_(std::move(file)), bytes_(file_.memory->bytes().first(file_.size)) {}

  void write(std::uint64_t offset, std::span<const buffer> buffers) override {
    for (const auto& bytes : buffers) {
      if (offset > bytes_.size() || bytes.size() > bytes_.size() - offset)
        fail(errc::invalid, {"a write beyond the end of a file in memory"});
      if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
      offset += bytes.size();
    }
  }

 private:
  memory_file file_;  // stays while another writer ends the checkpoint
  std::span<std::byte> bytes_;
};

class memory_source final : public source {
 public:
  memory_source(memory_file file, std::string where) : file_(std::move(file)), where_(std::move(where)) {}

  [[nodiscard]] std::uint64_t size() const override { return file_.size; }

  using source::read;
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    check_range(where_, file_.size, offset, into);
    for (const auto& each : into) {
      if (!each.empty()) std::memcpy(each.data(), file_.memory->bytes().data() + offset, each.size());
      offset += each.size();
    }
  }

 private:
  memory_file file_;
  std::string where_;
};

class memory_transaction final : public transaction {
 public:
  /// With an `attempt`, joins it.
  memory_transaction(std::shared_ptr<memory_contents> contents, std::string name, std::string_view attempt = {})
      : contents_(std::move(contents)), name_(std::move(name)), attempt_(attempt), is_joined_(!attempt.empty()) {
    const std::lock_guard lock(contents_->mutex);
    if (is_joined_) {
      static_cast<void>(running());
      return;
    }
    const auto [at, is_new] = contents_->unfinished.try_emplace(name_);
    if (!is_new) fail(errc::busy, {"another thread is saving to memory/", name_});
    attempt_ = at->second.id = std::to_string(++contents_->attempts);
  }

  ~memory_transaction() override {
    const std::lock_guard lock(contents_->mutex);
    const auto at = contents_->unfinished.find(name_);
    if (at == contents_->unfinished.end() || at->second.id != attempt_) return;
    if (!is_joined_) {
      contents_->unfinished.erase(at);
      return;
    }
    for (const auto& file : created_) at->second.files.erase(file);
  }

  sink& create(std::string_view file, std::uint64_t bytes) override {
    const memory_file made{std::make_shared<const huge_buffer>(bytes), bytes};
    const std::lock_guard lock(contents_->mutex);
    if (!running().files.emplace(file, made).second) fail(errc::invalid, {"the file ", file, " is there already"});
    created_.emplace_back(file);
    sinks_.push_back(std::make_unique<memory_sink>(made));
    return *sinks_.back();
  }

  void prepare() override { created_.clear(); }

  void publish() override {
    if (is_joined_)
      fail(errc::invalid, {"memory/", name_, ": only the writer that has begun a checkpoint publishes it"});
    const std::lock_guard lock(contents_->mutex);
    contents_->published[name_] = std::make_shared<const memory_checkpoint>(std::move(running().files));
    contents_->unfinished.erase(name_);
  }

  [[nodiscard]] std::string attempt() const override { return attempt_; }

 private:
  /// The caller holds contents_->mutex.
  [[nodiscard]] memory_attempt& running() {
    const auto at = contents_->unfinished.find(name_);
    if (at == contents_->unfinished.end() || at->second.id != attempt_)
      fail(errc::not_found, {"nobody is saving to memory/", name_, " as attempt ", attempt_});
    return at->second;
  }

  std::shared_ptr<memory_contents> contents_;
  std::string name_, attempt_;
  bool is_joined_;
  std::vector<std::string> created_;  // and not prepared
  std::vector<std::unique_ptr<memory_sink>> sinks_;
};

/// Keeps its files readable.
class memory_publication final : public publication {
 public:
  memory_publication(std::string location, std::shared_ptr<const memory_checkpoint> files)
      : location_(std::move(location)), files_(std::move(files)) {}

  [[nodiscard]] std::string location() const override { return location_; }
  [[nodiscard]] std::vector<std::string> files() const override {
    std::vector<std::string> names;
    for (const auto& [file, contents] : *files_) names.push_back(file);
    return names;
  }
  [[nodiscard]] std::unique_ptr<source> open(std::string_view file) const override {
    const auto where = sentence({location_, "/", file});
    const auto at = files_->find(file);
    if (at == files_->end()) fail(errc::not_found, {"there is no file ", where});
    return std::make_unique<memory_source>(at->second, where);
  }

 private:
  std::string location_;
  std::shared_ptr<const memory_checkpoint> files_;
};

/// errc::not_found. The caller holds contents.mutex.
[[nodiscard]] inline auto find(const memory_contents& contents, std::string_view name) {
  const auto at = contents.published.find(name);
  if (at == contents.published.end()) fail(errc::not_found, {"there is no checkpoint memory/", name});
  return at;
}

}  // namespace detail

memory::memory() : contents_(std::make_shared<detail::memory_contents>()) {}

ownership memory::lock() {
  const std::lock_guard guard(contents_->mutex);
  if (std::exchange(contents_->owned, true)) fail(errc::busy, {"somebody else is saving to memory"});
  return {contents_.get(), [contents = contents_](const void*) {
            const std::lock_guard giving_back(contents->mutex);
            contents->owned = false;
          }};
}

std::unique_ptr<transaction> memory::begin(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  return std::make_unique<detail::memory_transaction>(contents_, std::string(name));
}

std::unique_ptr<transaction> memory::join(std::string_view name, std::string_view attempt) {
  if (attempt.empty()) fail(errc::not_found, {"nobody is saving to memory/", name, " as that attempt"});
  return std::make_unique<detail::memory_transaction>(contents_, std::string(name), attempt);
}

std::vector<std::string> memory::list() const {
  const std::lock_guard guard(contents_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, files] : contents_->published) names.push_back(name);
  cairn::detail::sort_items(names, checkpoint_before);
  return names;
}

std::shared_ptr<const publication> memory::open(std::string_view name) const {
  const std::lock_guard guard(contents_->mutex);
  return std::make_shared<detail::memory_publication>(sentence({"memory/", name}),
                                                      detail::find(*contents_, name)->second);
}

void memory::remove(std::string_view name) {
  const std::lock_guard guard(contents_->mutex);
  contents_->published.erase(detail::find(*contents_, name));
}

}  // namespace cairn::inline v0_1::stores

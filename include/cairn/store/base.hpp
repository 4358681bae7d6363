// The contract of a store: named checkpoints, each a set of named files that appear together or not at all.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn {

namespace stores {

/// Bytes to write, somewhere in memory.
using part = std::span<const std::byte>;

/// Some bytes of a stored file, readable as long as the window lives.
class window {
 public:
  window() = default;
  window(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

/// A stored file, open for reading. Stays readable when the checkpoint is replaced or removed meanwhile.
class source {
 public:
  source() = default;
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  virtual ~source() = default;

  /// Bytes in the file when it was opened.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// The bytes [offset, offset + length); errc::corrupt when the file ends before. Thread-safe. A window
  /// holds memory for its length: ask for megabytes, not for the file.
  [[nodiscard]] virtual window view(std::uint64_t offset, std::uint64_t length) const = 0;
};

/// A file of a checkpoint in the making, of a size that was told. All operations are thread-safe on disjoint
/// ranges.
class sink {
 public:
  sink() = default;
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;
  virtual ~sink() = default;

  /// Writes the parts, one behind the other, from `offset` on: all of them, or throws errc::io.
  virtual void write(std::uint64_t offset, std::span<const part> parts) = 0;
  /// What `write` needs every address and offset to be a multiple of, and every length but that of the file's
  /// end.
  [[nodiscard]] virtual std::size_t alignment() const noexcept { return 1; }
  /// The store's own memory of the range, to be filled instead of calling `write`; empty where there is none.
  [[nodiscard]] virtual std::span<std::byte> memory(std::uint64_t /*offset*/, std::uint64_t /*length*/) { return {}; }
  /// Threads that keep the device busy; 0: as many as there are cores.
  [[nodiscard]] virtual unsigned writers() const noexcept { return 0; }
};

/// A checkpoint in the making. Destroyed without commit, it leaves nothing behind.
class transaction {
 public:
  transaction() = default;
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  virtual ~transaction() = default;

  /// A new file of `bytes` bytes, all of which must be written before `commit`. Lives as long as the
  /// transaction.
  virtual sink& create(std::string_view file, std::uint64_t bytes) = 0;
  /// Publishes the checkpoint, in place of an older one of its name. Afterwards a reader sees all of it,
  /// before none of it, and a crash cannot lose it where the store is durable.
  virtual void commit() = 0;
};

/// Exclusive ownership of a store for saving; given back with the last copy.
using ownership = std::shared_ptr<const void>;

}  // namespace stores

/// Keeps named checkpoints. Laws: what `open` gives after `commit` is what was written; `list` names exactly
/// what was committed and not removed; nothing that fails or crashes half-way is ever listed; files that a
/// store did not write stay where they are. Errors are cairn::error: io, busy, not_found, invalid.
template <class Store>
concept store = requires(Store& self, const Store& view, std::string_view name, std::string_view file) {
  /// Where it is, for messages.
  { view.location() } -> std::convertible_to<std::string>;
  /// Ownership for saving, against other processes too; errc::busy when taken.
  { self.lock() } -> std::convertible_to<stores::ownership>;
  /// Starts a checkpoint; errc::busy when another process makes one of this name.
  { self.begin(name) } -> std::convertible_to<std::unique_ptr<stores::transaction>>;
  /// Names of the published checkpoints, oldest first as `checkpoint_before` has it.
  { view.list() } -> std::convertible_to<std::vector<std::string>>;
  /// Names of the files of a checkpoint, ascending; errc::not_found.
  { view.files(name) } -> std::convertible_to<std::vector<std::string>>;
  /// errc::not_found when there is no such checkpoint or file.
  { view.open(name, file) } -> std::convertible_to<std::unique_ptr<stores::source>>;
  /// Unpublishes first, then deletes; errc::not_found.
  self.remove(name);
} && std::move_constructible<Store>;  // asked last: a class with a constructor from any_store would ask itself

/// Any store, chosen at run time. Copies share the store.
class any_store {
 public:
  template <class Store>
  requires(!std::same_as<std::remove_cvref_t<Store>, any_store> && store<std::remove_cvref_t<Store>>)
  any_store(Store&& chosen)  // NOLINT: a store is meant to become an any_store by itself
      : self_(std::make_shared<model<std::remove_cvref_t<Store>>>(std::forward<Store>(chosen))) {}

  [[nodiscard]] std::string location() const { return self_->location(); }
  [[nodiscard]] stores::ownership lock() { return self_->lock(); }
  [[nodiscard]] std::unique_ptr<stores::transaction> begin(std::string_view name) { return self_->begin(name); }
  [[nodiscard]] std::vector<std::string> list() const { return self_->list(); }
  [[nodiscard]] std::vector<std::string> files(std::string_view name) const { return self_->files(name); }
  [[nodiscard]] std::unique_ptr<stores::source> open(std::string_view name, std::string_view file) const {
    return self_->open(name, file);
  }
  void remove(std::string_view name) { self_->remove(name); }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual std::string location() const = 0;
    virtual stores::ownership lock() = 0;
    virtual std::unique_ptr<stores::transaction> begin(std::string_view) = 0;
    virtual std::vector<std::string> list() const = 0;
    virtual std::vector<std::string> files(std::string_view) const = 0;
    virtual std::unique_ptr<stores::source> open(std::string_view, std::string_view) const = 0;
    virtual void remove(std::string_view) = 0;
  };

  template <class Store>
  struct model final : interface {
    template <class S>
    explicit model(S&& chosen) : held(std::forward<S>(chosen)) {}
    std::string location() const override { return held.location(); }
    stores::ownership lock() override { return held.lock(); }
    std::unique_ptr<stores::transaction> begin(std::string_view name) override { return held.begin(name); }
    std::vector<std::string> list() const override { return held.list(); }
    std::vector<std::string> files(std::string_view name) const override { return held.files(name); }
    std::unique_ptr<stores::source> open(std::string_view name, std::string_view file) const override {
      return held.open(name, file);
    }
    void remove(std::string_view name) override { held.remove(name); }
    Store held;
  };

  std::shared_ptr<interface> self_;
};

}  // namespace cairn

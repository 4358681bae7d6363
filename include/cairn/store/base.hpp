// SPDX-License-Identifier: MIT
// The contract of a store: named checkpoints, each a set of named files that appear together or not at all.
//
// Threads: in all options, 0 stands for as many as keep the device busy: 8 to read what is not encoded; for all else
// default_threads() (system/parallel.hpp), unless sink::writers gives another number.
#pragma once

#include <chrono>
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

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1 {

namespace stores {

/// Bytes to write.
using buffer = std::span<const std::byte>;

/// A stored file, open for reading. After its checkpoint is removed it may stay readable, or `read` throws
/// errc::not_found; each store says which.
class source {
 public:
  source() = default;
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  virtual ~source() = default;

  /// Bytes in the file when it was opened.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills the buffers consecutively with the bytes from `offset` on. errc::corrupt when the file ends before,
  /// errc::unreadable when its medium is damaged. Thread-safe.
  virtual void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const = 0;
  /// About how many bytes one call should read: a thread hashes as many while they are in its cache.
  [[nodiscard]] virtual std::uint64_t preferred_read() const noexcept { return std::uint64_t{256} << 10U; }
  /// As above, into one buffer.
  void read(std::uint64_t offset, std::span<std::byte> into) const { read(offset, std::span(&into, 1)); }
};

/// errc::corrupt if a file of `size` bytes ends before the buffers are full.
void check_range(std::string_view where, std::uint64_t size, std::uint64_t offset,
                 std::span<const std::span<std::byte>> into);

/// A part of a stored file.
[[nodiscard]] std::string read_text(const source& file, std::uint64_t offset, std::uint64_t length);

/// One publication of a checkpoint, open for reading: its files stay the same, whatever is published under its name
/// later. Once it is removed they may still be readable, or else give errc::not_found, the index first. Thread-safe.
class publication {
 public:
  publication() = default;
  publication(const publication&) = delete;
  publication& operator=(const publication&) = delete;
  virtual ~publication() = default;

  /// Its place, for messages.
  [[nodiscard]] virtual std::string location() const = 0;
  /// Names of the files, ascending.
  [[nodiscard]] virtual std::vector<std::string> files() const = 0;
  /// errc::not_found when there is no such file.
  [[nodiscard]] virtual std::unique_ptr<source> open(std::string_view file) const = 0;
};

/// A new file of a checkpoint, whose size is given at creation. All operations are thread-safe on disjoint ranges.
class sink {
 public:
  sink() = default;
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;
  virtual ~sink() = default;

  /// Writes the buffers consecutively from `offset` on: all of them, or throws errc::io.
  virtual void write(std::uint64_t offset, std::span<const buffer> buffers) = 0;
  /// All addresses, offsets and lengths for `write` must be multiples of this, except the length at the file's end.
  [[nodiscard]] virtual std::size_t alignment() const noexcept { return 1; }
  /// Threads that keep the device busy; 0: default_threads().
  [[nodiscard]] virtual unsigned writers() const noexcept { return 0; }
};

/// A checkpoint that is being written, in steps: `create` files, `prepare` them, `publish`. Several writers can write
/// one: `store::begin` starts it, other writers `join` it, all prepare their files, and then the first one publishes.
/// Destroyed before that, it removes what it has created.
class transaction {
 public:
  transaction() = default;
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  virtual ~transaction() = default;

  /// A new file of `bytes` bytes, all of which must be written before the next call of `prepare` or `publish`, until
  /// which the sink lives.
  virtual sink& create(std::string_view file, std::uint64_t bytes) = 0;
  /// All files that were created until now are written. They are closed; if the store is durable, a crash of the
  /// machine cannot lose them.
  virtual void prepare() {}
  /// Prepares, and publishes the checkpoint, under a name that stands for its newest publication; then removes the
  /// older ones. A reader sees all of it afterwards and nothing before. If the store is durable, no crash of the
  /// machine can lose it then. Writers that have joined must have prepared their files. errc::invalid for one of them.
  virtual void publish() = 0;
  /// What `join` needs to write into this checkpoint too. It is never part of a file. Empty: nobody can join.
  [[nodiscard]] virtual std::string attempt() const { return {}; }
};

/// The exclusive right to save to a store; released with the last copy.
using ownership = std::shared_ptr<const void>;

/// The functions of a store.
template <class Store>
concept functions = requires(Store& self, const Store& view, std::string_view name) {
  /// Its place, for messages.
  { view.location() } -> std::convertible_to<std::string>;
  /// Ownership for saving, which excludes other processes too; errc::busy when taken.
  { self.lock() } -> std::convertible_to<ownership>;
  /// Starts a checkpoint; errc::busy when another process writes one of this name.
  { self.begin(name) } -> std::convertible_to<std::unique_ptr<transaction>>;
  /// Names of the published checkpoints, in the order of `checkpoint_before`.
  { view.list() } -> std::convertible_to<std::vector<std::string>>;
  /// The newest publication of a checkpoint; errc::not_found.
  { view.open(name) } -> std::convertible_to<std::shared_ptr<const publication>>;
  /// Unpublishes first, then deletes, the index first; errc::not_found.
  self.remove(name);
};

}  // namespace stores

/// Keeps named checkpoints: has the functions above. Requirements: after `publish`, `open` gives what was written;
/// `list` names exactly what was published and not removed; what fails or crashes half-way is never listed; files that
/// the store did not write stay where they are. Errors are cairn::error: io, busy, not_found, invalid, corrupt,
/// unreadable. The last two and `not_found` mean that a checkpoint is damaged or has gone: a restore goes on with an
/// older one. What cannot be read just now is `io`.
template <class Store>
concept store = stores::functions<Store> && std::move_constructible<Store>;

/// A store whose checkpoints can have several writers.
template <class Store>
concept joinable_store = store<Store> && requires(Store& self, std::string_view name) {
  /// Writes into the checkpoint that another writer, of any process, has begun; errc::not_found when that has ended.
  { self.join(name, name) } -> std::convertible_to<std::unique_ptr<stores::transaction>>;
};

// Used by store/level_set.hpp.
struct checkpointer_options;
struct event;
struct level_stats;
struct restart;
namespace detail {
class host_set;
class level_set;
}  // namespace detail

/// Any store, chosen at run time. Copies share the store.
class any_store {
 public:
  /// Not constrained by `store`: whether a class that is made from an any_store can be moved would depend on this
  /// constructor, and this one on that.
  template <class Store>
  requires(!std::same_as<std::remove_cvref_t<Store>, any_store> && stores::functions<std::remove_cvref_t<Store>>)
  any_store(Store&& chosen)  // NOLINT: a store converts to any_store
      : self_(std::make_shared<model<std::remove_cvref_t<Store>>>(std::forward<Store>(chosen))) {
    static_assert(store<std::remove_cvref_t<Store>>, "cairn: a store has to be movable");
  }

  // What a store throws is a cairn::error.
  [[nodiscard]] std::string location() const { return self_->location(); }
  [[nodiscard]] stores::ownership lock();
  /// For how long `lock` may wait for an owner that may be dead: `lease()` of the store; 0 where it has none.
  [[nodiscard]] std::chrono::milliseconds lease() const { return self_->lease(); }
  /// Of cairn::levels; null of other stores.
  [[nodiscard]] std::shared_ptr<detail::level_set> levels() const { return self_->levels(); }
  /// Of cairn::each_host; null of other stores.
  [[nodiscard]] std::shared_ptr<detail::host_set> hosts() const { return self_->hosts(); }
  [[nodiscard]] std::unique_ptr<stores::transaction> begin(std::string_view name);
  /// See joinable_store; errc::unsupported for a store that is none.
  [[nodiscard]] std::unique_ptr<stores::transaction> join(std::string_view name, std::string_view attempt);
  [[nodiscard]] std::vector<std::string> list() const;
  [[nodiscard]] std::shared_ptr<const stores::publication> open(std::string_view name) const;
  void remove(std::string_view name);

 private:
  struct interface {
    virtual ~interface() = default;
    virtual std::string location() const = 0;
    virtual stores::ownership lock() = 0;
    virtual std::chrono::milliseconds lease() const = 0;
    virtual std::shared_ptr<detail::level_set> levels() const = 0;
    virtual std::shared_ptr<detail::host_set> hosts() const = 0;
    virtual std::unique_ptr<stores::transaction> begin(std::string_view) = 0;
    virtual std::unique_ptr<stores::transaction> join(std::string_view, std::string_view) = 0;
    virtual std::vector<std::string> list() const = 0;
    virtual std::shared_ptr<const stores::publication> open(std::string_view) const = 0;
    virtual void remove(std::string_view) = 0;
  };

  template <class Store>
  struct model final : interface {
    template <class S>
    explicit model(S&& chosen) : held(std::forward<S>(chosen)) {}
    std::string location() const override { return held.location(); }
    stores::ownership lock() override { return held.lock(); }
    std::chrono::milliseconds lease() const override {
      if constexpr (requires { held.lease(); })
        return held.lease();
      else
        return {};
    }
    std::shared_ptr<detail::level_set> levels() const override {
      if constexpr (requires { held.level_set_of_places(); })
        return held.level_set_of_places();
      else
        return nullptr;
    }
    std::shared_ptr<detail::host_set> hosts() const override {
      if constexpr (requires { held.host_set_of_places(); })
        return held.host_set_of_places();
      else
        return nullptr;
    }
    std::unique_ptr<stores::transaction> begin(std::string_view name) override { return held.begin(name); }
    std::unique_ptr<stores::transaction> join([[maybe_unused]] std::string_view name,
                                              [[maybe_unused]] std::string_view attempt) override {
      if constexpr (joinable_store<Store>)
        return held.join(name, attempt);
      else
        fail(errc::unsupported, {held.location(), ": its checkpoints cannot have several writers"});
    }
    std::vector<std::string> list() const override { return held.list(); }
    std::shared_ptr<const stores::publication> open(std::string_view name) const override { return held.open(name); }
    void remove(std::string_view name) override { held.remove(name); }
    Store held;
  };

  std::shared_ptr<interface> self_;
};

}  // namespace cairn::inline v0_1

// SPDX-License-Identifier: MIT
// Keys below the prefix of a store, and who saves there.
//
// Owners are objects with ascending numbers; the highest one owns the prefix. A new owner creates the next number, on
// the condition that there is no such object, when the last one has released it or is dead. A number is never used
// again: an owner that was stopped, and goes on, finds a higher one. It looks before and after it publishes. Numbers of
// publications begin with that of their owner: what it deletes late is nothing of another one.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cairn/store/place_lock.hpp"
#include "cairn/store/s3/client.hpp"

namespace cairn::inline v0_1::stores::detail {

inline constexpr std::size_t owner_digits = 10, publication_digits = 19;
inline constexpr std::uint64_t most_publications = 1'000'000'000;  // of an owner

/// The number of `digits` digits in a key such as "<prefix>0000000007"; 0 for other keys.
[[nodiscard]] inline std::uint64_t number_in(std::string_view key, std::string_view prefix, std::size_t digits) {
  const bool is_one = key.size() == prefix.size() + digits && key.starts_with(prefix);
  return is_one ? parse_number(key.substr(prefix.size())) : 0;
}

/// The keys of a store.
struct s3_keys {
  std::string prefix;  ///< ends with a slash

  [[nodiscard]] static std::string numbered(const std::string& below, std::uint64_t number, std::size_t digits) {
    const auto text = std::to_string(number);
    return below + std::string(digits - std::min(text.size(), digits), '0') + text;
  }
  [[nodiscard]] std::string owners() const { return prefix + "owners/"; }
  [[nodiscard]] std::string published(std::string_view name = {}) const {
    return sentence({prefix, "published/", name, name.empty() ? "" : "/"});
  }
  /// Where the files of an attempt are.
  [[nodiscard]] std::string attempt(std::string_view name, std::string_view id) const {
    return sentence({prefix, name, ".", id, "/"});
  }
};

/// The object of an owner.
struct s3_owner_text {
  owner_record owner{};
  std::uint64_t renewals = 0;
  bool is_released = false;
};

template <class Io>
void describe(Io& io, cairn::detail::described<Io, s3_owner_text>& of) {
  io.object([&] {
    io.field("owner", of.owner);
    io.field("renewals", of.renewals);
    io.optional("released", of.is_released);
    if constexpr (Io::reads) io.ignore_others();  // of later versions
  });
}

/// Held until it is destroyed. Thread-safe.
class s3_owner {
 public:
  /// Waits for at most `lease` if the last owner may be dead. errc::busy: it lives. errc::unsupported if the server has
  /// no conditional writes, unless `is_conditional` is false: then others do not save here by agreement.
  s3_owner(std::shared_ptr<s3_client> client, s3_keys keys, std::chrono::milliseconds lease, const scheduler_job& job,
           bool is_conditional)
      : client_(std::move(client)), keys_(std::move(keys)), lease_(lease) {
    text_.owner = owner_record::of_this_process(0, job);
    constexpr int most = 20;
    for (int tries = 0;; ++tries) {
      if (tries == most) fail(errc::busy, {"other processes lock ", location(), " all the time"});
      const auto there = numbers();
      if (!there.empty()) wait_for_end_of(there.back());
      number_ = (there.empty() ? 0 : there.back()) + 1;
      if (client_->put(key(number_), text(), {.is_new = is_conditional}) || is_own()) break;
    }
    if (is_conditional && client_->put(key(number_), text(), {.is_new = true}))
      fail(errc::unsupported,
           {location(),
            ": the server ignores If-None-Match, so that two processes could save here at a time; with "
            "s3_options::conditional = false, see to it that one does"});
    check();
    for (const auto each : numbers())
      if (each < number_) client_->remove(key(each));
    renewing_ = cairn::detail::start_thread([this] { renew(); });
  }
  ~s3_owner() {
    {
      const cairn::detail::mutex_lock guard(mutex_);
      is_ended_ = true;
    }
    ends_.notify_all();
    renewing_.join();
    try {
      text_.is_released = true;
      if (is_lost_)
        client_->remove(key(number_));
      else
        client_->put(key(number_), text(), {.limit = lease_ / 4});
    } catch (...) {  // the next owner waits for a lease
    }
  }
  s3_owner(const s3_owner&) = delete;
  s3_owner& operator=(const s3_owner&) = delete;

  /// errc::busy if another process has taken the place over: this one was stopped for longer than its lease.
  /// errc::invalid in a forked child.
  void check() const {
    process_.check("the lock of " + location());
    const auto there = numbers();
    if (!is_lost_ && !there.empty() && there.back() == number_) return;
    // The bucket was emptied, by a rule of its owner or by hand: nobody has taken over.
    if (!is_lost_ && there.empty() &&
        client_->put(key(number_), cairn::detail::to_json(s3_owner_text{text_.owner}), {.is_new = true}))
      return;
    is_lost_ = true;
    fail(errc::busy,
         {"another process has taken over ", location(), ", since this one did not renew its lease in time"});
  }
  /// For a publication: larger than those of earlier owners, and than those that this one has got before.
  [[nodiscard]] std::uint64_t next_publication() const { return number_ * most_publications + ++publications_; }
  /// Whether that number is of a later owner.
  [[nodiscard]] bool is_of_later(std::uint64_t publication) const { return publication / most_publications > number_; }
  /// False in a forked child, where the lock is not held.
  [[nodiscard]] bool is_here() const noexcept { return process_.is_here(); }

 private:
  [[nodiscard]] std::string location() const { return client_->name_of(keys_.prefix); }
  [[nodiscard]] std::string key(std::uint64_t number) const {
    return s3_keys::numbered(keys_.owners(), number, owner_digits);
  }
  [[nodiscard]] std::string text() const { return cairn::detail::to_json(text_); }
  /// The numbers of the owners, ascending.
  [[nodiscard]] std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> found;
    for (const auto& each : client_->list(keys_.owners()).all)
      if (const auto number = number_in(each.key, keys_.owners(), owner_digits); number != 0) found.push_back(number);
    return found;  // a list is in the order of the keys, which have leading zeros
  }
  [[nodiscard]] bool is_own() const {
    const auto there = client_->get(key(number_));
    const auto owner = there ? parse_owner<s3_owner_text>(there->text) : std::nullopt;
    return owner && owner->owner.random == text_.owner.random;
  }
  /// errc::busy if the owner changes its object meanwhile.
  void wait_for_end_of(std::uint64_t number) const {
    const auto& time = client_->time();
    const auto first = client_->get(key(number));
    const auto end = time.now() + lease_;
    for (auto now = first; now; now = client_->get(key(number))) {
      const auto owner = parse_owner<s3_owner_text>(now->text);
      if (owner &&
          (owner->is_released || text_.owner.sees_end_of(owner->owner) || text_.owner.is_restart_of(owner->owner)))
        return;
      if (now->text != first->text)
        fail(errc::busy, {owner ? owner->owner.name_for(text_.owner) : "another process", " saves to ", location(),
                          ": wait until it ends, or use another prefix"});
      if (time.now() >= end) return;
      time.pause(
          std::clamp<std::chrono::milliseconds>(lease_ / 20, std::chrono::milliseconds(1), std::chrono::seconds(5)));
    }
  }
  void renew() {
    while (wait_for_next_renewal()) {
      try {
        ++text_.renewals;
        client_->put(key(number_), text(), {.limit = lease_ / 4});
        check();
      } catch (const error& failure) {  // else it is tried again
        if (failure.code() == errc::busy) return;
      } catch (...) {
      }
    }
  }
  /// False if there is none.
  [[nodiscard]] bool wait_for_next_renewal() {
    const auto due = std::chrono::steady_clock::now() + lease_ / 4;
    cairn::detail::mutex_lock lock(mutex_);
    while (!is_ended_ && lock.wait_until(ends_, due)) {
    }
    return !is_ended_;
  }

  std::shared_ptr<s3_client> client_;
  s3_keys keys_;
  std::chrono::milliseconds lease_;
  s3_owner_text text_;  // of the renewing thread while that runs
  std::uint64_t number_ = 0;
  mutable std::atomic<std::uint64_t> publications_{0};
  mutable std::atomic<bool> is_lost_{false};
  cairn::detail::owner_process process_;

  cairn::detail::mutex mutex_;
  std::condition_variable ends_;
  bool is_ended_ CAIRN_GUARDED_BY(mutex_) = false;
  std::thread renewing_;
};

}  // namespace cairn::inline v0_1::stores::detail

// SPDX-License-Identifier: MIT
// Definitions of s3.hpp: how checkpoints are published below a prefix, read, and removed.
//
//   owners/0000000007                   who saves: store/s3/owner.hpp
//   published/NAME/0000000007000000012  the text of the index, with the attempt as metadata. The highest number counts
//   NAME.ATTEMPT/                       index.json, shard-00000-of-00002.safetensors
//   NAME.ATTEMPT/writing                until it is published: others can join
//
// The attempt is in the key of each file, so that no request of another attempt, however late, changes it.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "cairn/s3.hpp"
#include "cairn/store/s3/file.hpp"
#include "cairn/store/s3/owner.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/sort.hpp"

namespace cairn::inline v0_1::stores {

namespace detail {

inline constexpr std::string_view writing_file = "writing";

/// What the key of a published index says.
struct published_index {
  std::string name{};
  std::uint64_t number = 0;  ///< 0: it is the key of something else

  /// `prefix`: of all of them.
  published_index(std::string_view key, std::string_view prefix) {
    const auto slash = key.rfind('/');
    if (!key.starts_with(prefix) || slash < prefix.size()) return;
    name = key.substr(prefix.size(), slash - prefix.size());
    if (cairn::detail::is_checkpoint_name(name)) number = number_in(key, key.substr(0, slash + 1), publication_digits);
  }
};

/// A published index.
struct generation_key {
  std::string key;
  std::uint64_t number;
  system_time changed;
};

/// What is below a prefix of a checkpoint: its publications, ascending, and when each of its attempts has changed.
struct s3_checkpoint {
  std::vector<generation_key> published{};
  std::map<std::string, system_time> attempts{};
};

/// What a store and its copies share. Thread-safe.
class s3_place {
 public:
  s3_place(std::string_view url, s3_options options, s3_seams seams) : options_(std::move(options)) {
    constexpr std::string_view scheme = "s3://";
    constexpr std::size_t longest = 500;  // keys have 1,024 bytes
    if (!url.starts_with(scheme)) refuse(url, "does not begin with s3://");
    const auto slash = std::min(url.find('/', scheme.size()), url.size());
    auto prefix = std::string(url.substr(std::min(slash + 1, url.size())));
    while (prefix.ends_with('/')) prefix.pop_back();
    if (prefix.empty()) refuse(url, "has no prefix after the bucket: give s3://bucket/prefix");
    if (prefix.size() > longest) refuse(url, "has a prefix of more than 500 bytes");
    if (cairn::detail::to_utf8(prefix) != prefix) refuse(url, "is not UTF-8");
    for (std::string_view left = prefix; !left.empty();) {
      const auto part = left.substr(0, left.find('/'));
      if (part.empty() || part == "." || part == "..") refuse(url, "has an empty part, or one that is . or ..");
      left.remove_prefix(std::min(left.size(), part.size() + 1));
    }
    if (options_.lease <= options_.lease.zero()) refuse(url, "has a lease that is not above 0");
    if (options_.give_up_after <= options_.give_up_after.zero()) refuse(url, "has give_up_after that is not above 0");
    if (options_.connections == 0) refuse(url, "has 0 connections");
    for (const auto& [name, value] : options_.put_headers)
      if (name.empty() || sentence({name, value}).find_first_of("\r\n") != std::string::npos)
        refuse(url, "has put_headers without a name, or with a line break");
    if (options_.part_bytes < least_part_bytes) refuse(url, "has part_bytes below 5 MiB, which servers refuse");
    keys.prefix = prefix + '/';
    bucket_address address(std::string(url.substr(scheme.size(), slash - scheme.size())), options_.endpoint,
                           options_.region, options_.path_style);
    client = std::make_shared<s3_client>(std::move(address), client_settings{.credentials = options_.credentials,
                                                                             .give_up_after = options_.give_up_after,
                                                                             .put_headers = options_.put_headers,
                                                                             .send = std::move(seams.send),
                                                                             .time = std::move(seams.time)});
    location = client->name_of(prefix);
  }

  [[nodiscard]] const s3_options& options() const noexcept { return options_; }

  /// The lock, if this process has it: it is checked then.
  [[nodiscard]] std::shared_ptr<const s3_owner> checked_owner() const {
    auto held = owner();
    if (held) held->check();
    return held;
  }
  [[nodiscard]] std::shared_ptr<const s3_owner> owner() const {
    const cairn::detail::mutex_lock guard(mutex_);
    return owner_.lock();
  }
  void set_owner(const std::shared_ptr<const s3_owner>& owner) {
    const cairn::detail::mutex_lock guard(mutex_);
    owner_ = owner;
  }

  /// errc::busy if a thread of this process writes a checkpoint of this name.
  void start(const std::string& name) {
    const cairn::detail::mutex_lock guard(mutex_);
    if (!writing_.insert(name).second) fail(errc::busy, {"another thread is saving to ", location, "/", name});
  }
  void end(const std::string& name) {
    const cairn::detail::mutex_lock guard(mutex_);
    writing_.erase(name);
  }

  /// The publications of a checkpoint, ascending; without those of owners after `owner`, which is null for a reader.
  [[nodiscard]] std::vector<generation_key> generations(std::string_view name, const s3_owner* owner) const {
    const auto prefix = keys.published(name);
    std::vector<generation_key> found;
    for (const auto& each : client->list(prefix).all) {
      const auto number = number_in(each.key, prefix, publication_digits);
      if (number != 0 && (owner == nullptr || !owner->is_of_later(number)))
        found.push_back({each.key, number, each.changed});
    }
    return found;
  }

  /// Removes a publication, and then its files.
  void unpublish(std::string_view name, const generation_key& which) const {
    const auto about = client->look_at(which.key);
    client->remove(which.key);
    if (about && !about->attempt.empty()) remove_attempt(keys.attempt(name, about->attempt));
  }
  /// Removes the files of an attempt, the index first. Others stay.
  void remove_attempt(const std::string& prefix) const {
    client->remove(prefix + std::string(index_file));
    for (const auto& each : client->list(prefix).all)
      if (is_own(std::string_view(each.key).substr(prefix.size()))) client->remove(each.key);
  }
  [[nodiscard]] static bool is_own(std::string_view file) { return file == writing_file || is_own_file(file); }

  /// All checkpoints by name, also parts of some, and the date of the server.
  [[nodiscard]] std::map<std::string, s3_checkpoint> scan(system_time& date) const;
  /// Removes what has not changed for 10 leases by the server's clock: attempts that are not published, publications
  /// without files, and uploads.
  void remove_leftovers() const;

  s3_keys keys;
  std::shared_ptr<s3_client> client;
  std::string location;
  cairn::detail::mutex locking;  // held while the lock is taken

 private:
  [[noreturn]] static void refuse(std::string_view url, std::string_view fault) {
    fail(errc::invalid, {"\"", url, "\" ", fault});
  }

  s3_options options_;
  mutable cairn::detail::mutex mutex_;
  std::weak_ptr<const s3_owner> owner_ CAIRN_GUARDED_BY(mutex_);
  std::set<std::string> writing_ CAIRN_GUARDED_BY(mutex_);
};

/// The checkpoint and the attempt of the directory in a key: "a" and its 24 digits of "runs/a.0123.../index.json".
/// Empty for keys of others.
struct attempt_key {
  std::string name{}, id{};

  attempt_key(std::string_view key, std::string_view prefix) {
    key.remove_prefix(prefix.size());
    const auto directory = key.substr(0, key.find('/'));
    const auto attempt = directory.size() < key.size() ? attempt_of(directory) : std::string_view();
    if (attempt.empty()) return;
    name = directory.substr(0, directory.size() - attempt.size() - 1);
    id = attempt;
  }
};

std::map<std::string, s3_checkpoint> s3_place::scan(system_time& date) const {
  std::map<std::string, s3_checkpoint> found;
  const auto all = client->list(keys.prefix);
  for (const auto& each : all.all) {
    const std::string_view key = each.key;
    if (const published_index of(key, keys.published()); of.number != 0)
      found[of.name].published.push_back({each.key, of.number, each.changed});
    if (const attempt_key of(key, keys.prefix); !of.id.empty()) {
      auto& changed = found[of.name].attempts[of.id];
      changed = std::max(changed, each.changed);
    }
  }
  date = all.date;
  return found;
}

void s3_place::remove_leftovers() const {
  system_time now;
  const auto found = scan(now);
  const auto is_old = [&](system_time changed) { return now - changed >= 10 * options_.lease; };
  for (const auto& [name, of] : found) {
    if (of.published.size() == 1 && of.attempts.size() == 1) continue;  // they belong together
    std::set<std::string> in_use;                                       // with an empty one it is not known which
    for (const auto& each : of.published) {
      const auto about = client->look_at(each.key);
      if (!about) continue;
      in_use.insert(about->attempt);
      // A delayed PUT has created this index after the checkpoint was removed.
      if (!about->attempt.empty() && !of.attempts.contains(about->attempt) && is_old(each.changed))
        client->remove(each.key);
    }
    for (const auto& [id, changed] : of.attempts)
      if (is_old(changed) && !in_use.contains(id) && !in_use.contains("")) remove_attempt(keys.attempt(name, id));
  }
  for (const auto& each : client->list_uploads(keys.prefix).all)
    if (is_old(each.changed) && !attempt_key(each.key, keys.prefix).id.empty())
      client->abort_upload(each.key, each.upload);
}

/// A checkpoint that is being written, below the prefix of its attempt.
class s3_transaction final : public transaction {
 public:
  /// Begins the checkpoint, or joins an attempt. `owner`: the lock, if this process has it.
  s3_transaction(std::shared_ptr<s3_place> place, std::shared_ptr<const s3_owner> owner, std::string_view name,
                 std::string_view attempt = {})
      : place_(std::move(place)),
        owner_(std::move(owner)),
        name_(name),
        attempt_(attempt),
        is_joined_(!attempt.empty()) {
    if (is_joined_) {
      require_attempt();
      return;
    }
    place_->start(name_);
    try {
      if (const auto there = place_->generations(name_, owner_.get()); !there.empty()) number_ = there.back().number;
      number_ = std::max(number_ + 1, owner_ ? owner_->next_publication() : 0);
      attempt_ = new_attempt(machine_id(0), process_id());
      client().put(prefix() + std::string(writing_file), "{}");
    } catch (...) {
      place_->end(name_);
      throw;
    }
  }
  ~s3_transaction() override {
    for (const auto& each : open_) each->give_up();
    if (is_joined_) return;
    try {
      if (!is_published_) place_->remove_attempt(prefix());
    } catch (...) {  // the next owner removes it
    }
    place_->end(name_);
  }

  sink& create(std::string_view file, std::uint64_t bytes) override {
    if (!is_own_file(file)) fail(errc::invalid, {"\"", file, "\" is not a file of a checkpoint"});
    return guarded(owner_, [&]() -> sink& {
      if (is_joined_) require_attempt();
      if (!files_.emplace(prefix() + std::string(file), bytes).second)
        fail(errc::invalid, {"the file ", file, " is there already"});
      open_.push_back(std::make_unique<s3_sink>(place_->client, owner_, prefix() + std::string(file), bytes,
                                                place_->options().part_bytes, place_->options().connections,
                                                file == index_file));
      return *open_.back();
    });
  }

  void prepare() override {
    guarded(owner_, [&] {
      for (const auto& each : open_) {
        each->finish();
        if (each->key() == prefix() + std::string(index_file)) index_ = each->contents(), has_index_ = true;
      }
      open_.clear();
    });
  }

  [[nodiscard]] std::string attempt() const override { return is_joined_ ? std::string() : attempt_; }

  void publish() override {
    if (is_joined_) fail(errc::invalid, {where(), ": only the writer that has begun a checkpoint publishes it"});
    guarded(owner_, [&] {
      prepare();
      require_files();
      if (owner_) owner_->check();
      is_published_ = true;  // or may be, also if the answer is lost for good: then its files stay
      place_index();
      if (owner_) check_after();
      client().remove(prefix() + std::string(writing_file));
      for (const auto& each : place_->generations(name_, owner_.get()))
        if (each.number < number_) place_->unpublish(name_, each);
    });
  }

 private:
  [[nodiscard]] s3_client& client() const { return *place_->client; }
  [[nodiscard]] std::string prefix() const { return place_->keys.attempt(name_, attempt_); }
  [[nodiscard]] std::string where() const { return sentence({place_->location, "/", name_}); }
  [[nodiscard]] std::string published_key() const {
    return s3_keys::numbered(place_->keys.published(name_), number_, publication_digits);
  }

  /// errc::not_found unless the attempt is running.
  void require_attempt() const {
    const auto marker = prefix() + std::string(writing_file);
    const bool is_one = attempt_of(sentence({name_, ".", attempt_})) == attempt_;
    if (!is_one || !client().look_at(marker))
      fail(errc::not_found, {"nobody is saving to ", where(), " as attempt ", attempt_});
  }
  /// errc::io unless the bucket has all files as they were written.
  void require_files() const {
    if (!has_index_) fail(errc::invalid, {where(), " has no ", index_file});
    auto missing = files_;
    for (const auto& each : client().list(prefix()).all)
      if (const auto at = missing.find(each.key); at != missing.end() && at->second == each.bytes) missing.erase(at);
    if (!missing.empty())
      fail(errc::io, {"the bucket has lost ", client().name_of(missing.begin()->first), ", or a part of it"});
  }
  /// The object that publishes. errc::busy if another process without a lock has published that number meanwhile.
  void place_index() {
    const auto key = published_key();
    if (client().put(key, index_, {.attempt = attempt_, .is_new = place_->options().conditional})) return;
    const auto there = client().look_at(key);  // ours, if the answer to it was lost
    if (there && there->attempt == attempt_) return;
    is_published_ = false;
    fail(errc::busy, {"another process has published ", where(), " meanwhile"});
  }
  /// Takes the checkpoint back if the lock was lost: this process was stopped before it published.
  void check_after() {
    try {
      owner_->check();
    } catch (const error& failure) {
      if (failure.code() != errc::busy) throw;
      client().remove(published_key());
      is_published_ = false;
      throw;
    }
  }

  std::shared_ptr<s3_place> place_;
  std::shared_ptr<const s3_owner> owner_;
  std::string name_, attempt_;
  bool is_joined_;
  bool is_published_ = false, has_index_ = false;
  std::uint64_t number_ = 0;                    // of the publication
  std::map<std::string, std::uint64_t> files_;  // sizes by key
  std::string index_;
  std::vector<std::unique_ptr<s3_sink>> open_;
};

/// The files of one attempt. They are listed when the first one but the index is needed.
class s3_publication final : public publication {
 public:
  s3_publication(std::shared_ptr<s3_place> place, std::string_view name, stored_object index)
      : place_(std::move(place)),
        where_(sentence({place_->location, "/", name})),
        prefix_(place_->keys.attempt(name, index.attempt)),
        index_(std::make_shared<const std::string>(std::move(index.text))) {}

  [[nodiscard]] std::string location() const override { return where_; }
  [[nodiscard]] std::vector<std::string> files() const override {
    std::vector<std::string> names;
    for (const auto& [name, object] : listed()) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::unique_ptr<source> open(std::string_view file) const override {
    const auto name = sentence({where_, "/", file});
    if (file == index_file) return std::make_unique<s3_source>(nullptr, name, index_->size(), name, index_);
    const auto& all = listed();
    const auto at = all.find(file);
    if (at == all.end()) fail(errc::not_found, {"there is no file ", name});
    return std::make_unique<s3_source>(place_->client, at->second.key, at->second.bytes, name);
  }

 private:
  using objects = std::map<std::string, listed_object, std::less<>>;

  [[nodiscard]] const objects& listed() const {
    const cairn::detail::mutex_lock guard(mutex_);
    if (!files_.empty()) return files_;
    for (auto& each : place_->client->list(prefix_).all) {
      const auto file = each.key.substr(prefix_.size());
      if (is_own_file(file)) files_.emplace(file, std::move(each));
    }
    if (files_.empty()) fail(errc::not_found, {"the checkpoint ", where_, " has been removed since it was opened"});
    return files_;
  }

  std::shared_ptr<s3_place> place_;
  std::string where_, prefix_;
  std::shared_ptr<const std::string> index_;
  mutable cairn::detail::mutex mutex_;
  mutable objects files_;  // guarded by mutex_ until they are listed; they do not change afterwards
};

/// errc::invalid also for what is not UTF-8, which keys are.
inline void require_key_name(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  if (cairn::detail::to_utf8(name) != name)
    fail(errc::invalid, {"\"", name, "\" cannot name a checkpoint in a bucket: it is not UTF-8"});
}

}  // namespace detail

s3::s3(std::string_view url, s3_options options, detail::s3_seams seams)
    : place_(std::make_shared<detail::s3_place>(url, std::move(options), std::move(seams))) {}

std::string s3::location() const { return place_->location; }
std::chrono::milliseconds s3::lease() const noexcept { return place_->options().lease; }

ownership s3::lock() {
  const cairn::detail::mutex_lock one(place_->locking);
  if (const auto held = place_->owner(); held && held->is_here())
    fail(errc::busy, {"another object of this process saves to ", location()});
  const auto& options = place_->options();
  // In a forked child it is the parent's.
  const std::shared_ptr<const detail::s3_owner> owner(
      new detail::s3_owner(place_->client, place_->keys, options.lease, options.job, options.conditional),
      [](const detail::s3_owner* held) {
        if (held->is_here()) delete held;
      });
  place_->remove_leftovers();
  place_->set_owner(owner);
  return owner;
}

std::unique_ptr<transaction> s3::begin(std::string_view name) {
  detail::require_key_name(name);
  return std::make_unique<detail::s3_transaction>(place_, place_->checked_owner(), name);
}

std::unique_ptr<transaction> s3::join(std::string_view name, std::string_view attempt) {
  detail::require_key_name(name);
  if (attempt.empty()) fail(errc::not_found, {"nobody is saving to ", location(), "/", name, " as that attempt"});
  return std::make_unique<detail::s3_transaction>(place_, nullptr, name, attempt);
}

std::vector<std::string> s3::list() const {
  detail::system_time now;
  std::vector<std::string> names;
  for (const auto& [name, of] : place_->scan(now))
    if (!of.published.empty() && !of.attempts.empty()) names.push_back(name);
  cairn::detail::sort_items(names, checkpoint_before);
  return names;
}

std::shared_ptr<const publication> s3::open(std::string_view name) const {
  detail::require_key_name(name);
  constexpr int most = 20;
  for (int tries = 0; tries < most; ++tries) {  // a newer one may be published meanwhile
    const auto there = place_->generations(name, nullptr);
    if (there.empty()) break;
    auto index = place_->client->get(there.back().key);
    if (!index) continue;
    if (index->attempt.empty())
      fail(errc::corrupt, {place_->client->name_of(there.back().key),
                           " has lost its metadata, which says where the "
                           "files of the checkpoint are"});
    return std::make_shared<detail::s3_publication>(place_, name, std::move(*index));
  }
  fail(errc::not_found, {"there is no checkpoint ", location(), "/", name});
}

void s3::remove(std::string_view name) {
  detail::require_key_name(name);
  const auto owner = place_->checked_owner();
  detail::guarded(owner, [&] {
    const auto there = place_->generations(name, owner.get());
    if (there.empty()) fail(errc::not_found, {"there is no checkpoint ", location(), "/", name});
    for (const auto& each : there) place_->unpublish(name, each);  // the newest last: what is left is no older one
  });
}

}  // namespace cairn::inline v0_1::stores

// SPDX-License-Identifier: MIT
// A file in a bucket: how it is sent in parts, and how ranges of it are fetched.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/store/base.hpp"
#include "cairn/store/place_lock.hpp"
#include "cairn/store/s3/owner.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::stores::detail {

/// Servers take at most 10,000 parts, of at least 5 MiB but for the last one, and 5 TiB in all.
inline constexpr std::uint64_t most_parts = 9000, least_part_bytes = std::uint64_t{5} << 20U;

/// The size of the parts of a file of `bytes` bytes: `wanted`, or whole MiB if that would make too many parts.
[[nodiscard]] inline std::uint64_t part_bytes_of(std::uint64_t bytes, std::uint64_t wanted) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
  return std::max(wanted, (bytes / most_parts / mib + 1) * mib * (bytes / wanted >= most_parts ? 1 : 0));
}

/// A part is sent by the thread that writes the last of its bytes. Threads that write in ascending order, as those of a
/// save do, have at most `connections` parts in memory that are complete, and the few that they fill.
class s3_sink final : public sink {
 public:
  /// `is_whole`: the file is one part, which stays in memory. `connections`: parts that are sent at a time.
  s3_sink(std::shared_ptr<s3_client> client, std::shared_ptr<const s3_owner> owner, std::string key,
          std::uint64_t bytes, std::uint64_t part_bytes, unsigned connections, bool is_whole)
      : client_(std::move(client)),
        owner_(std::move(owner)),
        key_(std::move(key)),
        bytes_(bytes),
        part_bytes_(is_whole ? std::max<std::uint64_t>(bytes, 1) : part_bytes_of(bytes, part_bytes)),
        parts_((bytes + part_bytes_ - 1) / part_bytes_),
        connections_(connections),
        keeps_(is_whole) {
    if (parts_.size() > 1) upload_ = client_->begin_upload(key_);
  }

  void write(std::uint64_t offset, std::span<const buffer> buffers) override {
    guarded(owner_, [&] {
      for (buffer each : buffers) {
        if (offset > bytes_ || each.size() > bytes_ - offset)
          fail(errc::invalid, {"a write beyond the end of ", client_->name_of(key_)});
        while (!each.empty()) {
          const auto number = static_cast<std::size_t>(offset / part_bytes_);
          const auto at = offset % part_bytes_;
          const auto now = each.first(static_cast<std::size_t>(std::min<std::uint64_t>(each.size(), part_bytes_ - at)));
          write_part(number, at, now);
          each = each.subspan(now.size());
          offset += now.size();
        }
      }
    });
  }
  [[nodiscard]] unsigned writers() const noexcept override { return connections_; }

  /// All bytes are in the bucket afterwards. errc::invalid if some were not written.
  void finish() {
    if (parts_.empty()) client_->put(key_, std::string_view());
    for (const auto& each : parts_)
      if (!each.is_sent) fail(errc::invalid, {"not all bytes of ", client_->name_of(key_), " were written"});
    if (!upload_.empty()) {
      std::vector<std::string> tags;
      for (const auto& each : parts_) tags.push_back(each.tag);
      client_->complete_upload(key_, upload_, tags, bytes_);
      end_uploads();
    }
  }
  /// Takes away what is in the bucket. Does not throw.
  void give_up() noexcept {
    try {
      if (!upload_.empty()) end_uploads();
      client_->remove(key_);
    } catch (...) {  // the next owner removes it
    }
  }

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  /// All bytes of a file that `is_whole`.
  [[nodiscard]] std::string_view contents() const {
    return {reinterpret_cast<const char*>(parts_.empty() ? nullptr : parts_[0].memory.bytes().data()), bytes_};
  }

 private:
  struct part {
    cairn::detail::huge_buffer memory{};
    std::uint64_t written = 0;
    bool is_sent = false;
    std::string tag{};
  };

  void write_part(std::size_t number, std::uint64_t at, buffer bytes) {
    auto& it = parts_[number];
    const auto size = std::min(part_bytes_, bytes_ - number * part_bytes_);
    {
      cairn::detail::mutex_lock lock(mutex_);
      if (it.memory.bytes().empty()) {
        // Complete parts are being sent by threads that do not wait here.
        while (complete_ >= connections_ && it.memory.bytes().empty()) lock.wait(has_sent_);
        if (it.memory.bytes().empty()) it.memory = cairn::detail::huge_buffer(size);
      }
    }
    std::memcpy(it.memory.bytes().data() + at, bytes.data(), bytes.size());
    {
      const cairn::detail::mutex_lock guard(mutex_);
      it.written += bytes.size();
      if (it.written > size) fail(errc::invalid, {"bytes of ", client_->name_of(key_), " were written twice"});
      if (it.written < size) return;
      ++complete_;
    }
    try {
      send(number, it.memory.bytes().first(size));
    } catch (...) {
      mark_sent(it, false);
      throw;
    }
    mark_sent(it, true);
  }
  void send(std::size_t number, std::span<const std::byte> bytes) {
    if (upload_.empty())
      client_->put(key_, bytes);
    else
      parts_[number].tag = client_->put_part(key_, upload_, number + 1, bytes);
  }
  /// Ends all uploads of the file, also those that were begun by a request whose answer was lost.
  void end_uploads() {
    for (const auto& each : client_->list_uploads(key_).all) client_->abort_upload(each.key, each.upload);
    upload_.clear();
  }
  void mark_sent(part& which, bool successfully) {
    {
      const cairn::detail::mutex_lock guard(mutex_);
      --complete_;
      which.is_sent = successfully;
      if (!keeps_) which.memory = {};
    }
    has_sent_.notify_all();
  }

  std::shared_ptr<s3_client> client_;
  std::shared_ptr<const s3_owner> owner_;
  std::string key_;
  std::uint64_t bytes_, part_bytes_;
  std::string upload_{};  // empty: one part, which is the object
  cairn::detail::mutex mutex_;
  std::vector<part> parts_;  // a part is changed with mutex_ locked, but for the bytes in its memory
  unsigned complete_ CAIRN_GUARDED_BY(mutex_) = 0;  // parts that are being sent
  std::condition_variable has_sent_;
  unsigned connections_;
  bool keeps_;
};

class s3_source final : public source {
 public:
  /// `text`: its bytes, if they are in memory.
  s3_source(std::shared_ptr<s3_client> client, std::string key, std::uint64_t bytes, std::string where,
            std::shared_ptr<const std::string> text = {})
      : client_(std::move(client)),
        key_(std::move(key)),
        bytes_(bytes),
        where_(std::move(where)),
        text_(std::move(text)) {}

  [[nodiscard]] std::uint64_t size() const override { return bytes_; }
  [[nodiscard]] std::uint64_t preferred_read() const noexcept override { return std::uint64_t{8} << 20U; }

  using source::read;
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    check_range(where_, bytes_, offset, into);
    if (!text_ && total_bytes(into) > 0) client_->get_range(key_, offset, into);
    for (const auto& each : into) {
      if (text_ && !each.empty()) std::memcpy(each.data(), text_->data() + offset, each.size());
      offset += each.size();
    }
  }

 private:
  std::shared_ptr<s3_client> client_;
  std::string key_;
  std::uint64_t bytes_;
  std::string where_;
  std::shared_ptr<const std::string> text_;
};

}  // namespace cairn::inline v0_1::stores::detail

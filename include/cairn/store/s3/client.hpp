// SPDX-License-Identifier: MIT
// Operations on the objects of one bucket: each is one signed request, which is sent again as long as that may help.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/store/s3/request.hpp"

namespace cairn::inline v0_1::stores::detail {

[[nodiscard]] inline std::uint64_t total_bytes(std::span<const std::span<std::byte>> buffers) {
  std::uint64_t bytes = 0;
  for (const auto& each : buffers) bytes += each.size();
  return bytes;
}

/// What a client needs besides the address of its bucket.
struct client_settings {
  std::function<s3_credentials()> credentials{};  ///< null: see credential_cache
  std::chrono::milliseconds give_up_after{300'000};
  http_fields put_headers{};  ///< of each new object
  transport send = curl_transport();
  time_source time{};
};

/// An object as a list shows it; or an upload in parts that is not complete.
struct listed_object {
  std::string key{};
  std::uint64_t bytes = 0;
  system_time changed{};  ///< by the server's clock
  std::string upload{};   ///< the id of an upload
};

struct object_list {
  std::vector<listed_object> all{};  ///< by key
  system_time date{};                ///< by the server's clock
};

/// A small object.
struct stored_object {
  std::string text{}, attempt{};  ///< the attempt is metadata; empty: it has none
};

/// How an object is written.
struct put_options {
  std::string attempt{};                             ///< becomes metadata
  bool is_new = false;                               ///< nothing is replaced
  std::optional<std::chrono::milliseconds> limit{};  ///< in place of `give_up_after`
};

struct server_error;

/// Thread-safe. Errors name the object, what was done, and what the server says: errc::io; errc::not_found for an
/// object that is not there, errc::unsupported for what the server does not implement.
class s3_client {
 public:
  s3_client(bucket_address address, client_settings settings);

  /// "s3://bucket/key".
  [[nodiscard]] std::string name_of(std::string_view key) const;

  /// False if `is_new` and there is an object: it may be this one, if the answer to the first try was lost.
  bool put(const std::string& key, std::span<const std::byte> bytes, const put_options& options = {});
  bool put(const std::string& key, std::string_view text, const put_options& options = {}) {
    return put(key, std::as_bytes(std::span(text)), options);
  }
  /// nullopt: it is not there.
  [[nodiscard]] std::optional<stored_object> get(const std::string& key) { return get(key, {}); }
  /// As above, with no more than the first byte of an object that is not empty. Not by HEAD: an answer to that does not
  /// say why it is refused.
  [[nodiscard]] std::optional<stored_object> look_at(const std::string& key) {
    return get(key, {{"range", "bytes=0-0"}});
  }
  /// Fills the buffers, which have at least one byte, with those of an object from `offset` on.
  void get_range(const std::string& key, std::uint64_t offset, std::span<const std::span<std::byte>> into);
  /// No error if the object is absent.
  void remove(const std::string& key);
  /// All whose keys begin with `prefix`.
  [[nodiscard]] object_list list(const std::string& prefix);

  /// Begins an upload in parts; returns its id. Where an answer was lost, the server has begun another one, too.
  [[nodiscard]] std::string begin_upload(const std::string& key);
  /// Part `number`, from 1 on. Returns its ETag.
  [[nodiscard]] std::string put_part(const std::string& key, const std::string& upload, std::size_t number,
                                     std::span<const std::byte> bytes);
  /// Makes an object of `bytes` bytes of the parts.
  void complete_upload(const std::string& key, const std::string& upload, std::span<const std::string> tags,
                       std::uint64_t bytes);
  /// No error if the upload is absent.
  void abort_upload(const std::string& key, const std::string& upload);
  [[nodiscard]] object_list list_uploads(const std::string& prefix);

  [[nodiscard]] const time_source& time() const noexcept { return settings_.time; }

 private:
  /// One request, as it is sent again and again.
  struct call {
    std::string method, key{}, action;  // the action is for messages: "write"
    http_fields query{}, headers{};
    std::span<const std::byte> body{};
    std::span<const std::span<std::byte>> into{};
    long passes = 0;  // a status besides 2xx that is returned
    std::chrono::seconds patience{30};
    std::optional<std::chrono::milliseconds> limit{};
  };

  std::optional<stored_object> get(const std::string& key, http_fields headers);
  /// The answer, with a status of 2xx or `passes`.
  http_response send(const call& what);
  /// Who and what a request was signed for.
  struct signed_for {
    s3_credentials by{};
    std::string region{};
  };
  http_response try_once(const call& what, std::string_view digest, signed_for& as);
  /// Corrects the region, the clock or the credentials as the server says. False if that was not why it refused.
  bool correct(const http_response& answer, const server_error& said, const signed_for& as);
  [[noreturn]] void refuse(const call& what, const http_response& answer, const server_error& said,
                           const std::string& after) const;
  object_list list_pages(const std::string& prefix, bool of_uploads);

  client_settings settings_;
  credential_cache credentials_;
  std::atomic<bool> is_reached_{false};  // the last request was not given up

  mutable cairn::detail::mutex mutex_;
  const std::string bucket_;
  bucket_address address_ CAIRN_GUARDED_BY(mutex_);
  std::chrono::seconds ahead_ CAIRN_GUARDED_BY(mutex_){0};  // what the server's clock is ahead of ours
};

}  // namespace cairn::inline v0_1::stores::detail

// SPDX-License-Identifier: MIT
// What is sent to a bucket: HTTP requests, their URLs and Signature Version 4, credentials, and the texts of answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/mutex.hpp"

namespace cairn::inline v0_1::stores {

/// What requests to a bucket are signed with. It is never part of an error.
struct s3_credentials {
  std::string key_id{};         ///< AWS_ACCESS_KEY_ID
  std::string secret{};         ///< AWS_SECRET_ACCESS_KEY
  std::string session_token{};  ///< AWS_SESSION_TOKEN, of temporary ones
  /// They are asked for again 5 minutes before; none: only when the server says that they have expired.
  std::optional<std::chrono::system_clock::time_point> expires{};
};

namespace detail {

using system_time = std::chrono::system_clock::time_point;
using http_fields = std::vector<std::pair<std::string, std::string>>;

/// One HTTP request. What it refers to outlives the call.
struct http_request {
  std::string method, url;
  http_fields headers{};
  std::span<const std::byte> body{};
  std::span<const std::span<std::byte>> into{};  ///< take the body of an answer with status 206
  /// Gives up after this long below 1 KiB/s. To connect it takes at most 10 s, or 1 s if this is less than 10 s.
  std::chrono::seconds patience{30};
};

struct http_response {
  long status = 0;                                            ///< 0: there was no answer, or not the whole of it
  std::string failure{};                                      ///< why
  std::string body{};                                         ///< what has not gone `into` the buffers
  std::uint64_t filled = 0;                                   ///< bytes that have
  std::map<std::string, std::string, std::less<>> headers{};  ///< by names in lower case

  /// Empty: there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? std::string_view() : std::string_view(at->second);
  }
};

/// Sends a request and waits for the answer. Thread-safe. Does not throw for what the network or the server does.
using transport = std::function<http_response(const http_request&)>;

/// By libcurl, which keeps connections. Proxies and certificates are those of its environment; AWS_CA_BUNDLE.
[[nodiscard]] transport curl_transport();

/// How time passes; tests replace it.
struct time_source {
  std::function<std::chrono::steady_clock::time_point()> now = [] { return std::chrono::steady_clock::now(); };
  std::function<system_time()> date = [] { return std::chrono::system_clock::now(); };
  std::function<void(std::chrono::milliseconds)> pause = [](auto time) { cairn::detail::pause_for(time); };
};

/// The value of a variable of the environment; empty if there is none.
[[nodiscard]] std::string environment(const char* name);

/// Converts A to Z to lower case.
void make_lower_case(std::string& text);

/// Percent-encodes every byte but letters, digits and -_.~ (and slashes, in a path): " " becomes "%20".
[[nodiscard]] std::string percent_encoded(std::string_view text, bool is_path = false);
[[nodiscard]] std::string percent_decoded(std::string_view text);

/// "a=1&b=": sorted and encoded, as it is signed and sent.
[[nodiscard]] std::string canonical_query(const http_fields& query);

[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);

/// "Mon, 12 Oct 2009 17:50:00 GMT", of headers, or "2009-10-12T17:50:30.000Z", of XML and JSON.
[[nodiscard]] std::optional<system_time> parse_date(std::string_view text);

/// Adds the headers that sign a request for the service s3: its URL, with a canonical query, its headers and its body,
/// of which `body_sha256` is the digest in hexadecimal.
void sign(http_request& request, const s3_credentials& by, std::string_view region, std::string_view body_sha256,
          system_time date);

/// Where a bucket is.
struct bucket_address {
  std::string scheme, host;  ///< of the endpoint, with its port; the host is empty for AWS, where it has the region
  std::string region, bucket;
  bool is_path_style = false;

  /// From `endpoint` and `region`, or from the environment where they are empty. errc::invalid.
  bucket_address(std::string name, std::string endpoint, std::string of_region, std::optional<bool> path_style);

  /// The URL of an object, or of the bucket itself if `key` is empty.
  [[nodiscard]] std::string url(std::string_view key, const http_fields& query) const;
};

/// Credentials that are used until they expire. Thread-safe.
class credential_cache {
 public:
  /// `source`: null for those of the environment, of ~/.aws/credentials, of the container or of the instance.
  credential_cache(std::function<s3_credentials()> source, transport send, time_source time);

  /// errc::io: there are none.
  [[nodiscard]] s3_credentials get();
  /// They are refused as expired.
  void forget(const s3_credentials& refused);

 private:
  std::function<s3_credentials()> source_;
  std::function<system_time()> date_;
  cairn::detail::mutex mutex_;
  std::optional<s3_credentials> held_ CAIRN_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace cairn::inline v0_1::stores

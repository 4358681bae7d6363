// SPDX-License-Identifier: MIT
// A bucket in memory behind the transport of stores::s3, with the faults of networks and servers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/s3.hpp"
#include "store/sample.hpp"

namespace sample {

using cairn::stores::detail::http_fields;
using cairn::stores::detail::http_request;
using cairn::stores::detail::http_response;
using cairn::stores::detail::system_time;

/// What happens to a request.
enum class fault {
  none,
  lost,            ///< it does not arrive
  lost_answer,     ///< it has its effect, and no answer comes
  twice,           ///< it has its effect twice; the second answer comes
  late,            ///< it has its effect after some further requests, and no answer comes
  cut,             ///< the answer to a GET ends early
  internal_error,  ///< 500, without effect
  failed_after,    ///< 500, after the effect
  conflict,        ///< 409
  slow_down,       ///< 503
  throttled,       ///< 429
  timed_out,       ///< 408
  bad_digest,      ///< 400: the body has arrived damaged
  error_in_200,    ///< 200 with an error, without effect
  expired_token,   ///< 403
  skewed           ///< 403 RequestTimeTooSkewed
};

/// A request as the bucket sees it, which outlives the call.
struct arrived {
  std::string method, key, query, body;
  std::map<std::string, std::string> fields;  ///< of the query
  std::map<std::string, std::string> headers;

  [[nodiscard]] bool has(const std::string& field) const { return fields.contains(field); }
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? "" : at->second;
  }
};

/// Thread-safe, but for changes of its members while requests are under way.
class bucket {
 public:
  struct object {
    std::string bytes, attempt;
    system_time changed{};
    std::map<std::string, std::string> headers{};
  };
  struct upload {
    std::string key;
    std::map<std::size_t, std::string> parts{};
    system_time begun{};
    std::map<std::string, std::string> headers{};
  };

  std::map<std::string, object> objects;
  std::map<std::string, upload> uploads;  // by id
  std::size_t page = 1000;
  std::string region = "us-east-1", token{}, secret = "SK", key_id = "AK";
  bool has_conditions = true, is_there = true, is_read_only = false, has_multipart = true;
  bool redirects = false;         ///< where the region is another one
  std::chrono::seconds ahead{0};  ///< of the clock of the bucket to that of `time`
  std::function<fault(const arrived&)> choose = [](const arrived&) { return fault::none; };
  std::function<void(const arrived&)> before = [](const arrived&) {};  ///< each request that arrives
  std::vector<std::string> log;  ///< "PUT key?query", of each request that is sent

  /// The store `s3://bucket/<prefix>` in this bucket, which must outlive it.
  [[nodiscard]] cairn::stores::s3 store(cairn::stores::s3_options options = {}, const std::string& prefix = "runs/a") {
    if (options.endpoint.empty()) options.endpoint = "http://model:9000";
    if (!options.credentials)
      options.credentials = [this] {
        return cairn::stores::s3_credentials{.key_id = "AK", .secret = "SK", .session_token = token};
      };
    options.job = {};
    return cairn::stores::s3("s3://bucket/" + prefix, options, {transport(), time()});
  }
  [[nodiscard]] cairn::stores::detail::transport transport() {
    return [this](const http_request& request) { return send(request); };
  }
  /// Time that passes only when it is waited for, and when a test moves it.
  [[nodiscard]] cairn::stores::detail::time_source time() {
    return {[this] {
              const std::lock_guard guard(mutex_);
              return std::chrono::steady_clock::time_point(elapsed_);
            },
            [this] {
              const std::lock_guard guard(mutex_);
              return now();
            },
            [this](std::chrono::milliseconds by) {
              pass(by);
              on_pause();
            }};
  }
  std::function<void()> on_pause = [] {};  ///< when a client waits
  void pass(std::chrono::milliseconds by) {
    const std::lock_guard guard(mutex_);
    elapsed_ += by;
  }
  [[nodiscard]] std::vector<std::string> keys() {
    const std::lock_guard guard(mutex_);
    std::vector<std::string> all;
    for (const auto& [key, value] : objects) all.push_back(key);
    return all;
  }
  void deliver_late() {
    const std::lock_guard guard(mutex_);
    while (!late_.empty()) deliver_first();
  }

 private:
  using lock = std::unique_lock<std::mutex>;

  [[nodiscard]] system_time now() const {
    return system_time(std::chrono::seconds(1'800'000'000)) +
           std::chrono::duration_cast<system_time::duration>(elapsed_);
  }
  [[nodiscard]] static std::string text(system_time at, const char* format) {
    const auto seconds = std::chrono::system_clock::to_time_t(at);
    std::tm fields{};
    ::gmtime_r(&seconds, &fields);
    char buffer[64];
    return {buffer, std::strftime(buffer, sizeof buffer, format, &fields)};
  }
  [[nodiscard]] static http_response refusal(long status, const std::string& code, const std::string& more = "") {
    return {.status = status,
            .failure = {},
            .body = "<?xml version=\"1.0\"?>\n<Error><Code>" + code + "</Code><Message>the message of " + code +
                    "</Message>" + more + "</Error>"};
  }
  [[nodiscard]] static std::string tag_of(const std::string& bytes) {
    return '"' + cairn::detail::to_hex(cairn::detail::checksum(bytes_of(bytes))) + '"';
  }

  http_response send(const http_request& request) {
    arrived what{
        .method = request.method, .key = {}, .query = {}, .body = text_of(request.body), .fields = {}, .headers = {}};
    for (const auto& [name, value] : request.headers) what.headers[name] = value;
    const std::string base = "http://model:9000/bucket";
    if (!request.url.starts_with(base)) return {.failure = "cannot resolve the host of " + request.url};
    auto path = request.url.substr(base.size());
    if (const auto at = path.find('?'); at != path.npos) {
      what.query = path.substr(at + 1);
      path.resize(at);
    }
    what.key = cairn::stores::detail::percent_decoded(path.empty() ? path : path.substr(1));
    for (std::string_view left = what.query; !left.empty();) {
      const auto field = left.substr(0, left.find('&'));
      const auto equal = field.find('=');
      what.fields[std::string(field.substr(0, equal))] =
          cairn::stores::detail::percent_decoded(field.substr(equal + 1));
      left.remove_prefix(std::min(left.size(), field.size() + 1));
    }
    before(what);
    const lock guard(mutex_);
    log.push_back(what.method + " " + what.key + (what.query.empty() ? "" : "?" + what.query));
    while (!late_.empty() && late_.front().first-- == 0) deliver_first();
    http_response answer;
    switch (choose(what)) {
      case fault::lost:
        return {.failure = "the request is lost"};
      case fault::late:
        late_.emplace_back(3, what);
        return {.failure = "the answer is late"};
      case fault::lost_answer:
        static_cast<void>(serve(request, what));
        return {.failure = "the answer is lost"};
      case fault::twice:
        static_cast<void>(serve(request, what));
        answer = serve(request, what);
        break;
      case fault::failed_after:
        static_cast<void>(serve(request, what));
        return refusal(500, "InternalError");
      case fault::internal_error:
        return refusal(500, "InternalError");
      case fault::conflict:
        return refusal(409, "ConditionalRequestConflict");
      case fault::slow_down:
        return refusal(503, "SlowDown");
      case fault::throttled:
        return refusal(429, "TooManyRequests");
      case fault::timed_out:
        return {.status = 408, .failure = {}, .body = {}};
      case fault::bad_digest:
        return refusal(400, "BadDigest");
      case fault::error_in_200:
        return refusal(200, "InternalError");
      case fault::expired_token:
        return refusal(403, "ExpiredToken");
      case fault::skewed:
        answer = refusal(403, "RequestTimeTooSkewed");
        break;
      case fault::cut: {
        answer = serve(request, what);
        if (request.method == "GET") return {.failure = "the answer ends early"};
        break;
      }
      case fault::none:
        answer = serve(request, what);
    }
    answer.headers["date"] = text(now() + ahead, "%a, %d %b %Y %H:%M:%S GMT");
    // The body of a part goes where it is wanted.
    std::size_t at = 0;
    if (answer.status == 206)
      for (const auto& each : request.into) {
        const auto bytes = std::min(each.size(), answer.body.size() - at);
        if (bytes > 0) std::memcpy(each.data(), answer.body.data() + at, bytes);
        at += bytes;
      }
    answer.filled = at;
    if (at > 0) answer.body.clear();
    return answer;
  }
  void deliver_first() {
    const auto what = late_.front().second;
    late_.pop_front();
    static_cast<void>(act(what));
  }

  http_response serve(const http_request& request, const arrived& what) {
    if (auto answer = refuse(request, what); answer.status != 0) return answer;
    return act(what);
  }
  /// Whether the signature is right: status 0.
  [[nodiscard]] http_response refuse(const http_request& request, const arrived& what) const {
    http_request again{.method = request.method, .url = request.url};
    for (const auto& [name, value] : request.headers)
      if (name != "host" && name != "x-amz-content-sha256" && name != "x-amz-date" && name != "x-amz-security-token" &&
          name != "authorization")
        again.headers.emplace_back(name, value);
    std::tm fields{};
    if (::strptime(what.header("x-amz-date").c_str(), "%Y%m%dT%H%M%SZ", &fields) == nullptr)
      return refusal(403, "AccessDenied");
    const auto date = std::chrono::system_clock::from_time_t(::timegm(&fields));
    // Digests of large bodies take most of the time of a test.
    const auto digest = request.body.size() < 100'000 ? cairn::stores::detail::sha256_hex(request.body)
                                                      : what.header("x-amz-content-sha256");
    if (what.header("x-amz-content-sha256") != digest) return refusal(400, "XAmzContentSHA256Mismatch");
    cairn::stores::detail::sign(again, {"AK", secret, what.header("x-amz-security-token"), {}}, region, digest, date);
    const auto& signature = again.headers.back().second;
    const auto has_region = what.header("authorization").find("/" + region + "/s3/") != std::string::npos;
    if (!has_region && redirects) {
      auto answer = refusal(301, "PermanentRedirect");
      answer.headers["x-amz-bucket-region"] = region;
      return answer;
    }
    if (!has_region) return refusal(400, "AuthorizationHeaderMalformed", "<Region>" + region + "</Region>");
    if (what.header("authorization").find("Credential=" + key_id + "/") == std::string::npos)
      return refusal(403, "InvalidAccessKeyId");
    if (what.header("authorization") != signature) return refusal(403, "SignatureDoesNotMatch");
    const auto skew = date - (now() + ahead);
    if (skew > std::chrono::minutes(15) || skew < -std::chrono::minutes(15))
      return refusal(403, "RequestTimeTooSkewed");
    if (what.header("x-amz-security-token") != token) return refusal(403, "ExpiredToken");
    if (!is_there) return refusal(404, "NoSuchBucket");
    if (is_read_only && what.method != "GET") return refusal(403, "AccessDenied");
    return {};
  }

  http_response act(const arrived& what) {
    if (what.key.empty()) return what.has("uploads") ? list_uploads(what) : list(what);
    if (what.method == "POST") return what.has("uploads") ? begin_upload(what) : complete(what);
    if (what.has("uploadId")) return what.method == "PUT" ? put_part(what) : abort(what);
    const auto at = objects.find(what.key);
    if (what.method == "PUT") {
      if (what.header("if-none-match") == "*" && has_conditions && at != objects.end())
        return refusal(412, "PreconditionFailed");
      objects[what.key] = {what.body, what.header("x-amz-meta-cairn-attempt"), now(), what.headers};
      return {.status = 200, .failure = {}, .body = {}, .filled = 0, .headers = {{"etag", tag_of(what.body)}}};
    }
    if (what.method == "DELETE") {
      objects.erase(what.key);
      return {.status = 204};
    }
    if (at == objects.end()) return refusal(404, "NoSuchKey");
    http_response answer{.status = 200, .failure = {}, .body = at->second.bytes};
    if (!at->second.attempt.empty()) answer.headers["x-amz-meta-cairn-attempt"] = at->second.attempt;
    if (const auto range = what.header("range"); !range.empty()) {
      const auto first = std::stoull(range.substr(6)), last = std::stoull(range.substr(range.find('-') + 1));
      if (first >= answer.body.size()) return refusal(416, "InvalidRange");
      answer.body = answer.body.substr(first, last - first + 1);
      answer.status = 206;
    }
    return answer;
  }

  [[nodiscard]] http_response list(const arrived& what) const {
    const auto prefix = what.fields.at("prefix");
    auto at = objects.lower_bound(what.has("continuation-token") ? what.fields.at("continuation-token") : prefix);
    std::string body = "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>bucket</Name>";
    for (std::size_t count = 0; at != objects.end() && at->first.starts_with(prefix); ++at, ++count) {
      if (count == page) {
        body += "<IsTruncated>true</IsTruncated><NextContinuationToken>" + at->first + "</NextContinuationToken>";
        break;
      }
      body += "<Contents><Key>" + cairn::stores::detail::percent_encoded(at->first) + "</Key><LastModified>" +
              text(at->second.changed, "%Y-%m-%dT%H:%M:%S.000Z") + "</LastModified><ETag>&quot;x&quot;</ETag><Size>" +
              std::to_string(at->second.bytes.size()) + "</Size></Contents>";
    }
    return {.status = 200, .failure = {}, .body = body + "</ListBucketResult>"};
  }
  [[nodiscard]] http_response list_uploads(const arrived& what) const {
    const auto prefix = what.fields.at("prefix");
    std::string body = "<ListMultipartUploadsResult>";
    std::vector<std::pair<std::string, std::string>> sorted;  // key, id
    for (const auto& [id, each] : uploads)
      if (each.key.starts_with(prefix)) sorted.emplace_back(each.key, id);
    std::sort(sorted.begin(), sorted.end());
    auto at = sorted.begin();
    if (what.has("key-marker"))
      at = std::upper_bound(sorted.begin(), sorted.end(),
                            std::pair(what.fields.at("key-marker"), what.fields.at("upload-id-marker")));
    for (std::size_t count = 0; at != sorted.end(); ++at, ++count) {
      if (count == page) {
        const auto& last = *std::prev(at);
        body += "<IsTruncated>true</IsTruncated><NextKeyMarker>" + cairn::stores::detail::percent_encoded(last.first) +
                "</NextKeyMarker><NextUploadIdMarker>" + last.second + "</NextUploadIdMarker>";
        break;
      }
      body += "<Upload><Key>" + cairn::stores::detail::percent_encoded(at->first) + "</Key><UploadId>" + at->second +
              "</UploadId><Initiated>" + text(uploads.at(at->second).begun, "%Y-%m-%dT%H:%M:%S.000Z") +
              "</Initiated></Upload>";
    }
    return {.status = 200, .failure = {}, .body = body + "</ListMultipartUploadsResult>"};
  }
  http_response begin_upload(const arrived& what) {
    if (!has_multipart) return refusal(501, "NotImplemented");
    const auto id = "upload-" + std::to_string(++ids_);
    uploads[id] = {what.key, {}, now(), what.headers};
    return {.status = 200,
            .failure = {},
            .body = "<InitiateMultipartUploadResult><UploadId>" + id + "</UploadId></InitiateMultipartUploadResult>"};
  }
  http_response put_part(const arrived& what) {
    const auto at = uploads.find(what.fields.at("uploadId"));
    if (at == uploads.end()) return refusal(404, "NoSuchUpload");
    at->second.parts[std::stoull(what.fields.at("partNumber"))] = what.body;
    return {.status = 200, .failure = {}, .body = {}, .filled = 0, .headers = {{"etag", tag_of(what.body)}}};
  }
  http_response complete(const arrived& what) {
    const auto at = uploads.find(what.fields.at("uploadId"));
    if (at == uploads.end()) return refusal(404, "NoSuchUpload");
    std::string whole;
    std::size_t number = 0, from = 0;
    for (const auto& [part, bytes] : at->second.parts) {
      const auto wanted = "<PartNumber>" + std::to_string(++number) + "</PartNumber><ETag>" + tag_of(bytes) + "</ETag>";
      from = what.body.find(wanted, from);
      if (part != number || from == std::string::npos) return refusal(400, "InvalidPart");
      if (number < at->second.parts.size() && bytes.size() < (5U << 20U)) return refusal(400, "EntityTooSmall");
      whole += bytes;
    }
    objects[what.key] = {whole, "", now(), at->second.headers};
    uploads.erase(at);
    return {.status = 200, .failure = {}, .body = "<CompleteMultipartUploadResult/>"};
  }
  http_response abort(const arrived& what) {
    return uploads.erase(what.fields.at("uploadId")) == 1 ? http_response{.status = 204} : refusal(404, "NoSuchUpload");
  }

  std::mutex mutex_;
  std::chrono::nanoseconds elapsed_{std::chrono::hours(1)};
  std::deque<std::pair<int, arrived>> late_;
  std::size_t ids_ = 0;
};

}  // namespace sample

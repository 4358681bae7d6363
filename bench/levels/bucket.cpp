// SPDX-License-Identifier: MIT
#include "levels/bucket.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set");
  return value;
}

/// One connection, which is kept.
class connection {
 public:
  connection() : curl_(curl_easy_init(), &curl_easy_cleanup) {}

  /// The body of the answer, if it is not put into `into`; the header `etag` of the answer is kept.
  std::string send(const std::string& method, const std::string& url, std::span<const std::byte> body,
                   std::span<std::byte> into = {}, const std::string& range = {}) {
    const exchange self{body, into};
    auto now = self;
    CURL* const c = curl_.get();
    curl_easy_reset(c);
    const auto user = variable("AWS_ACCESS_KEY_ID") + ":" + variable("AWS_SECRET_ACCESS_KEY");
    curl_easy_setopt(c, CURLOPT_URL, url.c_str());
    curl_easy_setopt(c, CURLOPT_AWS_SIGV4, "aws:amz:us-east-1:s3");
    curl_easy_setopt(c, CURLOPT_USERPWD, user.c_str());
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method.c_str());
    if (!range.empty()) curl_easy_setopt(c, CURLOPT_RANGE, range.c_str());
    curl_easy_setopt(c, CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
    curl_easy_setopt(c, CURLOPT_UPLOAD_BUFFERSIZE, 2L << 20U);
    curl_easy_setopt(c, CURLOPT_BUFFERSIZE, 512L << 10U);
    if (method == "PUT" || method == "POST") {
      curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body.size()));
      curl_easy_setopt(c, CURLOPT_READFUNCTION, &exchange::read);
      curl_easy_setopt(c, CURLOPT_READDATA, &now);
    }
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, &exchange::write);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &now);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, &exchange::header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, &now);
    // Another header without a value would be in the signature of curl 7.88, and not in the request.
    curl_slist* const headers = curl_slist_append(nullptr, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    const auto failed = curl_easy_perform(c);
    curl_slist_free_all(headers);
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    if (failed != CURLE_OK || status >= 300)
      throw std::runtime_error(method + ' ' + url + ": " + curl_easy_strerror(failed) + ", status " +
                               std::to_string(status) + ' ' + now.text);
    etag = now.etag;
    return now.text;
  }

  std::string etag;

 private:
  struct exchange {
    std::span<const std::byte> body;
    std::span<std::byte> into;
    std::string text{}, etag{};

    static std::size_t read(char* to, std::size_t size, std::size_t count, void* self) {
      auto& from = static_cast<exchange*>(self)->body;
      const auto bytes = std::min(size * count, from.size());
      std::memcpy(to, from.data(), bytes);
      from = from.subspan(bytes);
      return bytes;
    }
    static std::size_t write(char* from, std::size_t size, std::size_t count, void* self) {
      auto& to = *static_cast<exchange*>(self);
      const auto bytes = size * count, kept = std::min(bytes, to.into.size());
      std::memcpy(to.into.data(), from, kept);
      to.into = to.into.subspan(kept);
      to.text.append(from + kept, bytes - kept);
      return bytes;
    }
    static std::size_t header(char* line, std::size_t size, std::size_t count, void* self) {
      std::string text(line, size * count);
      std::transform(text.begin(), text.begin() + std::min<std::ptrdiff_t>(5, std::ssize(text)), text.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      const auto first = text.find_first_not_of(' ', 5), last = text.find_last_not_of("\r\n");
      if (text.starts_with("etag:") && first <= last)
        static_cast<exchange*>(self)->etag = text.substr(first, last + 1 - first);
      return size * count;
    }
  };

  std::unique_ptr<CURL, void (*)(CURL*)> curl_;
};

/// Calls `act(connection, number)` for `count` parts, on as many threads as connections.
template <class Act>
void for_each_part(std::size_t count, unsigned connections, const Act& act) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < connections; ++i)
    threads.emplace_back([&] {
      connection mine;
      for (auto number = next++; number < count; number = next++) act(mine, number);
    });
  for (auto& each : threads) each.join();
}

std::string url_of(const std::string& bucket, const std::string& key) {
  return variable("AWS_ENDPOINT_URL_S3") + '/' + bucket + '/' + key;
}

}  // namespace

void plain_bucket::upload(const std::string& key, std::span<const std::byte> bytes, std::size_t part) const {
  const auto url = url_of(name, key);
  connection first;
  const auto answer = first.send("POST", url + "?uploads=", {});
  const auto begin = answer.find("<UploadId>") + 10, end = answer.find("</UploadId>");
  const auto id = answer.substr(begin, end - begin);
  const auto count = (bytes.size() + part - 1) / part;
  std::vector<std::string> tags(count);
  for_each_part(count, connections, [&](connection& by, std::size_t i) {
    const auto now = bytes.subspan(i * part, std::min(part, bytes.size() - i * part));
    static_cast<void>(by.send("PUT", url + "?partNumber=" + std::to_string(i + 1) + "&uploadId=" + id, now));
    tags[i] = by.etag;
  });
  std::string all = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < count; ++i)
    all += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + tags[i] + "</ETag></Part>";
  all += "</CompleteMultipartUpload>";
  static_cast<void>(first.send("POST", url + "?uploadId=" + id, std::as_bytes(std::span(all))));
}

void plain_bucket::download(const std::string& key, std::span<std::byte> into, std::size_t part) const {
  const auto url = url_of(name, key);
  for_each_part((into.size() + part - 1) / part, connections, [&](connection& by, std::size_t i) {
    const auto begin = i * part, bytes = std::min(part, into.size() - begin);
    static_cast<void>(by.send("GET", url, {}, into.subspan(begin, bytes),
                              std::to_string(begin) + '-' + std::to_string(begin + bytes - 1)));
  });
}

void plain_bucket::remove(const std::string& key) const {
  connection by;
  static_cast<void>(by.send("DELETE", url_of(name, key), {}));
}

}  // namespace bench

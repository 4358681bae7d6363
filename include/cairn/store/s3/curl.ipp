// SPDX-License-Identifier: MIT
// HTTP by libcurl: the `transport` of buckets. Only this file includes libcurl.
#pragma once

#include <curl/curl.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "cairn/store/s3/request.hpp"
#include "cairn/system/owner_process.hpp"

namespace cairn::inline v0_1::stores::detail {

/// Handles with their open connections. Thread-safe.
class curl_handles {
 public:
  using handle = std::unique_ptr<CURL, void (*)(CURL*)>;

  curl_handles() { static const auto started [[maybe_unused]] = ::curl_global_init(CURL_GLOBAL_DEFAULT); }

  ~curl_handles() {
    const cairn::detail::mutex_lock guard(mutex_);
    leave_those_of_parent();
  }
  curl_handles(const curl_handles&) = delete;
  curl_handles& operator=(const curl_handles&) = delete;

  /// One that no other thread uses.
  [[nodiscard]] handle take() {
    const cairn::detail::mutex_lock guard(mutex_);
    leave_those_of_parent();
    if (free_.empty()) return {::curl_easy_init(), &::curl_easy_cleanup};
    auto taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }
  void give_back(handle used) {
    const cairn::detail::mutex_lock guard(mutex_);
    free_.push_back(std::move(used));
  }

 private:
  /// A forked child must neither use nor close the connections of its parent.
  void leave_those_of_parent() CAIRN_REQUIRES(mutex_) {
    if (process_.is_here()) return;
    for (auto& each : free_) static_cast<void>(each.release());
    free_.clear();
    process_ = {};
  }

  cairn::detail::mutex mutex_;
  std::vector<handle> free_ CAIRN_GUARDED_BY(mutex_);
  cairn::detail::owner_process process_ CAIRN_GUARDED_BY(mutex_);
};

/// The state of one request, which libcurl's calls back get.
struct curl_exchange {
  const http_request& request;
  CURL* curl;
  http_response answer{};
  std::size_t sent = 0;    // bytes of the body
  std::size_t buffer = 0;  // of `into`, which is being filled
  std::size_t at = 0;      // in that buffer

  static std::size_t on_header(char* text, std::size_t, std::size_t bytes, void* to) {
    auto& self = *static_cast<curl_exchange*>(to);
    std::string_view line(text, bytes);
    if (line.starts_with("HTTP/")) self.answer.headers.clear();  // of an answer before, as of a proxy
    const auto colon = line.find(':');
    if (colon == line.npos) return bytes;
    std::string name(line.substr(0, colon));
    make_lower_case(name);
    line.remove_prefix(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
    self.answer.headers[name] = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
    return bytes;
  }

  static std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* to) {
    auto& self = *static_cast<curl_exchange*>(to);
    long status = 0;
    ::curl_easy_getinfo(self.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 206 || self.request.into.empty()) {
      return self.append(std::string_view(bytes, count));
    }
    for (std::size_t done = 0; done < count;) {
      if (self.buffer == self.request.into.size()) return done;  // more than was asked for: a failure
      const auto left = self.request.into[self.buffer].subspan(self.at);
      const auto now = std::min(left.size(), count - done);
      if (now > 0) std::memcpy(left.data(), bytes + done, now);
      done += now;
      self.answer.filled += now;
      self.at += now;
      if (now == left.size()) ++self.buffer, self.at = 0;
    }
    return count;
  }

  /// 0, which is a failure, if there is too much or no memory: no exception goes through libcurl.
  std::size_t append(std::string_view bytes) noexcept {
    constexpr std::size_t most = std::size_t{1} << 30U;
    try {
      if (bytes.size() > most - answer.body.size()) return 0;
      answer.body += bytes;
    } catch (const std::bad_alloc&) {
      return 0;
    }
    return bytes.size();
  }

  static std::size_t on_send(char* to_send, std::size_t, std::size_t room, void* from) {
    auto& self = *static_cast<curl_exchange*>(from);
    const auto left = self.request.body.subspan(self.sent);
    const auto now = std::min(room, left.size());
    if (now > 0) std::memcpy(to_send, left.data(), now);
    self.sent += now;
    return now;
  }
};

/// Keeps SIGPIPE from the calling thread, which libcrypto raises where a server has closed a connection.
class without_sigpipe {
 public:
  without_sigpipe() {
    sigset_t pending{};
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~without_sigpipe() {
    constexpr timespec at_once{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  without_sigpipe(const without_sigpipe&) = delete;
  without_sigpipe& operator=(const without_sigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

[[nodiscard]] inline http_response send_by_curl(CURL* curl, const http_request& request) {
  ::curl_easy_reset(curl);  // keeps the connections
  curl_exchange exchange{request, curl};
  std::array<char, CURL_ERROR_SIZE> failure{};
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(nullptr, &::curl_slist_free_all);
  const auto add = [&](const std::string& line) {
    auto* const longer = ::curl_slist_append(headers.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(headers.release());
    headers.reset(longer);
  };
  for (const auto& [name, value] : request.headers) add(sentence({name, ": ", value}));
  add("Expect:");  // else libcurl waits before it sends a body

  const auto set = [curl](CURLoption option, auto value) { ::curl_easy_setopt(curl, option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  set(CURLOPT_HTTPHEADER, headers.get());
  if (request.method == "PUT" || request.method == "POST") {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_READFUNCTION, &curl_exchange::on_send);
    set(CURLOPT_READDATA, static_cast<void*>(&exchange));
  }
  set(CURLOPT_HEADERFUNCTION, &curl_exchange::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&exchange));
  set(CURLOPT_WRITEFUNCTION, &curl_exchange::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&exchange));
  set(CURLOPT_ERRORBUFFER, failure.data());
  set(CURLOPT_NOSIGNAL, 1L);  // other threads run
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));  // one connection a request
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_CONNECTTIMEOUT_MS, request.patience < std::chrono::seconds(10) ? 1000L : 10'000L);
  set(CURLOPT_LOW_SPEED_LIMIT, 1024L);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.patience.count()));
  set(CURLOPT_BUFFERSIZE, 512L << 10U);
  set(CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10U);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  const auto certificates = environment("AWS_CA_BUNDLE");
  if (!certificates.empty()) set(CURLOPT_CAINFO, certificates.c_str());
  if (request.url.starts_with("http://169.254.")) set(CURLOPT_NOPROXY, "*");  // of this machine

  const without_sigpipe guard;
  const auto result = ::curl_easy_perform(curl);
  auto& answer = exchange.answer;
  if (result == CURLE_OK) {
    ::curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  } else {
    answer.failure = failure[0] != 0 ? failure.data() : ::curl_easy_strerror(result);
  }
  return std::move(answer);
}

transport curl_transport() {
  return [handles = std::make_shared<curl_handles>()](const http_request& request) {
    auto handle = handles->take();
    if (!handle) throw std::bad_alloc();
    auto answer = send_by_curl(handle.get(), request);
    handles->give_back(std::move(handle));
    return answer;
  };
}

}  // namespace cairn::inline v0_1::stores::detail

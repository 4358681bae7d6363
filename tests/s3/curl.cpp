// SPDX-License-Identifier: MIT
// The transport by libcurl, against a server of this program that answers each connection once.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cairn/store/s3/request.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace detail = cairn::stores::detail;

namespace {

/// Takes one request after the other, and answers with the texts.
class server {
 public:
  explicit server(std::vector<std::string> answers) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof at;
    if (::bind(listening_, reinterpret_cast<sockaddr*>(&at), bytes) != 0 || ::listen(listening_, 8) != 0 ||
        ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &bytes) != 0)
      throw std::runtime_error("no port on the loopback device");
    port_ = ::ntohs(at.sin_port);
    serving_ = std::thread([this, all = std::move(answers)] {
      for (const auto& each : all) serve(each);
    });
  }
  ~server() {
    serving_.join();
    ::close(listening_);
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  [[nodiscard]] std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::vector<std::string> requests{};  // read them when the answers have come

 private:
  void serve(const std::string& answer) {
    const int connection = ::accept(listening_, nullptr, nullptr);
    std::string text;
    char buffer[65536];
    std::size_t wanted = std::string::npos;
    while (text.size() < wanted) {
      const auto bytes = ::recv(connection, buffer, sizeof buffer, 0);
      if (bytes <= 0) break;
      text.append(buffer, static_cast<std::size_t>(bytes));
      const auto end = text.find("\r\n\r\n");
      if (end == text.npos) continue;
      const auto at = text.find("Content-Length: ");
      wanted = end + 4 + (at < end ? std::stoul(text.substr(at + 16)) : 0);
    }
    requests.push_back(text);
    static_cast<void>(::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL));
    ::close(connection);
  }

  int listening_ = ::socket(AF_INET, SOCK_STREAM, 0);
  int port_ = 0;
  std::thread serving_;
};

std::string answer(const std::string& status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

}  // namespace

TEST_CASE("libcurl sends what is asked, and gives the whole answer") {
  const std::string body(3'000'000, 'b');
  server there({"HTTP/1.1 103 Early Hints\r\nNone: 1\r\n\r\n" +
                    answer("200 OK", "", "ETag: \"tag\"\r\nX-Amz-Bucket-Region:  eu-west-1 \r\n"),
                answer("404 Not Found", ""), answer("204 No Content", ""), answer("500 Internal", "<Error/>"),
                answer("200 OK", "")});
  const auto send = detail::curl_transport();
  const auto put = send({.method = "PUT",
                         .url = there.url("/bucket/a/../b%20c?x=&y=1"),
                         .headers = {{"x-one", "1"}, {"authorization", "secret"}},
                         .body = sample::bytes_of(body)});
  CHECK(put.status == 200);
  CHECK(put.header("etag") == "\"tag\"");
  CHECK(put.header("x-amz-bucket-region") == "eu-west-1");
  CHECK(put.header("none").empty());
  CHECK(send({.method = "GET", .url = there.url("/missing")}).status == 404);
  CHECK(send({.method = "DELETE", .url = there.url("/a")}).status == 204);
  const auto post = send({.method = "POST", .url = there.url("/a?uploads=")});
  CHECK(post.status == 500);
  CHECK(post.body == "<Error/>");
  CHECK(send({.method = "GET", .url = there.url("/a")}).status == 200);
  REQUIRE(there.requests.size() == 5);
  const auto& first = there.requests[0];
  CHECK(first.starts_with("PUT /bucket/a/../b%20c?x=&y=1 HTTP/1.1\r\n"));
  CHECK(first.find("\r\nx-one: 1\r\n") != std::string::npos);
  CHECK(first.find("Expect:") == std::string::npos);
  CHECK(first.ends_with("\r\n\r\n" + body));
  CHECK(there.requests[1].starts_with("GET /missing HTTP"));
  CHECK(there.requests[2].starts_with("DELETE /a HTTP"));
  CHECK(there.requests[3].starts_with("POST /a?uploads= HTTP"));
  CHECK(there.requests[3].find("\r\nContent-Length: 0\r\n") != std::string::npos);
  CHECK(there.requests[4].starts_with("GET /a HTTP"));
}

TEST_CASE("the bytes of a range go into the buffers, and no others") {
  const std::string long_part(1'000'000, 'x');
  server there({answer("206 Partial Content", "abcdef"), answer("206 Partial Content", "abcdefg"),
                answer("404 Not Found", "words"), answer("200 OK", "whole"), answer("206 Partial Content", long_part)});
  const auto send = detail::curl_transport();
  std::string first(2, '-'), second(3, '-'), third(1, '-');
  const auto memory = [](std::string& text) { return std::as_writable_bytes(std::span(text)); };
  const std::span<std::byte> into[] = {memory(first), {}, memory(second), memory(third)};
  const auto get = [&] { return send({.method = "GET", .url = there.url("/a"), .into = into}); };
  const auto range = get();
  CHECK(range.status == 206);
  CHECK(range.filled == 6);
  CHECK(range.body.empty());
  CHECK(first + second + third == "abcdef");
  CHECK(get().status == 0);
  const auto missing = get();
  CHECK(missing.status == 404);
  CHECK(missing.body == "words");
  CHECK(get().body == "whole");
  CHECK(first + second + third == "abcdef");
  std::string whole(long_part.size(), '-');
  const std::span<std::byte> one[] = {memory(whole)};
  CHECK(send({.method = "GET", .url = there.url("/a"), .into = one}).filled == long_part.size());
  CHECK(whole == long_part);
}

TEST_CASE("an answer that ends early, or does not come, is none") {
  const auto send = detail::curl_transport();
  {
    server there({"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "", "what is this"});
    for (int i = 0; i < 3; ++i) {
      const auto nothing = send({.method = "GET", .url = there.url("/a")});
      CHECK(nothing.status == 0);
      CHECK_FALSE(nothing.failure.empty());
    }
  }
  const auto refused = send({.method = "GET", .url = "http://127.0.0.1:1/a"});
  CHECK(refused.status == 0);
  CHECK(refused.failure.find("127.0.0.1") != std::string::npos);
  const auto local = send({.method = "GET", .url = "file:///etc/hostname"});
  CHECK(local.status == 0);
  CHECK_FALSE(local.failure.empty());
}

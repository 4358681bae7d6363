// SPDX-License-Identifier: MIT
#include "cairn/store/s3/request.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

namespace detail = cairn::stores::detail;

namespace {

/// Of the examples in "Signature Calculations for the Authorization Header" of the documentation of S3.
const cairn::stores::s3_credentials example{.key_id = "AKIAIOSFODNN7EXAMPLE",
                                            .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr auto example_date = std::chrono::system_clock::time_point(std::chrono::seconds(1369353600));

struct signed_request {
  std::string headers, signature;
};

signed_request sign(const std::string& method, const std::string& path, const detail::http_fields& query,
                    const detail::http_fields& headers, const std::string& body = "") {
  detail::http_request request{.method = method,
                               .url = "https://examplebucket.s3.amazonaws.com" + detail::percent_encoded(path, true),
                               .headers = headers};
  if (!query.empty()) request.url += '?' + detail::canonical_query(query);
  detail::sign(request, example, "us-east-1", detail::sha256_hex(sample::bytes_of(body)), example_date);
  const auto& text = request.headers.back().second;
  CHECK(text.starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"));
  const auto names = text.find("SignedHeaders=") + 14, comma = text.find(',', names);
  return {text.substr(names, comma - names), text.substr(text.find("Signature=") + 10)};
}

}  // namespace

TEST_CASE("requests are signed as the documentation of S3 shows") {
  SECTION("GET Object") {
    const auto made = sign("GET", "/test.txt", {}, {{"range", "bytes=0-9"}});
    CHECK(made.headers == "host;range;x-amz-content-sha256;x-amz-date");
    CHECK(made.signature == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  }
  SECTION("PUT Object") {
    const auto made = sign("PUT", "/test$file.text", {},
                           {{"x-amz-storage-class", "REDUCED_REDUNDANCY"}, {"Date", "Fri, 24 May 2013 00:00:00 GMT"}},
                           "Welcome to Amazon S3.");
    CHECK(made.headers == "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class");
    CHECK(made.signature == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  }
  SECTION("GET Bucket Lifecycle")
  CHECK(sign("GET", "/", {{"lifecycle", ""}}, {}).signature ==
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  SECTION("Get Bucket (List Objects)")
  CHECK(sign("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}).signature ==
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("keys and queries are encoded byte by byte, and sorted as encoded") {
  CHECK(detail::percent_encoded("a/b=c d+e%f~\xc3\xa4", true) == "a/b%3Dc%20d%2Be%25f~%C3%A4");
  CHECK(detail::percent_encoded("a/b") == "a%2Fb");
  CHECK(detail::canonical_query({{"uploads", ""}, {"prefix", "a b"}, {"Z", "1"}}) == "Z=1&prefix=a%20b&uploads=");
  std::string all;
  for (int each = 1; each < 256; ++each) all += static_cast<char>(each);
  CHECK(detail::percent_decoded(detail::percent_encoded(all)) == all);
  CHECK(detail::percent_decoded("a+b%2Bc%2") == "a b+c%2");
}

TEST_CASE("dates of headers and of XML are read") {
  const std::chrono::system_clock::time_point wanted(std::chrono::seconds(1255369830));
  CHECK(detail::parse_date("Mon, 12 Oct 2009 17:50:30 GMT") == wanted);
  CHECK(detail::parse_date("2009-10-12T17:50:30.000Z") == wanted);
  CHECK(detail::parse_date("2009-10-12T17:50:30Z") == wanted);
  for (const auto* each : {"", "yesterday", "12 Oct 2009"}) CHECK_FALSE(detail::parse_date(each));
}

TEST_CASE("a bucket is in the path of URLs, or in the name of the host") {
  for (const char* each : {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION"})
    ::unsetenv(each);
  const auto url = [](const std::string& endpoint, std::optional<bool> path_style, const std::string& bucket = "data") {
    return detail::bucket_address(bucket, endpoint, "", path_style).url("a b/c", {{"x", ""}});
  };
  CHECK(url("", {}) == "https://data.s3.us-east-1.amazonaws.com/a%20b/c?x=");
  CHECK(url("", true) == "https://s3.us-east-1.amazonaws.com/data/a%20b/c?x=");
  CHECK(url("", {}, "da.ta") == "https://s3.us-east-1.amazonaws.com/da.ta/a%20b/c?x=");
  CHECK(url("http://localhost:9000/", {}) == "http://localhost:9000/data/a%20b/c?x=");
  CHECK(url("https://minio:443", false) == "https://data.minio/a%20b/c?x=");
  ::setenv("AWS_DEFAULT_REGION", "eu-west-3", 1);
  CHECK(url("", {}) == "https://data.s3.eu-west-3.amazonaws.com/a%20b/c?x=");
  ::setenv("AWS_REGION", "eu-west-1", 1);
  CHECK(url("", {}) == "https://data.s3.eu-west-1.amazonaws.com/a%20b/c?x=");
  ::setenv("AWS_ENDPOINT_URL", "http://a", 1);
  CHECK(url("", {}) == "http://a/data/a%20b/c?x=");
  ::setenv("AWS_ENDPOINT_URL_S3", "http://b", 1);
  CHECK(url("", {}) == "http://b/data/a%20b/c?x=");
  for (const char* each : {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION"})
    ::unsetenv(each);
  for (const auto* each :
       {"ftp://a", "a:9000", "http://", "http://user:SECRET@host", "http://host/path", "http://a b"}) {
    const auto failure = sample::failure_of([&] { static_cast<void>(url(each, {})); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK_FALSE(failure.says("SECRET"));
  }
  for (const auto* each : {"", "ab", "Upper", "under_score", "-first", "last.", "a/b"})
    CHECK(sample::failure_of([&] { static_cast<void>(url("", {}, each)); }).code == cairn::errc::invalid);
  CHECK(sample::failure_of([] { detail::bucket_address("data", "", "EU", {}); }).code == cairn::errc::invalid);
}

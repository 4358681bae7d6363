// SPDX-License-Identifier: MIT
// Definitions of store/s3/request.hpp: encoding, dates, addresses, and the signature.
#pragma once

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <locale>
#include <sstream>

#include "cairn/store/s3/request.hpp"

namespace cairn::inline v0_1::stores::detail {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void make_lower_case(std::string& text) {
  for (auto& each : text)
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each | 0x20);
}

[[nodiscard]] inline std::string hex_of(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned each : bytes) {
    text += "0123456789abcdef"[each >> 4U];
    text += "0123456789abcdef"[each & 15U];
  }
  return text;
}

std::string percent_encoded(std::string_view text, bool is_path) {
  std::string encoded;
  for (const char each : text) {
    const bool is_plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                          (each >= '0' && each <= '9') ||
                          std::string_view("-_.~").find(each) != std::string_view::npos || (is_path && each == '/');
    if (is_plain) {
      encoded += each;
      continue;
    }
    const auto byte = static_cast<unsigned char>(each);
    encoded += '%';
    encoded += "0123456789ABCDEF"[byte >> 4U];
    encoded += "0123456789ABCDEF"[byte & 15U];
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char each) -> int {
    const auto at = std::string_view("0123456789abcdef").find(static_cast<char>(each | 0x20));
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
  };
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_encoded = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    // Servers write a space as + here, and + itself as %2B.
    decoded += is_encoded       ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]))
               : text[i] == '+' ? ' '
                                : text[i];
    if (is_encoded) i += 2;
  }
  return decoded;
}

std::string canonical_query(const http_fields& query) {
  http_fields encoded;
  for (const auto& [name, value] : query) encoded.emplace_back(percent_encoded(name), percent_encoded(value));
  std::sort(encoded.begin(), encoded.end());
  std::string text;
  for (const auto& [name, value] : encoded) text += (text.empty() ? "" : "&") + name + '=' + value;
  return text;
}

using sha256_digest = std::array<unsigned char, 32>;

[[nodiscard]] inline sha256_digest sha256(std::span<const std::byte> bytes) {
  sha256_digest digest{};
  if (::EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, ::EVP_sha256(), nullptr) != 1)
    fail(errc::unsupported, {"libcrypto has no SHA-256 here"});
  return digest;
}

[[nodiscard]] inline sha256_digest sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

std::string sha256_hex(std::span<const std::byte> bytes) { return hex_of(sha256(bytes)); }

[[nodiscard]] inline sha256_digest hmac(std::span<const unsigned char> key, std::string_view text) {
  sha256_digest digest{};
  if (::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), nullptr) == nullptr)
    fail(errc::unsupported, {"libcrypto has no HMAC here"});
  return digest;
}

std::optional<system_time> parse_date(std::string_view text) {
  for (const char* const format : {"%a, %d %b %Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S"}) {
    std::tm fields{};
    std::istringstream in{std::string(text)};
    in.imbue(std::locale::classic());
    in >> std::get_time(&fields, format);
    if (!in.fail()) return std::chrono::system_clock::from_time_t(::timegm(&fields));
  }
  return std::nullopt;
}

void sign(http_request& request, const s3_credentials& by, std::string_view region, std::string_view body_sha256,
          system_time date) {
  const auto seconds = std::chrono::system_clock::to_time_t(date);
  std::tm fields{};
  ::gmtime_r(&seconds, &fields);
  std::array<char, 32> at{};
  const std::string time(at.data(), std::strftime(at.data(), at.size(), "%Y%m%dT%H%M%SZ", &fields));
  const auto day = time.substr(0, 8);

  const std::string_view url = request.url;
  const auto host_begin = url.find("://") + 3, path_begin = std::min(url.find('/', host_begin), url.size()),
             query_begin = std::min(url.find('?', path_begin), url.size());
  request.headers.emplace_back("host", url.substr(host_begin, path_begin - host_begin));
  request.headers.emplace_back("x-amz-content-sha256", body_sha256);
  request.headers.emplace_back("x-amz-date", time);
  if (!by.session_token.empty()) request.headers.emplace_back("x-amz-security-token", by.session_token);
  auto headers = request.headers;
  for (auto& each : headers) make_lower_case(each.first);
  std::sort(headers.begin(), headers.end());
  std::string lines, names;
  for (const auto& [name, value] : headers) {
    lines += name + ':' + value + '\n';
    names += (names.empty() ? "" : ";") + name;
  }

  const auto canonical =
      sentence({request.method, "\n", url.substr(path_begin, query_begin - path_begin), "\n",
                url.substr(std::min(query_begin + 1, url.size())), "\n", lines, "\n", names, "\n", body_sha256});
  const auto scope = sentence({day, "/", region, "/s3/aws4_request"});
  const auto to_sign = sentence({"AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", hex_of(sha256(canonical))});
  const auto first = "AWS4" + by.secret;
  auto key = hmac(std::span(reinterpret_cast<const unsigned char*>(first.data()), first.size()), day);
  for (const std::string_view part : {region, std::string_view("s3"), std::string_view("aws4_request")})
    key = hmac(key, part);
  request.headers.emplace_back(
      "authorization", sentence({"AWS4-HMAC-SHA256 Credential=", by.key_id, "/", scope, ",SignedHeaders=", names,
                                 ",Signature=", hex_of(hmac(key, to_sign))}));
}

bucket_address::bucket_address(std::string name, std::string endpoint, std::string of_region,
                               std::optional<bool> path_style)
    : scheme("https"), region(std::move(of_region)), bucket(std::move(name)) {
  for (const char* const each : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (region.empty()) region = environment(each);
  if (region.empty()) region = "us-east-1";
  const auto is_lower = [](char each) { return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9'); };
  const auto is_name = [&](char each) { return is_lower(each) || each == '-'; };
  if (!std::all_of(region.begin(), region.end(), is_name))
    fail(errc::invalid, {"\"", region, "\" is no region of S3: use lower-case letters, digits and -"});
  if (bucket.size() < 3 || bucket.size() > 63 || !is_lower(bucket.front()) || !is_lower(bucket.back()) ||
      !std::all_of(bucket.begin(), bucket.end(), [&](char each) { return is_name(each) || each == '.'; }))
    fail(errc::invalid, {"\"", bucket, "\" is no name of a bucket: give 3 to 63 lower-case letters, digits, - and ."});
  for (const char* const each : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"})
    if (endpoint.empty()) endpoint = environment(each);
  is_path_style = path_style.value_or(!endpoint.empty() || bucket.find('.') != bucket.npos);
  if (endpoint.empty()) return;

  const auto at = endpoint.find("://");
  if (at != endpoint.npos) scheme = endpoint.substr(0, at);
  host = at != endpoint.npos ? endpoint.substr(at + 3) : "";
  if (host.ends_with('/')) host.pop_back();
  const std::string_view port = scheme == "https" ? ":443" : ":80";  // libcurl does not send it
  if (host.ends_with(port)) host.resize(host.size() - port.size());
  if ((scheme != "http" && scheme != "https") || host.empty() || host.find_first_of("/@?# \t\r\n") != host.npos)
    fail(errc::invalid, {"the endpoint for s3://", bucket, " is not https://HOST, http://HOST or with :PORT"});
}

std::string bucket_address::url(std::string_view key, const http_fields& query) const {
  const auto at = host.empty() ? sentence({"s3.", region, ".amazonaws.com"}) : host;
  auto text = is_path_style ? sentence({scheme, "://", at, "/", bucket}) : sentence({scheme, "://", bucket, ".", at});
  if (!key.empty() || !is_path_style) text += '/';
  text += percent_encoded(key, true);
  if (!query.empty()) text += '?' + canonical_query(query);
  return text;
}

}  // namespace cairn::inline v0_1::stores::detail

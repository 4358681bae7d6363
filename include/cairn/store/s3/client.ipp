// SPDX-License-Identifier: MIT
// Definitions of store/s3/client.hpp: when a request is sent again, then the operations and the XML of their answers.
#pragma once

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>

#include <algorithm>
#include <sstream>

#include "cairn/store/root_directory.hpp"
#include "cairn/store/s3/client.hpp"

namespace cairn::inline v0_1::stores::detail {

using xml_tree = boost::property_tree::ptree;

/// Whether the parser, which calls itself for elements in elements, has enough of the stack for a text.
[[nodiscard]] inline bool is_flat(std::string_view text) {
  constexpr int most = 32;
  int depth = 0;
  for (auto at = text.find('<'); at != text.npos && depth <= most; at = text.find('<', at + 1)) {
    const auto tag = text.substr(at + 1, text.find('>', at) - at - 1);
    const bool is_empty = tag.ends_with('/') && tag.find_first_of("\"'") == tag.npos;  // `>` may be in quotes
    depth += tag.starts_with('/') ? -1 : is_empty || tag.starts_with('?') || tag.starts_with('!') ? 0 : 1;
  }
  return depth <= most;
}

/// The root element `name` of an answer, if there is one.
[[nodiscard]] inline std::optional<xml_tree> parse_xml(const std::string& text, const char* name) {
  if (!is_flat(text)) return std::nullopt;
  xml_tree all;
  try {
    std::istringstream in(text);
    boost::property_tree::read_xml(in, all);
  } catch (const boost::property_tree::ptree_error&) {
    return std::nullopt;
  }
  const auto root = all.find(name);
  return root == all.not_found() ? std::nullopt : std::optional<xml_tree>(std::move(root->second));
}

/// What a server says of a failure.
struct server_error {
  std::string code, message, region;

  explicit server_error(const http_response& answer) {
    const bool is_xml = answer.body.starts_with('<') && answer.body.find("<Error") != answer.body.npos;
    if (const auto root = is_xml ? parse_xml(answer.body, "Error") : std::nullopt) {
      code = root->get("Code", "");
      message = root->get("Message", "");
      region = root->get("Region", "");
    }
    if (const auto said = answer.header("x-amz-bucket-region"); !said.empty()) region = said;
  }
};

/// Whether the same request may succeed later.
[[nodiscard]] inline bool is_passing(const http_response& answer, std::string_view code) {
  for (const std::string_view each : {"SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "BadDigest",
                                      "XAmzContentSHA256Mismatch", "IncompleteBody"})
    if (code == each) return true;
  return answer.status == 0 || answer.status / 100 == 2 || answer.status == 408 || answer.status == 409 ||
         answer.status == 429 || (answer.status >= 500 && answer.status != 501);
}

s3_client::s3_client(bucket_address address, client_settings settings)
    : settings_(std::move(settings)),
      credentials_(settings_.credentials, settings_.send, settings_.time),
      bucket_(address.bucket),
      address_(std::move(address)) {}

std::string s3_client::name_of(std::string_view key) const { return sentence({"s3://", bucket_, "/", key}); }

http_response s3_client::try_once(const call& what, std::string_view digest, signed_for& as) {
  as.by = credentials_.get();
  http_request request{.method = what.method,
                       .url = {},
                       .headers = what.headers,
                       .body = what.body,
                       .into = what.into,
                       .patience = what.patience};
  auto date = settings_.time.date();
  {
    const cairn::detail::mutex_lock guard(mutex_);
    request.url = address_.url(what.key, what.query);
    as.region = address_.region;
    date += ahead_;
  }
  sign(request, as.by, as.region, digest, date);
  auto answer = settings_.send(request);
  if (answer.status / 100 != 2) return answer;
  if (!what.into.empty() && answer.status != 206)
    return {.failure = "the server does not give a part of the object (HTTP " + std::to_string(answer.status) + ")"};
  if (const auto wanted = total_bytes(what.into); answer.filled != wanted)
    return {.failure = sentence({"the server gave ", answer.filled, " of ", wanted, " bytes"})};
  return answer;
}

http_response s3_client::send(const call& what) {
  using clock = std::chrono::steady_clock;
  const auto digest = sha256_hex(what.body);
  const auto begin = settings_.time.now();
  constexpr unsigned most_corrections = 4;
  constexpr std::chrono::seconds at_first{30};  // a wrong address is not waited for, nor a server after an outage
  unsigned corrections = 0;
  for (unsigned tries = 0;; ++tries) {
    signed_for as;
    auto answer = try_once(what, digest, as);
    const server_error said(answer);
    const bool passes = answer.status == what.passes && answer.status != 0 && said.code != "NoSuchBucket";
    if (passes || (answer.status / 100 == 2 && said.code.empty())) {
      is_reached_ = true;
      return answer;
    }
    if (corrections < most_corrections && correct(answer, said, as)) {
      ++corrections;
      continue;
    }
    const clock::duration spent = settings_.time.now() - begin;
    std::chrono::milliseconds pause{100LL << std::min(tries, 8U)};
    pause = std::min<std::chrono::milliseconds>(pause, std::chrono::seconds(20));
    pause -= pause * static_cast<int>(random_number() % 500) / 1000;
    const auto most = what.limit.value_or(settings_.give_up_after);
    const auto limit = is_reached_ ? most : std::min<std::chrono::milliseconds>(most, at_first);
    if (!is_passing(answer, said.code)) refuse(what, answer, said, "");
    if (spent + pause > limit) {
      is_reached_ = false;
      refuse(what, answer, said,
             sentence({"; tried ", tries + 1, " times in ",
                       std::chrono::duration_cast<std::chrono::seconds>(spent).count(), " s"}));
    }
    settings_.time.pause(pause);
  }
}

bool s3_client::correct(const http_response& answer, const server_error& said, const signed_for& as) {
  const auto& code = said.code;
  if (code == "ExpiredToken" || code == "ExpiredTokenException" || code == "TokenRefreshRequired") {
    credentials_.forget(as.by);
    return true;
  }
  const cairn::detail::mutex_lock guard(mutex_);
  if (code == "RequestTimeTooSkewed") {
    const auto date = parse_date(answer.header("date"));
    if (!date) return false;
    ahead_ = std::chrono::duration_cast<std::chrono::seconds>(*date - settings_.time.date());
    return true;
  }
  if (answer.status < 300 || answer.status > 400 || said.region.empty() || said.region == as.region) return false;
  address_.region = said.region;
  return true;
}

void s3_client::refuse(const call& what, const http_response& answer, const server_error& said,
                       const std::string& after) const {
  const auto http = answer.status == 0 ? answer.failure : "HTTP " + std::to_string(answer.status);
  const auto words = said.code.empty() ? http : sentence({said.code, ": ", said.message, " (", http, ")"});
  const auto code = answer.status == 404 && what.method == "GET" && said.code != "NoSuchBucket" ? errc::not_found
                    : answer.status == 501                                                      ? errc::unsupported
                                                                                                : errc::io;
  auto about = what.key;
  for (const auto& [name, value] : what.query)
    if (name == "prefix") about = value;
  fail(code, {"cannot ", what.action, " ", name_of(about), ": ", words, after});
}

bool s3_client::put(const std::string& key, std::span<const std::byte> bytes, const put_options& options) {
  auto headers = settings_.put_headers;
  if (!options.attempt.empty()) headers.emplace_back("x-amz-meta-cairn-attempt", options.attempt);
  if (options.is_new) headers.emplace_back("if-none-match", "*");
  return send({.method = "PUT",
               .key = key,
               .action = "write",
               .headers = std::move(headers),
               .body = bytes,
               .passes = options.is_new ? 412 : 0,
               .limit = options.limit})
             .status != 412;
}

std::optional<stored_object> s3_client::get(const std::string& key, http_fields headers) {
  auto answer = send({.method = "GET", .key = key, .action = "read", .headers = std::move(headers), .passes = 404});
  if (answer.status == 404) return std::nullopt;
  return stored_object{std::move(answer.body), std::string(answer.header("x-amz-meta-cairn-attempt"))};
}

void s3_client::get_range(const std::string& key, std::uint64_t offset, std::span<const std::span<std::byte>> into) {
  const auto last = offset + total_bytes(into) - 1;
  send({.method = "GET",
        .key = key,
        .action = "read",
        .headers = {{"range", sentence({"bytes=", offset, "-", last})}},
        .into = into});
}

void s3_client::remove(const std::string& key) {
  send({.method = "DELETE", .key = key, .action = "delete", .passes = 404});
}

object_list s3_client::list(const std::string& prefix) { return list_pages(prefix, false); }

object_list s3_client::list_uploads(const std::string& prefix) { return list_pages(prefix, true); }

object_list s3_client::list_pages(const std::string& prefix, bool of_uploads) {
  object_list found;
  http_fields next;
  for (bool is_last = false; !is_last;) {
    call page{.method = "GET", .action = of_uploads ? "list the uploads to" : "list"};
    page.query = {
        {of_uploads ? "uploads" : "list-type", of_uploads ? "" : "2"}, {"encoding-type", "url"}, {"prefix", prefix}};
    page.query.insert(page.query.end(), next.begin(), next.end());
    const auto answer = send(page);
    const auto root = parse_xml(answer.body, of_uploads ? "ListMultipartUploadsResult" : "ListBucketResult");
    const auto broken = [&] {
      fail(errc::io, {"cannot list ", name_of(prefix), ": the answer of the server is not what S3 answers"});
    };
    if (!root) broken();
    if (const auto date = parse_date(answer.header("date"))) found.date = *date;
    for (const auto& [name, each] : *root) {
      if (name != (of_uploads ? "Upload" : "Contents")) continue;
      listed_object object{.key = percent_decoded(each.get("Key", "")), .upload = each.get("UploadId", "")};
      const auto changed = parse_date(each.get(of_uploads ? "Initiated" : "LastModified", ""));
      const bool has_size = of_uploads || cairn::detail::read_number(each.get("Size", ""), object.bytes);
      if (!changed || !has_size || !object.key.starts_with(prefix)) broken();
      object.changed = *changed;
      found.all.push_back(std::move(object));
    }
    is_last = root->get("IsTruncated", "false") != "true";
    if (is_last) break;
    next = of_uploads ? http_fields{{"key-marker", percent_decoded(root->get("NextKeyMarker", ""))},
                                    {"upload-id-marker", root->get("NextUploadIdMarker", "")}}
                      : http_fields{{"continuation-token", root->get("NextContinuationToken", "")}};
    if (next.front().second.empty()) broken();
  }
  return found;
}

std::string s3_client::begin_upload(const std::string& key) {
  call begin{.method = "POST", .key = key, .action = "begin an upload to", .query = {{"uploads", ""}}};
  begin.headers = settings_.put_headers;
  const auto answer = send(begin);
  const auto root = parse_xml(answer.body, "InitiateMultipartUploadResult");
  auto id = root ? root->get("UploadId", "") : "";
  if (id.empty()) fail(errc::io, {"cannot begin an upload to ", name_of(key), ": the server gives no UploadId"});
  return id;
}

std::string s3_client::put_part(const std::string& key, const std::string& upload, std::size_t number,
                                std::span<const std::byte> bytes) {
  const auto answer = send({.method = "PUT",
                            .key = key,
                            .action = "write a part of",
                            .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload}},
                            .body = bytes});
  return std::string(answer.header("etag"));
}

void s3_client::complete_upload(const std::string& key, const std::string& upload, std::span<const std::string> tags,
                                std::uint64_t bytes) {
  std::string body = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < tags.size(); ++i) {
    body += sentence({"<Part><PartNumber>", i + 1, "</PartNumber><ETag>"});
    for (const char each : tags[i]) body += each == '&' ? "&amp;" : each == '<' ? "&lt;" : std::string(1, each);
    body += "</ETag></Part>";
  }
  body += "</CompleteMultipartUpload>";
  call complete{.method = "POST",
                .key = key,
                .action = "complete the upload to",
                .query = {{"uploadId", upload}},
                .body = std::as_bytes(std::span(body)),
                .passes = 404,
                .patience = std::chrono::seconds(300)};  // the server answers when it has joined the parts
  const auto answer = send(complete);
  if (answer.status != 404) return;
  // It may have been done before, by a request whose answer was lost: the attempt is in the key.
  for (const auto& each : list(key).all)
    if (each.key == key && each.bytes == bytes) return;
  refuse(complete, answer, server_error(answer), "");
}

void s3_client::abort_upload(const std::string& key, const std::string& upload) {
  send(
      {.method = "DELETE", .key = key, .action = "abort an upload to", .query = {{"uploadId", upload}}, .passes = 404});
}

}  // namespace cairn::inline v0_1::stores::detail

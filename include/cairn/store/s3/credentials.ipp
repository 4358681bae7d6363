// SPDX-License-Identifier: MIT
// Where credentials come from if the program gives none: the environment, a file, the container, the instance.
#pragma once

#include <boost/property_tree/ini_parser.hpp>

#include <fstream>

#include "cairn/store/s3/request.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::stores::detail {

[[nodiscard]] inline std::optional<s3_credentials> credentials_of_environment() {
  s3_credentials found{.key_id = environment("AWS_ACCESS_KEY_ID"),
                       .secret = environment("AWS_SECRET_ACCESS_KEY"),
                       .session_token = environment("AWS_SESSION_TOKEN")};
  if (found.key_id.empty() || found.secret.empty()) return std::nullopt;
  return found;
}

/// errc::invalid for a file that cannot be parsed, without its text.
[[nodiscard]] inline std::optional<s3_credentials> credentials_of_file() {
  auto path = environment("AWS_SHARED_CREDENTIALS_FILE"), profile = environment("AWS_PROFILE");
  if (path.empty()) path = environment("HOME") + "/.aws/credentials";
  if (profile.empty()) profile = "default";
  std::ifstream file(path);
  if (!file) return std::nullopt;
  boost::property_tree::ptree sections;
  try {
    boost::property_tree::read_ini(file, sections);
  } catch (const boost::property_tree::ptree_error&) {
    fail(errc::invalid,
         {path, " is not a file of credentials: it has a line that is no [profile] and no name = value"});
  }
  const auto section = sections.find(profile);
  if (section == sections.not_found()) return std::nullopt;
  s3_credentials found{.key_id = section->second.get("aws_access_key_id", ""),
                       .secret = section->second.get("aws_secret_access_key", ""),
                       .session_token = section->second.get("aws_session_token", "")};
  if (found.key_id.empty() || found.secret.empty()) return std::nullopt;
  return found;
}

/// The answer of a container's or an instance's service.
struct served_credentials {
  std::string AccessKeyId{}, SecretAccessKey{}, Token{}, Expiration{};
};

template <class Io>
void describe(Io& io, cairn::detail::described<Io, served_credentials>& of) {
  io.object([&] {
    io.field("AccessKeyId", of.AccessKeyId);
    io.field("SecretAccessKey", of.SecretAccessKey);
    io.optional("Token", of.Token);
    io.optional("Expiration", of.Expiration);
    if constexpr (Io::reads) io.ignore_others();
  });
}

/// errc::io, without the answer, which may have a part of a secret, and without the path of the service, which may be
/// an id of credentials. `of`: whose service.
[[nodiscard]] inline s3_credentials parse_served(const http_response& answer, std::string_view of) {
  if (answer.status != 200)
    fail(errc::io, {"no credentials for S3 from the service of the ", of, ": ",
                    answer.status == 0 ? answer.failure : "HTTP " + std::to_string(answer.status)});
  served_credentials found;
  try {
    found = cairn::detail::from_json<served_credentials>(answer.body, of);
  } catch (const error&) {
    fail(errc::io, {"the answer of the service of the ", of, " has no credentials for S3"});
  }
  return {found.AccessKeyId, found.SecretAccessKey, found.Token, parse_date(found.Expiration)};
}

constexpr std::chrono::seconds metadata_patience{2};

/// The credentials of ECS, and of the pod identity of EKS.
[[nodiscard]] inline std::optional<s3_credentials> credentials_of_container(const transport& send) {
  const auto relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto url =
      relative.empty() ? environment("AWS_CONTAINER_CREDENTIALS_FULL_URI") : "http://169.254.170.2" + relative;
  if (url.empty()) return std::nullopt;
  const auto goes_to = [&](std::string_view host) {
    const auto begin = sentence({"http://", host});
    return url.starts_with(begin) &&
           (url.size() == begin.size() || url[begin.size()] == '/' || url[begin.size()] == ':');
  };
  if (!url.starts_with("https://") && !goes_to("169.254.170.2") && !goes_to("169.254.170.23") &&
      !goes_to("127.0.0.1") && !goes_to("localhost") && !goes_to("[fd00:ec2::23]") && !goes_to("[::1]"))
    fail(errc::invalid, {"AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor of this machine"});
  auto token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const auto path = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !path.empty()) {
    std::ifstream file(path);
    token.assign(std::istreambuf_iterator<char>(file), {});
    token.resize(token.find_last_not_of(" \r\n") + 1);
  }
  http_request request{.method = "GET", .url = url, .patience = metadata_patience};
  if (!token.empty()) request.headers.emplace_back("authorization", token);
  return parse_served(send(request), "container");
}

/// The credentials of EC2, by version 2 of its service. Nothing where there is no such service.
[[nodiscard]] inline std::optional<s3_credentials> credentials_of_instance(const transport& send) {
  if (environment("AWS_EC2_METADATA_DISABLED") == "true") return std::nullopt;
  const std::string base = "http://169.254.169.254/latest/";
  const auto token = send({.method = "PUT",
                           .url = base + "api/token",
                           .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                           .patience = metadata_patience});
  if (token.status != 200) return std::nullopt;
  const auto get = [&](const std::string& url) {
    return send({.method = "GET",
                 .url = url,
                 .headers = {{"x-aws-ec2-metadata-token", token.body}},
                 .patience = metadata_patience});
  };
  const auto roles = base + "meta-data/iam/security-credentials/";
  const auto role = get(roles);
  if (role.status != 200) return std::nullopt;
  return parse_served(get(roles + role.body.substr(0, role.body.find('\n'))), "instance");
}

credential_cache::credential_cache(std::function<s3_credentials()> source, transport send, time_source time)
    : source_(std::move(source)), date_(std::move(time.date)) {
  if (source_) return;
  source_ = [send = std::move(send)] {
    auto found = credentials_of_environment();
    if (!found) found = credentials_of_file();
    if (!found) found = credentials_of_container(send);
    if (!found) found = credentials_of_instance(send);
    if (!found)
      fail(errc::io, {"there are no credentials for S3: neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, nor the "
                      "profile in ~/.aws/credentials, nor a service of the container or the instance gives any"});
    return *found;
  };
}

s3_credentials credential_cache::get() {
  constexpr std::chrono::minutes early{5};
  const cairn::detail::mutex_lock guard(mutex_);
  const auto now = date_();
  if (held_ && !(held_->expires && now + early >= *held_->expires)) return *held_;
  try {
    held_ = source_();
  } catch (const error&) {  // the next request tries it again
    if (!held_ || (held_->expires && now >= *held_->expires)) throw;
  }
  return *held_;
}

void credential_cache::forget(const s3_credentials& refused) {
  const cairn::detail::mutex_lock guard(mutex_);
  if (held_ && held_->key_id == refused.key_id && held_->session_token == refused.session_token) held_.reset();
}

}  // namespace cairn::inline v0_1::stores::detail

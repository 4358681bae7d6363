// SPDX-License-Identifier: MIT
// A store in a bucket of S3 or of a server that speaks its protocol. Link the target cairn::s3.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/store/base.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/s3/request.hpp"

namespace cairn::inline v0_1::stores {

/// How a bucket is reached and written. Empty members stand for what the AWS SDKs take from the environment.
struct s3_options {
  std::string endpoint{};  ///< "https://host:port"; empty: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else AWS
  std::string region{};    ///< empty: AWS_REGION, AWS_DEFAULT_REGION, else us-east-1
  /// The bucket is in the path of URLs, and not in the name of the host. nullopt: with an endpoint, or if the bucket's
  /// name has a dot.
  std::optional<bool> path_style{};
  /// Called by any thread when credentials are needed. Null: the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
  /// AWS_SESSION_TOKEN), the profile AWS_PROFILE of ~/.aws/credentials, the service of the container, that of the
  /// instance.
  std::function<s3_credentials()> credentials{};
  std::uint64_t part_bytes = std::uint64_t{16} << 20U;  ///< files from this size on are sent in parts; at least 5 MiB
  unsigned connections = 8;  ///< threads of a save, and parts of a file that are sent at a time
  /// How long an owner must be silent before it counts as dead, above 0; the owner renews its object four times per
  /// lease. One of this machine, or of an earlier start of the same job, is noticed at once.
  std::chrono::milliseconds lease{60'000};
  scheduler_job job = scheduler_job::of_environment();  ///< whose earlier starts are dead
  std::chrono::milliseconds give_up_after{300'000};     ///< for each operation; requests are sent again until then
  /// Headers of each new object, such as x-amz-server-side-encryption.
  std::vector<std::pair<std::string, std::string>> put_headers{};
  bool conditional = true;  ///< false: the server has no If-None-Match, and only one process saves here, by agreement
};

namespace detail {

class s3_place;

/// What tests replace: how requests are sent, and how time passes.
struct s3_seams {
  transport send = curl_transport();
  time_source time{};
};

}  // namespace detail

/// Checkpoints below a prefix of a bucket. The files of each attempt to write a checkpoint have keys of their own; what
/// publishes it is one more object, which is created under a condition. Thread-safe; copies share the lock. Files of a
/// removed checkpoint cannot be read, even if they are already open: errc::not_found.
class s3 {
 public:
  /// "s3://bucket/prefix". No request yet. errc::invalid: an address, a prefix or an option that cannot be used.
  explicit s3(std::string_view url, s3_options options = {}, detail::s3_seams seams = {});

  [[nodiscard]] std::string location() const;
  /// That of the options.
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept;

  /// Excludes other processes: for at most `lease` it waits for an owner that may be dead. Also removes what crashed
  /// processes left, if it has not changed for 10 leases. errc::busy, errc::unsupported.
  [[nodiscard]] ownership lock();
  /// A checkpoint of the same name that another process publishes meanwhile makes this one fail when it publishes.
  [[nodiscard]] std::unique_ptr<transaction> begin(std::string_view name);
  /// errc::not_found when the attempt has been published or has ended.
  [[nodiscard]] std::unique_ptr<transaction> join(std::string_view name, std::string_view attempt);
  [[nodiscard]] std::vector<std::string> list() const;
  [[nodiscard]] std::shared_ptr<const publication> open(std::string_view name) const;
  void remove(std::string_view name);

 private:
  std::shared_ptr<detail::s3_place> place_;
};

}  // namespace cairn::inline v0_1::stores

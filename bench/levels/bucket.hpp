// SPDX-License-Identifier: MIT
// The peer of copies to a bucket and reads from it: libcurl, which also signs, and as many threads as connections.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bench {

/// A bucket of a server, of the environment: AWS_ENDPOINT_URL_S3, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY.
struct plain_bucket {
  std::string name;
  unsigned connections = 8;

  /// One object in parts, which the server does not compare with a checksum.
  void upload(const std::string& key, std::span<const std::byte> bytes, std::size_t part) const;
  /// All of it, in ranges of `part` bytes.
  void download(const std::string& key, std::span<std::byte> into, std::size_t part) const;
  void remove(const std::string& key) const;
};

}  // namespace bench

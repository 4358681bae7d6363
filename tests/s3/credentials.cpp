// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cairn/store/s3/request.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace detail = cairn::stores::detail;
using cairn::errc;
using cairn::stores::s3_credentials;
using sample::failure_of;

namespace {

/// The variables that matter, unset, and as they were at the end.
class variables {
 public:
  variables() {
    for (const auto* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
                             "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                             "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                             "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED", "HOME"}) {
      const char* const value = std::getenv(name);
      if (value != nullptr) before_[name] = value;
      ::unsetenv(name);
      names_.emplace_back(name);
    }
    ::setenv("HOME", scratch.path().c_str(), 1);
  }
  ~variables() {
    for (const auto& name : names_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  sample::scratch scratch;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

/// Services of the container and of the instance: answers by "METHOD URL".
struct services {
  std::map<std::string, std::string> answers{};
  std::vector<std::string> log{};
  std::chrono::system_clock::time_point now{std::chrono::seconds(1'800'000'000)};

  [[nodiscard]] detail::credential_cache cache() {
    return {nullptr,
            [this](const detail::http_request& request) {
              auto text = request.method + " " + request.url;
              for (const auto& [name, value] : request.headers)
                if (name != "x-aws-ec2-metadata-token-ttl-seconds") text += " " + value;
              log.push_back(text);
              const auto at = answers.find(text);
              if (at == answers.end()) return detail::http_response{.failure = "nobody is there"};
              return detail::http_response{.status = 200, .failure = {}, .body = at->second};
            },
            {.date = [this] { return now; }}};
  }
};

const std::string served =
    R"({"Code": "Success", "AccessKeyId": "served", "SecretAccessKey": "S3CRET", "Token": "token",
                               "Expiration": "2027-01-15T09:00:00Z", "Nested": {"more": [1, 2]}})";  // in an hour

}  // namespace

TEST_CASE("credentials come from the first place that has some") {
  const variables environment;
  const auto directory = environment.scratch.path(".aws");
  services all;
  const auto key = [&] { return all.cache().get().key_id; };
  SECTION("nowhere") {
    const auto failure = failure_of(key);
    CHECK(failure.code == errc::io);
    CHECK(failure.says("AWS_ACCESS_KEY_ID"));
    all.log.clear();
    ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    CHECK(failure_of(key).code == errc::io);
    CHECK(all.log.empty());
  }
  const std::string base = "http://169.254.169.254/latest/", roles = base + "meta-data/iam/security-credentials/";
  all.answers["PUT " + base + "api/token"] = "pass";
  all.answers["GET " + roles + " pass"] = "trainer\n";
  all.answers["GET " + roles + "trainer pass"] = served;
  SECTION("the instance, the container, the file, the environment") {
    const auto found = all.cache().get();
    CHECK(found.key_id == "served");
    CHECK(found.secret == "S3CRET");
    CHECK(found.session_token == "token");
    CHECK(found.expires == all.now + std::chrono::hours(1));

    all.answers["GET http://169.254.170.2/role"] = R"({"AccessKeyId": "container", "SecretAccessKey": "x"})";
    ::setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/role", 1);
    CHECK(key() == "container");

    std::filesystem::create_directory(directory);
    sample::spill(directory + "/credentials",
                  "# mine\n[default]\naws_access_key_id = file\naws_secret_access_key=a=b/c+d\n\n"
                  "[my.profile]\naws_access_key_id=profile\naws_secret_access_key=x\naws_session_token=t\n");
    CHECK(key() == "file");
    CHECK(all.cache().get().secret == "a=b/c+d");
    ::setenv("AWS_PROFILE", "my.profile", 1);
    CHECK(key() == "profile");
    CHECK(all.cache().get().session_token == "t");
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", environment.scratch.path("nothing").c_str(), 1);
    CHECK(key() == "container");

    ::setenv("AWS_ACCESS_KEY_ID", "environment", 1);
    CHECK(key() == "container");
    ::setenv("AWS_SECRET_ACCESS_KEY", "x", 1);
    CHECK(key() == "environment");
  }
  SECTION("a container with a token, which goes to no other machine") {
    all.answers["GET http://169.254.170.23/v1/credentials jwt"] = served;
    ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials", 1);
    sample::spill(environment.scratch.path("token"), "jwt\n");
    ::setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", environment.scratch.path("token").c_str(), 1);
    CHECK(key() == "served");
    for (const auto* each :
         {"http://example.org/", "http://169.254.170.2.example.org/", "http://localhost.example.org/"}) {
      ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", each, 1);
      CHECK(failure_of(key).code == errc::invalid);
    }
  }
  SECTION("the path of a container's service, which may be an id of credentials, is not shown") {
    ::setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/S3CRET", 1);
    for (const auto* answer : {"", "[]"}) {
      if (*answer != '\0') all.answers["GET http://169.254.170.2/v2/credentials/S3CRET"] = answer;
      const auto failure = failure_of(key);
      CHECK(failure.code == errc::io);
      CHECK(failure.says("service of the container"));
      CHECK_FALSE(failure.says("S3CRET"));
    }
  }
  SECTION("answers and files that are none are not shown") {
    for (const auto* each : {"{\"AccessKeyId\": \"S3CRET\"}", "S3CRET", "", "[]"}) {
      all.answers["GET " + roles + "trainer pass"] = each;
      const auto failure = failure_of(key);
      CHECK(failure.code == errc::io);
      CHECK_FALSE(failure.says("S3CRET"));
    }
    std::filesystem::create_directory(directory);
    sample::spill(directory + "/credentials", "[default]\nS3CRET\n");
    const auto failure = failure_of(key);
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says("/.aws/credentials"));
    CHECK_FALSE(failure.says("S3CRET"));
  }
}

TEST_CASE("credentials are used until 5 minutes before they expire, or until they are refused") {
  const variables environment;
  services all;
  ::setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/role", 1);
  all.answers["GET http://169.254.170.2/role"] = served;
  auto cache = all.cache();
  const auto asked = [&] {
    static_cast<void>(cache.get());
    return all.log.size();
  };
  CHECK(asked() == 1);
  all.now += std::chrono::minutes(54);
  CHECK(asked() == 1);
  all.now += std::chrono::minutes(1);
  CHECK(asked() == 2);
  all.now -= std::chrono::minutes(50);
  CHECK(asked() == 2);
  cache.forget({"others", "x", "token", {}});
  CHECK(asked() == 2);
  cache.forget(cache.get());
  CHECK(asked() == 3);
  // A service that does not answer for a moment fails nothing while they hold.
  all.answers.clear();
  all.now += std::chrono::minutes(52);
  CHECK_NOTHROW(cache.get());
  all.now += std::chrono::minutes(4);
  CHECK_THROWS_AS(cache.get(), cairn::error);
}

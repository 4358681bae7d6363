// SPDX-License-Identifier: MIT
#include "cairn/store/s3/client.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "cairn/s3.hpp"
#include "cairn/store/s3/file.hpp"
#include "catch.hpp"
#include "s3/bucket.hpp"
#include "store/contract.hpp"

using cairn::errc;
using cairn::stores::s3;
using sample::failure_of;
using sample::fault;

namespace {

constexpr std::uint64_t mib = 1U << 20U;

void save(cairn::any_store store, const std::string& text, const std::string& name = "a") {
  std::mt19937_64 random(1);
  const auto made = store.begin(name);
  contract::write(*made, cairn::detail::shard_file(0, 1), text, random);
  contract::write(*made, "index.json", "index", random);
  made->publish();
}

/// Seconds that `act` waits.
template <class Act>
double seconds_of(sample::bucket& bucket, const Act& act) {
  const auto begin = bucket.time().now();
  act();
  return std::chrono::duration<double>(bucket.time().now() - begin).count();
}

}  // namespace

TEST_CASE("any fault of any one request of a save, of a restore and of a removal is borne") {
  const std::string text(5 * mib + 1, 'x');
  for (const auto which :
       {fault::lost, fault::lost_answer, fault::twice, fault::late, fault::cut, fault::internal_error,
        fault::failed_after, fault::slow_down, fault::throttled, fault::timed_out, fault::bad_digest,
        fault::expired_token, fault::error_in_200, fault::conflict}) {
    bool was_there = true;
    for (std::size_t at = 0; was_there; ++at) {
      CAPTURE(static_cast<int>(which), at);
      sample::bucket bucket;
      std::size_t count = 0;
      was_there = false;
      bucket.choose = [&](const sample::arrived& what) {
        if (count++ != at) return fault::none;
        was_there = true;
        // Besides a POST, only lists are answered with 200 too early.
        const bool can_be = which != fault::error_in_200 || what.method == "POST" || what.key.empty();
        return can_be ? which : fault::none;
      };
      cairn::any_store store = bucket.store({.part_bytes = 5 * mib});
      auto owned = store.lock();
      sample::put(store, "a", {{cairn::detail::shard_file(0, 1), text}, {"index.json", "index"}});
      CHECK(store.list() == std::vector<std::string>{"a"});
      if (which != fault::late) CHECK(bucket.uploads.empty());
      const bool is_same = sample::get(store, "a", cairn::detail::shard_file(0, 1)) == text;
      CHECK(is_same);
      store.remove("a");
      owned.reset();
      bucket.deliver_late();
      bucket.pass(std::chrono::hours(1));
      owned = store.lock();
      CHECK(bucket.keys().size() == 1);
      CHECK(bucket.uploads.empty());
    }
  }
}

TEST_CASE("the clock, the region and the credentials are corrected as the server says") {
  sample::bucket bucket;
  auto store = bucket.store();
  save(store, "1");
  const auto list = [&] {
    bucket.log.clear();
    CHECK(store.list() == std::vector<std::string>{"a"});
    return bucket.log.size();
  };
  SECTION("a clock that is an hour behind or before") {
    for (const auto hours : {1, -1}) {
      bucket.ahead = std::chrono::hours(hours);
      CHECK(list() == 2);
      CHECK(list() == 1);
    }
  }
  SECTION("another region, by a redirection") {
    bucket.region = "eu-west-1";
    bucket.redirects = true;
    CHECK(list() == 2);
    CHECK(list() == 1);
  }
  SECTION("another region") {
    bucket.region = "eu-west-1";
    CHECK(list() == 2);
    CHECK(list() == 1);
  }
  SECTION("credentials that have expired") {
    bucket.token = "second";
    CHECK(list() == 2);
    CHECK(list() == 1);
  }
  SECTION("but not for ever") {
    bucket.choose = [](const auto&) { return fault::expired_token; };
    bucket.log.clear();
    const auto failure = failure_of([&] { static_cast<void>(store.list()); });
    CHECK(failure.code == errc::io);
    CHECK(failure.says("ExpiredToken: the message of ExpiredToken"));
    CHECK(bucket.log.size() == 5);
  }
}

TEST_CASE("what cannot succeed fails at once, in the words of the server and without a secret") {
  sample::bucket bucket;
  bucket.on_pause = [] { FAIL("tries again"); };
  cairn::any_store store = bucket.store();
  const auto refused = [&](const std::string& code, const auto& act) {
    const auto failure = failure_of(act);
    CHECK(failure.code == errc::io);
    CHECK(failure.says(code + ": the message of " + code));
    CHECK(failure.says("s3://bucket/runs/a"));
    CHECK_FALSE(failure.says("SK"));
    CHECK_FALSE(failure.says("T0KEN"));
  };
  SECTION("a wrong secret") {
    bucket.secret = "other";
    refused("SignatureDoesNotMatch", [&] { static_cast<void>(store.list()); });
  }
  SECTION("a wrong key") {
    bucket.key_id = "other";
    refused("InvalidAccessKeyId", [&] { static_cast<void>(store.list()); });
  }
  SECTION("no such bucket") {
    bucket.is_there = false;
    const auto list = failure_of([&] { static_cast<void>(store.list()); });
    CHECK(list.says("NoSuchBucket"));
    CHECK(list.code == errc::io);
    CHECK(failure_of([&] { store.remove("a"); }).code == errc::io);
    CHECK(failure_of([&] { static_cast<void>(store.lock()); }).code == errc::io);
    CHECK(failure_of([&] { static_cast<void>(store.join("a", "0123456789abcdef01234567")); }).code == errc::io);
  }
  SECTION("a bucket that may only be read") {
    save(store, "1");
    bucket.token = "T0KEN";
    bucket.is_read_only = true;
    CHECK(sample::get(store, "a", "index.json") == "index");
    refused("AccessDenied", [&] { static_cast<void>(store.lock()); });
    refused("AccessDenied", [&] { static_cast<void>(store.begin("b")); });
    refused("AccessDenied", [&] { store.remove("a"); });
  }
  SECTION("a server without uploads in parts") {
    bucket.has_multipart = false;
    const auto failure = failure_of([&] { save(store, std::string(17 * mib, 'x')); });
    CHECK(failure.code == errc::unsupported);
    CHECK(failure.says("NotImplemented"));
  }
}

TEST_CASE("no secret is stored") {
  sample::bucket bucket;
  bucket.secret = "distinct-secret";
  bucket.token = "distinct-token";
  auto store = bucket.store(
      {.credentials = [] { return cairn::stores::s3_credentials{"AK", "distinct-secret", "distinct-token", {}}; }});
  const auto owned = store.lock();
  save(store, std::string(11 * mib, 'x'));
  CHECK(bucket.objects.size() == 4);
  for (const auto& [key, object] : bucket.objects)
    for (const auto* secret : {"distinct-secret", "distinct-token"})
      CHECK((key + object.bytes + object.attempt).find(secret) == std::string::npos);
}

TEST_CASE("a server that does not answer is given up: soon at first, and later after the time of the options") {
  sample::bucket bucket;
  bucket.choose = [](const auto&) { return fault::lost; };
  auto store = bucket.store();
  sample::failure failure;
  const auto list = [&] { failure = failure_of([&] { static_cast<void>(store.list()); }); };
  const auto first = seconds_of(bucket, list);
  CHECK(failure.code == errc::io);
  CHECK(failure.says("cannot list s3://bucket/runs/a/: the request is lost; tried "));
  CHECK(first > 5);
  CHECK(first < 31);
  bucket.choose = [](const auto&) { return fault::none; };
  list();
  bucket.choose = [](const auto&) { return fault::slow_down; };
  const auto later = seconds_of(bucket, list);
  CHECK(failure.says("SlowDown"));
  CHECK(later > 270);
  CHECK(later < 301);
}

TEST_CASE("files in parts arrive whole, whatever the order of their bytes") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store({.part_bytes = 5 * mib});
  std::mt19937_64 random(3);
  for (const std::uint64_t bytes : {0 * mib, 1 * mib / mib, 5 * mib - 1, 5 * mib, 5 * mib + 1, 10 * mib, 12 * mib}) {
    CAPTURE(bytes);
    std::string text(bytes, '\0');
    for (auto& each : text) each = static_cast<char>(random());
    save(store, text);
    CHECK(sample::get(store, "a", cairn::detail::shard_file(0, 1)) == text);
    const auto uploads = std::count_if(bucket.log.begin(), bucket.log.end(),
                                       [](const auto& each) { return each.find("partNumber") != std::string::npos; });
    CHECK(uploads == (bytes > 5 * mib ? static_cast<long>((bytes + 5 * mib - 1) / (5 * mib)) : 0));
    bucket.log.clear();
  }
  const auto transaction = store.begin("b");
  static_cast<void>(transaction->create(cairn::detail::shard_file(0, 1), 12 * mib));
  CHECK(bucket.uploads.size() == 1);
  const auto failure = failure_of([&] { transaction->prepare(); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says("not all bytes"));
}

TEST_CASE("files of an upload that is not complete do not stay") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store({.part_bytes = 5 * mib});
  {
    const auto transaction = store.begin("a");
    std::mt19937_64 random(3);
    contract::write(*transaction, cairn::detail::shard_file(0, 1), std::string(12 * mib, 'x'), random);
    CHECK(bucket.uploads.size() == 1);
  }
  CHECK(bucket.uploads.empty());
  CHECK(bucket.objects.empty());
}

TEST_CASE("what the bucket has lost is not published") {
  sample::bucket bucket;
  const cairn::any_store store = bucket.store();
  for (const bool is_cut : {false, true}) {
    auto transaction = cairn::any_store(store).begin("a");
    std::mt19937_64 random(1);
    contract::write(*transaction, cairn::detail::shard_file(0, 1), "text", random);
    transaction->prepare();
    for (auto& [key, object] : bucket.objects)
      if (key.ends_with(cairn::detail::shard_file(0, 1))) object.bytes.resize(is_cut ? 3 : 4);
    if (!is_cut)
      std::erase_if(bucket.objects, [](const auto& each) { return each.first.find("shard-") != std::string::npos; });
    contract::write(*transaction, "index.json", "index", random);
    const auto failure = failure_of([&] { transaction->publish(); });
    CHECK(failure.code == errc::io);
    CHECK(failure.says("has lost s3://bucket/runs/a/a."));
    transaction.reset();
    CHECK(bucket.objects.empty());
  }
}

TEST_CASE("an upload whose completion fails, and that is gone, is complete if the object is there") {
  for (const bool is_complete : {true, false}) {
    sample::bucket bucket;
    bucket.choose = [&](const sample::arrived& what) {
      if (what.method != "POST" || !what.has("uploadId")) return fault::none;
      if (!is_complete) bucket.uploads.clear();
      return is_complete && !bucket.uploads.empty() ? fault::lost_answer : fault::none;
    };
    const auto failure = failure_of([&] { save(bucket.store({.part_bytes = 5 * mib}), std::string(6 * mib, 'x')); });
    CHECK(failure.sentence.empty() == is_complete);
    if (!is_complete) CHECK(failure.says("NoSuchUpload"));
  }
}

TEST_CASE("a file has at most 10,000 parts") {
  using cairn::stores::detail::part_bytes_of;
  for (const std::uint64_t wanted : {5 * mib, 16 * mib})
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, wanted, 8999 * wanted, 9000 * wanted, 10'001 * wanted, 5'000'000 * mib}) {
      const auto part = part_bytes_of(bytes, wanted);
      CHECK(part >= wanted);
      CHECK((bytes + part - 1) / part <= 10'000);
      if (bytes < 9000 * wanted) CHECK(part == wanted);
    }
}

TEST_CASE("lists of any length are read page by page") {
  sample::bucket bucket;
  for (std::uint64_t i = 0; i < 1001; ++i) {
    const auto name = cairn::detail::checkpoint_name(i);
    bucket.objects["runs/a/published/" + name + "/0000000000000000001"] = {"index", "0123456789abcdef01234567"};
    bucket.objects["runs/a/" + name + ".0123456789abcdef01234567/index.json"] = {"index", ""};
  }
  const auto store = bucket.store();
  CHECK(store.list().size() == 1001);
  CHECK(bucket.log.size() == 3);
  bucket.page = 7;
  CHECK(store.list().size() == 1001);
}

TEST_CASE("a publication that comes when its checkpoint has been removed is not there") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store();
  save(store, "1");
  const auto late = *bucket.objects.find("runs/a/published/a/0000000000000000001");
  store.remove("a");
  bucket.objects.insert(late);
  CHECK(store.list().empty());
  SECTION("it is removed when it is old") {
    bucket.pass(std::chrono::hours(1));
    static_cast<void>(store.lock());
    CHECK(bucket.keys().size() == 1);
  }
  SECTION("it is replaced") {
    save(store, "2");
    CHECK(store.list() == std::vector<std::string>{"a"});
    CHECK(sample::get(store, "a", cairn::detail::shard_file(0, 1)) == "2");
  }
}

TEST_CASE("keys of others below the prefix stay, and are not taken for checkpoints") {
  sample::bucket bucket;
  const std::vector<std::string> others{"runs/a/",
                                        "runs/a/.0123456789abcdef01234567/notes.txt",
                                        "runs/a/a.0123456789abcdef01234567/notes.txt",
                                        "runs/a/a.0123456789abcdef01234567/notes/index.json",
                                        "runs/a/a.b/index.json",
                                        "runs/a/notes.txt",
                                        "runs/a/owners/readme",
                                        "runs/a/published/",
                                        "runs/a/published/0000000000000000001",
                                        "runs/a/published/a/1",
                                        "runs/a/published/a/b/0000000000000000001",
                                        "runs/a/published/a/latest",
                                        "runs/ab/published/a/0000000000000000001"};
  for (const auto& each : others) bucket.objects[each] = {"theirs", ""};
  cairn::any_store store = bucket.store();
  CHECK(store.list().empty());
  CHECK(failure_of([&] { static_cast<void>(store.open("a")); }).code == errc::not_found);
  bucket.pass(std::chrono::hours(1));
  auto owned = store.lock();
  save(store, "1");
  CHECK(store.list() == std::vector<std::string>{"a"});
  CHECK(store.open("a")->files().size() == 2);
  store.remove("a");
  bucket.pass(std::chrono::hours(1));
  owned.reset();
  owned = store.lock();
  auto keys = bucket.keys();
  std::erase_if(keys, [](const auto& key) { return key.starts_with("runs/a/owners/0"); });
  CHECK(keys == others);
}

TEST_CASE("what crashed processes left goes when it is old by the clock of the server") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store({.part_bytes = 5 * mib});
  save(store, "1");
  save(store, "1", "b");
  const std::string attempt = ".0123456789abcdef01234567/";
  const auto fill = [&] {
    for (const auto* each : {"a", "b", "c"})
      for (const auto* file : {"writing", "index.json", "shard-00000-of-00001.safetensors"})
        bucket.objects["runs/a/" + std::string(each) + attempt + file] = {"left", "", bucket.time().date()};
    bucket.uploads["x"] = {"runs/a/a" + attempt + "shard-00000-of-00001.safetensors", {}, bucket.time().date()};
  };
  fill();
  const auto before = bucket.keys();
  static_cast<void>(store.lock());
  CHECK(bucket.keys().size() == before.size() + 1);
  CHECK(bucket.uploads.size() == 1);
  bucket.pass(std::chrono::minutes(11));
  static_cast<void>(store.lock());
  CHECK(bucket.keys().size() == 7);
  CHECK(bucket.uploads.empty());
  CHECK(store.list() == std::vector<std::string>{"a", "b"});
  for (const auto* each : {"a", "b"}) CHECK(sample::get(store, each, cairn::detail::shard_file(0, 1)) == "1");
}

TEST_CASE("a publication without its metadata is damaged, and can be removed") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store();
  save(store, "1");
  bucket.objects.at("runs/a/published/a/0000000000000000001").attempt.clear();
  bucket.objects["runs/a/a.0123456789abcdef01234567/index.json"] = {"left", "", bucket.time().date()};
  bucket.pass(std::chrono::hours(1));
  static_cast<void>(store.lock());
  CHECK(bucket.keys().size() == 5);  // with the owner: nobody knows which files belong to it
  const auto failure = failure_of([&] { static_cast<void>(store.open("a")); });
  CHECK(failure.code == errc::corrupt);
  CHECK(failure.says("s3://bucket/runs/a/published/a/0000000000000000001"));
  store.remove("a");
  CHECK(store.list().empty());
}

TEST_CASE("an answer with elements in elements without end is none") {
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "<a>";
  for (const int status : {200, 403}) {
    sample::bucket bucket;
    const cairn::stores::s3 strange(
        "s3://bucket/runs/a", {.credentials = [] { return cairn::stores::s3_credentials{"AK", "SK", "", {}}; }},
        {[&](const auto&) {
           return sample::http_response{
               .status = status, .failure = {}, .body = (status == 200 ? "<ListBucketResult>" : "<Error>") + deep};
         },
         bucket.time()});
    CHECK(failure_of([&] { static_cast<void>(strange.list()); }).code == errc::io);
  }
}

TEST_CASE("a list may have any number of empty elements") {
  sample::bucket bucket;
  save(bucket.store(), "1");
  const auto inner = bucket.transport();
  const cairn::stores::s3 store("s3://bucket/runs/a",
                                {.endpoint = "http://model:9000",
                                 .credentials = [] { return cairn::stores::s3_credentials{"AK", "SK", "", {}}; }},
                                {[&](const auto& request) {
                                   auto answer = inner(request);
                                   const auto at = answer.body.find("<Contents>");
                                   std::string empty;
                                   for (int i = 0; i < 1000; ++i) empty += "<CommonPrefixes/><!-- - -->";
                                   if (at != answer.body.npos) answer.body.insert(at, empty);
                                   return answer;
                                 },
                                 bucket.time()});
  CHECK(store.list() == std::vector<std::string>{"a"});
}

TEST_CASE("files that have gone are not found, and lists that are none are refused") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store();
  save(store, "1");
  const auto opened = store.open("a");
  const auto file = opened->open(cairn::detail::shard_file(0, 1));
  const auto unused = store.open("a");
  store.remove("a");
  CHECK(failure_of([&] { static_cast<void>(unused->files()); }).code == errc::not_found);
  const auto failure = failure_of([&] { static_cast<void>(cairn::stores::read_text(*file, 0, 1)); });
  CHECK(failure.code == errc::not_found);
  CHECK(failure.says("NoSuchKey"));
  bucket.choose = [](const auto&) { return fault::none; };
  cairn::stores::s3 strange(
      "s3://bucket/runs/a", {.credentials = [] { return cairn::stores::s3_credentials{"AK", "SK", "", {}}; }},
      {[](const auto&) { return sample::http_response{.status = 200, .failure = {}, .body = "<html>Welcome</html>"}; },
       bucket.time()});
  CHECK(failure_of([&] { static_cast<void>(strange.list()); }).says("is not what S3 answers"));
}

TEST_CASE("an index of 2 MB, an empty shard, and keys of all kinds") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store({}, "a=b c+d%e\xc3\xa4/&<x>");
  const std::string index = std::string(cairn::detail::index_opening) + std::string(2'000'000, 'x');
  for (const auto* each : {"a=1", "b c", "d+e", "f%20g", "h\xc3\xa4", "i&j<k>\"l'"}) {
    sample::put(store, each, {{"index.json", index}, {cairn::detail::shard_file(0, 1), ""}});
    CHECK(sample::get(store, each, "index.json") == index);
    CHECK(sample::get(store, each, cairn::detail::shard_file(0, 1)).empty());
  }
  CHECK(store.list().size() == 6);
  for (const auto& each : store.list()) store.remove(each);
  CHECK(bucket.objects.empty());
  CHECK(failure_of([&] { static_cast<void>(store.begin("\xff")); }).code == errc::invalid);
}

TEST_CASE("headers of the options are those of each new object") {
  sample::bucket bucket;
  save(bucket.store({.part_bytes = 5 * mib, .put_headers = {{"x-amz-server-side-encryption", "AES256"}}}),
       std::string(6 * mib, 'x'));
  for (const auto& [key, object] : bucket.objects) {
    CAPTURE(key);
    CHECK(object.headers.at("x-amz-server-side-encryption") == "AES256");
  }
}

TEST_CASE("places and options that cannot be used are refused before the first request") {
  const auto code = [](const std::string& url, cairn::stores::s3_options options = {}) {
    return failure_of([&] { s3{url, std::move(options)}; }).code;
  };
  for (const auto* each : {"", "bucket/a", "S3://bucket/a", "s3://", "s3://bucket", "s3://bucket/", "s3:///a",
                           "s3://Bucket/a", "s3://bu_cket/a", "s3://bucket/a/../b", "s3://bucket/./a", "s3://bucket//a",
                           "s3://bucket/a//b", "s3://bucket/..", "s3://bucket/\xff"})
    CHECK(code(each) == errc::invalid);
  CHECK(code("s3://bucket/" + std::string(501, 'a')) == errc::invalid);
  CHECK(code("s3://bucket/a", {.endpoint = "localhost"}) == errc::invalid);
  CHECK(code("s3://bucket/a", {.part_bytes = 5 * mib - 1}) == errc::invalid);
  CHECK(code("s3://bucket/a", {.connections = 0}) == errc::invalid);
  CHECK(code("s3://bucket/a", {.lease = std::chrono::milliseconds(0)}) == errc::invalid);
  CHECK(code("s3://bucket/a", {.give_up_after = std::chrono::milliseconds(0)}) == errc::invalid);
  CHECK(code("s3://bucket/a", {.put_headers = {{"x-a", "b\r\nx-c: d"}}}) == errc::invalid);
  CHECK(code("s3://bucket/a", {.put_headers = {{"", "b"}}}) == errc::invalid);
  CHECK(s3("s3://bucket/runs/a/").location() == "s3://bucket/runs/a");
}

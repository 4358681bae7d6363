// SPDX-License-Identifier: MIT
#include "cairn/observers.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cairn/checkpointer.hpp"
#include "cairn/system/json.hpp"
#include "catch.hpp"
#include "child.hpp"
#include "in_scratch.hpp"

using tests::in_scratch;

namespace {

using kind = cairn::event::kind;

struct closes {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, closes>;

/// All that was written to a file.
std::string contents(std::FILE* out) {
  std::fseek(out, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::ftell(out)), '\0');
  std::rewind(out);
  REQUIRE(std::fread(text.data(), 1, text.size(), out) == text.size());
  return text;
}

/// What the observer says of events to a file.
template <class... Events>
std::string told(const Events&... events) {
  const file out(std::tmpfile());
  REQUIRE(out);
  const cairn::observers::progress_line line(out.get());
  (line(events), ...);
  return contents(out.get());
}

/// The members of each JSON object in `text`, one a line; numbers as they read back.
std::vector<std::map<std::string, std::string>> read_lines(const std::string& text) {
  std::vector<std::map<std::string, std::string>> objects;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    auto& members = objects.emplace_back();
    using namespace cairn::detail;
    const auto line = text.substr(at, end - at);
    json_reader io(line, "line");
    std::string word;
    double real = 0;
    std::uint64_t natural = 0;
    io.object([&] {
      for (const char* name : {"event", "checkpoint", "message", "code"})
        if (io.optional(name, word)) members[name] = word;
      for (const char* name : {"time", "seconds"})
        if (io.optional(name, real)) members[name] = std::to_string(real);
      for (const char* name : {"step", "bytes", "total"})
        if (io.optional(name, natural)) members[name] = std::to_string(natural);
    });
    io.end();
  }
  REQUIRE(at == text.size());
  return objects;
}

const cairn::event halfway{.what = kind::progress, .step = 12, .bytes = 1, .total = 2};
const cairn::event published{.what = kind::published, .step = 12, .bytes = 3 << 20, .seconds = 0.25};

}  // namespace

TEST_CASE("to a file: one line per event, none for the stages of a save nor for progress") {
  CHECK(told(cairn::event{.what = kind::started, .step = 12}, cairn::event{.what = kind::copied, .bytes = 1},
             cairn::event{.what = kind::encoded, .bytes = 1}, halfway, cairn::event{.what = kind::written, .bytes = 1},
             published) == "cairn: step 12 saved, 3.0 MiB in 250 ms\n");
  CHECK(told(cairn::event{.what = kind::restored, .step = 7, .bytes = 1 << 19, .seconds = 0.002}) ==
        "cairn: step 7 restored, 0.5 MiB in 2 ms\n");
  CHECK(told(cairn::event{.what = kind::restored, .step = 7, .message = "data.batch: 2 in the program"}) ==
        "cairn: step 7 restored, 0.0 MiB in 0 ms; data.batch: 2 in the program\n");
  CHECK(told(cairn::event{.what = kind::failed, .checkpoint = "run/step-1", .message = "cannot write"}) ==
        "cairn: failed: cannot write\n");
  CHECK(told(cairn::event{.what = kind::fell_back, .checkpoint = "step-1", .message = "damaged"}) ==
        "cairn: fell back: damaged\n");
  CHECK(told(cairn::event{.what = kind::pruned, .checkpoint = "step-1"}) == "cairn: pruned: step-1\n");
  CHECK(told(cairn::event{.what = kind::skipped, .message = "one is being saved"}) ==
        "cairn: skipped: one is being saved\n");
  CHECK(told(cairn::event{.what = kind::staged_in_parts, .message = "too large"}) ==
        "cairn: staged in parts: too large\n");
  CHECK(told(cairn::event{.what = kind::stopping, .seconds = 29.7, .message = "SIGTERM"}) ==
        "cairn: stopping: SIGTERM, 30 s left\n");
}

TEST_CASE("a message of any length comes whole") {
  const std::string message(5000, 'x');
  CHECK(told(cairn::event{.what = kind::failed, .message = message}) == "cairn: failed: " + message + "\n");
  const auto text = told(cairn::event{.what = kind::published, .step = ~0ULL, .bytes = ~0ULL, .seconds = 1e9});
  CHECK_THAT(text, ContainsSubstring("step 18446744073709551615 saved, ") && ContainsSubstring(" ms\n"));
}

TEST_CASE("on a terminal: one bar, redrawn in place, and a line in its place at the end") {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) SKIP("there are no terminals here");
  {
    const file terminal(std::fopen(::ptsname(master), "w"));
    REQUIRE(terminal);
    const cairn::observers::progress_line line(terminal.get());
    line({.what = kind::started, .step = 12});
    line({.what = kind::progress, .step = 12, .bytes = 0, .total = 4});
    line(halfway);
    line({.what = kind::skipped, .step = 12, .message = "one is being saved"});
    line({.what = kind::progress, .step = 12, .bytes = 4, .total = 4});
    line({.what = kind::written, .step = 12, .bytes = 4});
    line({.what = kind::progress, .step = 13, .bytes = 0, .total = 0});
    line(published);
  }
  std::string text;
  char bytes[256];
  for (ssize_t got = 0; (got = ::read(master, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(got));
  ::close(master);
  const std::string again = "\r\033[Kcairn: step 12 [";
  CHECK(text == again + std::string(30, ' ') + "]   0 %" +                             //
                    again + std::string(15, '=') + std::string(15, ' ') + "]  50 %" +  //
                    again + std::string(30, '=') + "] 100 %" +                         //
                    "\r\033[Kcairn: step 13 [" + std::string(30, '=') + "] 100 %" +    //
                    "\r\033[Kcairn: step 12 saved, 3.0 MiB in 250 ms\r\n");
}

TEST_CASE_METHOD(in_scratch, "a checkpointer tells it what happens") {
  const file out(std::fopen(scratch.path("log").c_str(), "w"));
  REQUIRE(out);
  int state = 1;
  cairn::checkpointer checkpoints(scratch.path("run"),
                                  {.keep_last = 1, .on_event = cairn::observers::progress_line{out.get()}});
  checkpoints.save(state, {.step = 1});
  checkpoints.save(state, {.step = 2});
  checkpoints.restore(state);
  const auto text = sample::slurp(scratch.path("log"));
  const auto first = text.find("cairn: step 1 saved"), second = text.find("cairn: step 2 saved"),
             pruned = text.find("cairn: pruned: step-000000001 is not one of the last 1"),
             restored = text.find("cairn: step 2 restored");
  CHECK(first == 0);
  CHECK(first < second);
  CHECK(second < pruned);
  CHECK(pruned < restored);
  CHECK(restored != std::string::npos);
}

TEST_CASE("JSON lines: what any event says reads back, whatever its bytes") {
  std::mt19937_64 random(1);
  const auto text = [&] {
    static const std::string pieces[]{
        "a", "\"", "\\", "\n", std::string(1, '\0'), "\x7f", "\xc3\xa9", "\xf0\x9f\x98\x80"};
    std::string made;
    for (auto size = random() % 20; size > 0; --size) made += pieces[random() % std::size(pieces)];
    return made;
  };
  const auto number = [&] { return random() % 3 == 0 ? 0 : random() >> (random() % 64); };
  const file out(std::tmpfile());
  REQUIRE(out);
  const cairn::observers::json_lines line(out.get());
  std::vector<cairn::event> events;
  for (int i = 0; i < 300; ++i) {
    auto what = static_cast<kind>(random() % 14);
    if (what == kind::progress) what = kind::failed;
    events.push_back({what, text(), number(), number(), number(), static_cast<double>(number() % 1000) / 8, text()});
    if (i % 3 == 0) events.back().code = cairn::errc::busy;
    line(events.back());
  }
  const auto objects = read_lines(contents(out.get()));
  REQUIRE(objects.size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& e = events[i];
    auto members = objects[i];
    CHECK(members.erase("time") == 1);
    std::map<std::string, std::string> expected{{"event", std::string(name(e.what))}, {"step", std::to_string(e.step)}};
    if (!e.checkpoint.empty()) expected["checkpoint"] = e.checkpoint;
    if (!e.message.empty()) expected["message"] = e.message;
    if (e.code) expected["code"] = cairn::name(*e.code);
    if (e.bytes != 0) expected["bytes"] = std::to_string(e.bytes);
    if (e.total != 0) expected["total"] = std::to_string(e.total);
    if (e.seconds != 0) expected["seconds"] = std::to_string(e.seconds);
    CHECK(members == expected);
  }
}

TEST_CASE("JSON lines: bytes that are not UTF-8 are replaced, one by one") {
  const file out(std::tmpfile());
  REQUIRE(out);
  const cairn::observers::json_lines line(out.get());
  line({.what = kind::failed, .checkpoint = "\xff", .message = "a\xc3(\xed\xa0\x80\xe2\x82"});
  auto members = read_lines(contents(out.get())).at(0);
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(members["checkpoint"] == mark);
  CHECK(members["message"] == "a" + mark + "(" + mark + mark + mark + mark + mark);
}

TEST_CASE("JSON lines: the time is that of the clock, to the millisecond") {
  const auto milliseconds = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const file out(std::tmpfile());
  REQUIRE(out);
  const auto before = milliseconds();
  cairn::observers::json_lines{out.get()}(published);
  const auto after = milliseconds();
  const auto text = contents(out.get());
  const auto at = text.find("\"time\":") + 7;
  const auto time = text.substr(at, text.find(',', at) - at);
  REQUIRE(time.find('.') == time.size() - 4);
  const auto told_at = std::stoll(time.substr(0, time.size() - 4) + time.substr(time.size() - 3));
  CHECK(told_at >= before);
  CHECK(told_at <= after);
}

TEST_CASE_METHOD(in_scratch, "JSON lines: progress only when asked for") {
  cairn::observers::json_lines{scratch.path("without")}(halfway);
  cairn::observers::json_lines{scratch.path("with"), {.progress = true}}(halfway);
  CHECK(sample::slurp(scratch.path("without")).empty());
  CHECK(read_lines(sample::slurp(scratch.path("with"))).at(0)["event"] == "progress");
}

TEST_CASE_METHOD(in_scratch, "JSON lines: a file is added to, by copies and threads, in whole lines") {
  const auto path = scratch.path("events.jsonl");
  sample::spill(path, "{}\n");
  {
    const cairn::observers::json_lines line(path);
    const cairn::observer copy = line;
    std::filesystem::rename(path, scratch.path("moved"));  // opened once
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i)
          (t % 2 == 0 ? cairn::observer(line) : copy)({.what = kind::failed, .message = std::string(9000, 'x')});
      });
    for (auto& each : threads) each.join();
  }
  const auto objects = read_lines(sample::slurp(scratch.path("moved")));
  CHECK(objects.size() == 201);
  for (std::size_t i = 1; i < objects.size(); ++i) CHECK(objects[i].at("message").size() == 9000);
}

TEST_CASE_METHOD(in_scratch, "JSON lines: a file that cannot be opened is an error that names it") {
  const auto path = scratch.path("none/events.jsonl");
  const auto failure = sample::failure_of([&] { cairn::observers::json_lines{path}; });
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.says(path));
}

TEST_CASE_METHOD(in_scratch, "JSON lines: a file gets a line of up to 64 KiB by one call") {
  const auto calls = [] {  // of this process that write
    const auto text = sample::slurp("/proc/self/io");
    return std::stoull(text.substr(text.find("syscw:") + 6));
  };
  const cairn::observers::json_lines line(scratch.path("events.jsonl"));
  for (const std::size_t size : {1U, 5000U, 60'000U}) {
    const std::string message(size, 'x');
    const auto before = calls();
    line({.what = kind::failed, .message = message});
    CHECK(calls() == before + 1);
  }
}

TEST_CASE("JSON lines: a stream's own text keeps its place, and each line is flushed; also over memory") {
  const file out(std::tmpfile());
  REQUIRE(out);
  std::fputs("x", out.get());
  cairn::observers::json_lines{out.get()}(published);
  struct stat about{};
  REQUIRE(::fstat(::fileno(out.get()), &about) == 0);
  CHECK(about.st_size == std::ftell(out.get()));
  std::fputs("y", out.get());
  const auto text = contents(out.get());
  CHECK(text.front() == 'x');
  CHECK(text.ends_with("}\ny"));

  std::vector<char> memory(1000);
  const file stream(::fmemopen(memory.data(), memory.size(), "w"));
  REQUIRE(stream);
  cairn::observers::json_lines{stream.get()}(published);
  CHECK(read_lines(memory.data()).at(0)["event"] == "published");
}

TEST_CASE_METHOD(in_scratch, "JSON lines: a line cut short by a full disk does not take the next one with it") {
  const auto path = scratch.path("events.jsonl");
  const auto failure = tests::in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY}, few{60, RLIM_INFINITY};
    const cairn::observers::json_lines line(path);
    ::setrlimit(RLIMIT_FSIZE, &few);
    line(published);
    line(published);
    ::setrlimit(RLIMIT_FSIZE, &all);
    line(published);
  });
  CHECK(failure.sentence.empty());
  const auto text = sample::slurp(path);
  REQUIRE(text.size() > 61);
  CHECK(text[60] == '\n');
  CHECK(read_lines(text.substr(61)).at(0)["event"] == "published");
}

TEST_CASE("several observers are told in order, also when one throws") {
  std::string heard;
  const auto says = [&](const std::string& who) {
    return [&, who](const cairn::event& e) { heard += who + e.message; };
  };
  const auto throws = [](const cairn::event&) { throw std::runtime_error("no"); };
  const cairn::observer both = cairn::observers::all{says("a"), throws, {}, says("b")};
  both({.message = "1"});
  both({.message = "2"});
  CHECK(heard == "a1b1a2b2");
  heard.clear();
  cairn::observers::all{both, cairn::observers::all{says("c")}}({.message = "3"});
  CHECK(heard == "a3b3c3");
  CHECK_NOTHROW(cairn::observers::all{}(published));
}

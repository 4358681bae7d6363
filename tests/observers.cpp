#include "cairn/observers.hpp"

#include <fcntl.h>

#include <memory>
#include <string>

#include "cairn/checkpointer.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

using kind = cairn::event::kind;
using Catch::Matchers::ContainsSubstring;

struct closes {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, closes>;

/// What the observer says of events to a file.
template <class... Events>
std::string told(const Events&... events) {
  const file out(std::tmpfile());
  REQUIRE(out);
  const cairn::observers::progress_line line(out.get());
  (line(events), ...);
  std::string text(static_cast<std::size_t>(std::ftell(out.get())), '\0');
  std::rewind(out.get());
  REQUIRE(std::fread(text.data(), 1, text.size(), out.get()) == text.size());
  return text;
}

const cairn::event halfway{.what = kind::progress, .step = 12, .bytes = 1, .total = 2};
const cairn::event published{.what = kind::published, .step = 12, .bytes = 3 << 20, .seconds = 0.25};

}  // namespace

TEST_CASE("to a file: one line per event, none for the start nor for progress") {
  CHECK(told(cairn::event{.what = kind::started, .step = 12}, halfway, published) ==
        "cairn: step 12 saved, 3.0 MiB in 250 ms\n");
  CHECK(told(cairn::event{.what = kind::restored, .step = 7, .bytes = 1 << 19, .seconds = 0.002}) ==
        "cairn: step 7 restored, 0.5 MiB in 2 ms\n");
  CHECK(told(cairn::event{.what = kind::failed, .checkpoint = "run/step-1", .message = "cannot write"}) ==
        "cairn: failed: cannot write\n");
  CHECK(told(cairn::event{.what = kind::fell_back, .checkpoint = "step-1", .message = "damaged"}) ==
        "cairn: fell back: damaged\n");
  CHECK(told(cairn::event{.what = kind::pruned, .checkpoint = "step-1"}) == "cairn: pruned: step-1\n");
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
    line({.what = kind::progress, .step = 12, .bytes = 4, .total = 4});
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

TEST_CASE("a checkpointer tells it what happens") {
  const sample::scratch scratch;
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

// SPDX-License-Identifier: MIT
// What a user reads after the usual mistakes: what is wrong, where, and what to do.
#include "cairn/checkpointer.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "catch.hpp"
#include "child.hpp"
#include "gate.hpp"
#include "trainer.hpp"
#include "in_scratch.hpp"

using cairn::checkpointer;
using cairn::errc;
using cairn::detail::checkpoint_name;
using tests::in_scratch;
namespace fs = std::filesystem;

namespace {

/// Checks code and parts of a message, and that it names the library once, at its beginning.
void check_says(const sample::failure& failure, errc code, const std::vector<std::string>& parts) {
  INFO(failure.sentence);
  CHECK(failure.code == code);
  CHECK(failure.sentence.rfind("cairn: ") == 0);
  for (const auto& part : parts) CHECK(failure.says(part));
}

/// What `act` throws in a process that does not run as root.
template <class Act>
sample::failure failure_as_nobody(const Act& act) {
  return tests::in_child([&] {
    if (::seteuid(65534) != 0) ::_exit(2);
    act();
  });
}

}  // namespace

TEST_CASE("a place of another owner: whose it is, for a restore and for a save") {
  if (::geteuid() != 0) SKIP("not root");
  const sample::scratch scratch;
  fs::permissions(scratch.path(), fs::perms::all);
  const auto root = scratch.path("runs");
  checkpointer(root).save(tests::trained(1), {.step = 1});
  const std::string whose = root + " belongs to user 0, and this process runs as user 65534";
  for (const auto rights : {fs::perms::none, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec}) {
    fs::permissions(root, rights);
    if (rights == fs::perms::none)
      check_says(failure_as_nobody([&] {
                   tests::trainer state;
                   checkpointer(root).restore(state);
                 }),
                 errc::io, {whose, "Permission denied"});
    check_says(failure_as_nobody([&] { checkpointer(root).save(tests::trained(2), {.step = 2}); }), errc::io,
               {whose, "Permission denied"});
  }
}

TEST_CASE_METHOD(in_scratch, "a mistyped root: which directory is not there") {
  cairn::save(scratch.path("runs/lenet/" + checkpoint_name(1)), tests::trained(1), {.step = 1});
  tests::trainer state;
  for (const auto& [typed, missing] : std::vector<std::pair<std::string, std::string>>{
           {"runs/lenet5", "runs/lenet5"}, {"rnus/lenet", "rnus"}, {"runs/lenet/more/and/more", "runs/lenet/more"}}) {
    const auto root = scratch.path(typed);
    const std::string where = "there is no checkpoint in " + root + "; " + scratch.path(missing) + " is not there";
    std::vector<cairn::event> events;
    checkpointer run(root, {.on_event = [&](const cairn::event& what) { events.push_back(what); }});
    CHECK_FALSE(run.restore(state));
    REQUIRE(events.size() == 1);
    CHECK(events[0].what == cairn::event::kind::nothing_restored);
    CHECK(events[0].checkpoint == root);
    CHECK(events[0].message == where);
    check_says(sample::failure_of([&] { run.restore(state, {.step = 1}); }), errc::not_found,
               {"there is no checkpoint of step 1 in " + root + "; " + scratch.path(missing) + " is not there"});
    check_says(sample::failure_of([&] { cairn::load(root, state); }), errc::not_found, {where});
  }
  fs::create_directory(scratch.path("empty"));
  check_says(sample::failure_of([&] { cairn::load(scratch.path("empty"), state); }), errc::not_found,
             {"there is no checkpoint in " + scratch.path("empty")});
}

TEST_CASE_METHOD(in_scratch, "too many open files: the limit, and that it can be raised") {
  cairn::save(scratch.path("many"), std::vector<float>(1'000), {.shards = 2});
  check_says(tests::in_child([&] {
               // The sanitizer opens a pipe when it first sees an object of a type with virtual functions.
               static_cast<void>(sample::failure_of([] { cairn::fail_io("open", "a file", EMFILE); }));
               std::vector<float> seen, back;
               cairn::load(scratch.path("many"), seen);
               const rlimit few{3, 3};
               ::setrlimit(RLIMIT_NOFILE, &few);
               cairn::load(scratch.path("many"), back);
             }),
             errc::io, {"Too many open files", "this process may have 3 files open", "raise the limit (ulimit -n)"});
}

TEST_CASE_METHOD(in_scratch, "a layer of another size: both shapes, and how to load it") {
  struct matrix_of {
    tests::matrix weight;
  };
  const matrix_of wide{{{2, 3}, std::vector<float>(6)}};
  cairn::save(scratch.path("c"), wide);
  struct fixed {
    float weight[3][3];
  } narrow{};
  const auto failure = sample::failure_of([&] { cairn::load(scratch.path("c"), narrow); });
  check_says(failure, errc::mismatch, {"weight has shape [2, 3] in the checkpoint and [3, 3] in the state", "reshap"});
  CHECK_FALSE(failure.says("strict = false"));
}

TEST_CASE("messages of events do not name the library, which the observers' lines begin with") {
  struct forgetful {  // throws in all hooks but one
    static cairn::decision should_save(const cairn::moment& /*now*/) { return true; }
    static cairn::policy_memory remember() { throw std::runtime_error("gone"); }
    static void recall(const cairn::policy_memory& /*kept*/) {}
  };
  tests::gated_store store;
  bool is_full = false;
  store.refuses = [&](std::string_view) { return is_full; };
  store.keeps = [](std::string_view name) { return name == checkpoint_name(1); };
  std::map<cairn::event::kind, std::vector<std::string>> messages;
  checkpointer run(store, {.keep_last = 1,
                           .when = forgetful{},
                           .on_event = [&](const cairn::event& what) { messages[what.what].push_back(what.message); },
                           .asynchronous = false});
  run.save(tests::trained(1), {.step = 1});
  run.save(tests::trained(2), {.step = 2});  // step 1 cannot be removed
  is_full = true;
  CHECK_THROWS_AS(run.save(tests::trained(3), {.step = 3}), cairn::error);
  sample::put(store.inner, checkpoint_name(4), {{"index.json", "damaged"}});
  tests::trainer state;
  CHECK(run.restore(state)->step == 2);
  CHECK(messages[cairn::event::kind::failed].size() == 5);  // remember three times
  CHECK(messages[cairn::event::kind::fell_back].size() == 1);
  for (const auto& [kind, all] : messages)
    for (const auto& message : all) CHECK(message.find("cairn:") == std::string::npos);
}

// SPDX-License-Identifier: MIT
#include "cairn/exporter.hpp"

#include "cairn/checkpointer.hpp"
#include "cairn/schedule/policies.hpp"
#include "catch.hpp"
#include "gate.hpp"
#include "in_scratch.hpp"

using cairn::errc;
using tests::in_scratch;

namespace {

struct trainer {
  std::vector<float> weights = std::vector<float>(3000, 0.5F);
  std::uint64_t step = 0;
};

/// A codec of a user: keeps the upper 16 bits of each float.
struct upper_halves {
  [[nodiscard]] std::string name() const { return "upper_halves"; }
  [[nodiscard]] bool uses_parent() const { return false; }
  [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes / 2; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    if (in.type != cairn::dtype::f32) return {};
    for (std::size_t i = 0; i < in.values.size() / 4; ++i) std::memcpy(&out[2 * i], &in.values[4 * i + 2], 2);
    return {.codec = name(), .bytes = in.values.size() / 2, .lost = cairn::loss{1, 1}};
  }
  void decode(const cairn::decode_request& from) const {
    for (std::size_t i = 0; i < from.payload.size() / 2; ++i) {
      std::memset(&from.values[4 * i], 0, 2);
      std::memcpy(&from.values[4 * i + 2], &from.payload[2 * i], 2);
    }
  }
};

/// Trains three steps, saves each, and returns the events of the kinds `exported` and `failed`.
std::vector<cairn::event> train(const std::string& place, cairn::observers::exporter_options how,
                                const cairn::codec_rules& codecs = {}) {
  std::vector<cairn::event> seen;
  {
    cairn::checkpointer_options options;
    options.when = cairn::policies::every_steps{1};
    options.on_busy = cairn::when_busy::wait;
    options.durable = false;
    options.codecs = codecs;
    options.on_event = cairn::observers::exporter(std::move(how), [&](const cairn::event& what) {
      if (what.what == cairn::event::kind::exported || what.what == cairn::event::kind::failed) seen.push_back(what);
    });
    cairn::checkpointer checkpoints(place, options);
    auto state = trainer();
    for (state.step = 1; state.step < 4; ++state.step) std::ignore = checkpoints.step(state, {.step = state.step});
    checkpoints.wait();
  }  // waits for the exports
  return seen;
}

std::uint64_t step_in(const std::string& file) { return cairn::open(file).read<std::uint64_t>("step").at(0); }

}  // namespace

TEST_CASE_METHOD(in_scratch, "an exporter keeps the newest checkpoint for other programs, or every n-th") {
  const auto newest = train(scratch.path("a"), {.directory = scratch.path("newest")});
  REQUIRE_FALSE(newest.empty());  // one, or more where it was quick enough
  for (const auto& each : newest) {
    CHECK(each.what == cairn::event::kind::exported);
    CHECK(each.message == scratch.path("newest"));
    CHECK(each.bytes > 12'000);
  }
  CHECK(newest.back().step == 3);
  CHECK(step_in(scratch.path("newest/model.safetensors")) == 3);
  CHECK(sample::names_in(scratch.path("newest")) == std::vector<std::string>{"model.safetensors"});

  CHECK(train(scratch.path("b"), {.directory = scratch.path("second"), .every_steps = 2}).size() == 1);
  CHECK(sample::names_in(scratch.path("second")) == std::vector<std::string>{"step-000000002"});
  CHECK(step_in(scratch.path("second/step-000000002/model.safetensors")) == 2);
}

TEST_CASE_METHOD(in_scratch, "no save and no step waits for an export") {
  tests::gate exports;
  exports.close();
  std::vector<std::string> seen;
  {
    cairn::checkpointer_options options;
    options.when = cairn::policies::every_steps{1};
    options.on_busy = cairn::when_busy::wait;
    options.durable = false;
    options.on_event = cairn::observers::exporter(
        {.directory = scratch.path("out"),
         .how = {.filter = [&](std::string_view) { return exports.pass(), true; }, .durable = false}},
        [&](const cairn::event& what) {
          if (what.what == cairn::event::kind::published || what.what == cairn::event::kind::exported)
            seen.push_back(std::string(name(what.what)) + " " + std::to_string(what.step));
        });
    cairn::checkpointer checkpoints(scratch.path("a"), options);
    const auto state = trainer();
    for (std::uint64_t step = 1; step < 6; ++step) std::ignore = checkpoints.step(state, {.step = step});
    checkpoints.wait();
    exports.open();
  }
  REQUIRE(seen.size() >= 6);
  for (std::uint64_t step = 1; step < 6; ++step) CHECK(seen[step - 1] == "published " + std::to_string(step));
  CHECK(seen.back() == "exported 5");
  CHECK(seen.size() <= 7);  // what has begun, and the newest
}

TEST_CASE_METHOD(in_scratch, "an exporter reads a user's own codec, where it is given") {
  const cairn::codec_rules own{{"*", upper_halves{}}};
  const auto without = train(scratch.path("a"), {.directory = scratch.path("out")}, own);
  CHECK(without.back().what == cairn::event::kind::failed);
  const auto with = train(scratch.path("b"), {.directory = scratch.path("out"), .codecs = own}, own);
  CHECK(with.back().what == cairn::event::kind::exported);
  CHECK(step_in(scratch.path("out/model.safetensors")) == 3);
}

TEST_CASE_METHOD(in_scratch, "an export that fails is reported, and saving goes on") {
  std::ofstream(scratch.path("file")) << "x";
  const auto failures = train(scratch.path("a"), {.directory = scratch.path("file/below"), .every_steps = 1});
  REQUIRE(failures.size() == 3);
  CHECK(failures[0].what == cairn::event::kind::failed);
  CHECK(failures[0].message.find(scratch.path("file")) != std::string::npos);
  CHECK(cairn::open(scratch.path("a")).step() == 3);
}

TEST_CASE("an exporter without a directory, and one of every 0 steps, are refused") {
  using cairn::observers::exporter;
  CHECK(sample::failure_of([] { exporter({}); }).code == errc::invalid);
  CHECK(sample::failure_of([] { exporter({.directory = "a", .every_steps = 0}); }).code == errc::invalid);
}

TEST_CASE_METHOD(in_scratch, "an exporter does not export into a checkpoint of its run") {
  const auto failed = train(scratch.path("run"), {.directory = scratch.path("run"), .every_steps = 2});
  CHECK(failed.back().what == cairn::event::kind::failed);
  for (const auto& each : sample::names_in(scratch.path("run")))
    CHECK_FALSE(std::filesystem::exists(scratch.path("run/" + each + "/model.safetensors")));
}

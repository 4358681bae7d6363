// SPDX-License-Identifier: MIT
#include "cairn/inspect.hpp"

#include <sys/stat.h>

#include "cairn/load.hpp"
#include "cairn/store/directory.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "gate.hpp"
#include "save_as.hpp"
#include "trainer.hpp"
#include "in_scratch.hpp"

using cairn::errc;
using tests::in_scratch;

TEST_CASE_METHOD(in_scratch, "a checkpoint is looked into without its state") {
  const auto state = tests::trained(7, 5000);
  cairn::save(scratch.path("run/step-000000007"), state,
              {.step = 7, .metrics = {{"loss", 0.5}}, .shards = 3, .codecs = {{"*", cairn::codecs::lossless{}}}});
  for (const char* path : {"run/step-000000007", "run", "run/step-000000007/"}) {
    const auto opened = cairn::open(scratch.path(path));
    CHECK(opened.step() == 7);
    CHECK(opened.metrics().at("loss") == 0.5);
    CHECK(opened.path().find("step-000000007") != std::string::npos);
    const auto& weight = opened.tensor("model.weight");
    CHECK(weight.type == cairn::dtype::f32);
    CHECK(weight.shape == cairn::extents{5000});
    CHECK(weight.bytes == 20'000);
    CHECK(weight.codec == "lossless");
    CHECK(weight.stored_bytes < weight.bytes);
    CHECK_FALSE(weight.is_delta);
    CHECK_FALSE(weight.lost);
    CHECK(opened.tensor("model.bias").codec.empty());
    CHECK(opened.contains("momentum"));
    CHECK_FALSE(opened.contains("moment"));
    CHECK(opened.read<float>("model.weight") == state.model.weight);
    CHECK(opened.read<double>("momentum") == state.momentum);
    CHECK_NOTHROW(opened.verify());
    tests::trainer back;
    CHECK(cairn::load(opened, back).step == 7);
    CHECK(back == state);
  }
}

TEST_CASE_METHOD(in_scratch, "what a temporary is asked for outlives it") {
  const auto path = scratch.path("c");
  cairn::save(path, tests::trained(7, 5000), {.step = 7, .metrics = {{"loss", 0.5}}, .metadata = {{"host", "a"}}});
  std::size_t count = 0;
  for (const auto& each : cairn::open(path).tensors()) count += !each.name.empty();
  CHECK(count == cairn::open(path).tensors().size());
  const auto& metrics = cairn::open(path).metrics();
  CHECK(metrics.at("loss") == 0.5);
  const auto& metadata = cairn::open(path).metadata();
  CHECK(metadata.at("host") == "a");
  const auto& name = cairn::open(path).path();
  CHECK(name == path);
}

TEST_CASE("a store is listed again when its newest checkpoint goes while it is opened") {
  using cairn::detail::checkpoint_name;
  tests::gated_store gated;
  std::uint64_t newest = 1;
  const auto save = [&] {
    cairn::save(gated.inner, checkpoint_name(newest), tests::trained(newest), {.step = newest});
  };
  save();
  // Another process saves, and removes the older one.
  gated.opened = [&](std::string_view, std::string_view) {
    if (newest == 4) return;
    gated.inner.remove(checkpoint_name(newest));
    ++newest;
    save();
    cairn::fail(errc::not_found, {"it has gone"});
  };
  CHECK(cairn::open(cairn::any_store(gated)).step() == 4);
  CHECK(sample::failure_of([] { static_cast<void>(cairn::open(cairn::stores::memory())); }).code == errc::not_found);

  gated.opened = [](std::string_view, std::string_view) { cairn::fail(errc::not_found, {"it is not there"}); };
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::open(cairn::any_store(gated))); }).says("it is not there"));
}

TEST_CASE(
    "an open checkpoint stays readable when it is published again or removed, and a shorter file is found at once") {
  const sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path());
  const auto save = [&](float with) { cairn::save(store, "a", std::vector<float>(1000, with), {.shards = 3}); };
  save(1);
  const auto first = cairn::open(store, "a");
  save(2);
  const auto second = cairn::open(store, "a");
  store.remove("a");
  CHECK(first.read<float>("value") == std::vector<float>(1000, 1));
  CHECK(second.read<float>("value") == std::vector<float>(1000, 2));
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::open(store, "a")); }).code == errc::not_found);
  save(3);
  std::filesystem::resize_file(scratch.path("a/" + cairn::detail::shard_file(1, 3)), 100);
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::open(store, "a")); }).code == errc::corrupt);
}

TEST_CASE("a tensor that is not there, of another dtype or of another size is an error that names it") {
  const cairn::stores::memory store;
  cairn::save(store, "a", tests::trained(1));
  const auto opened = cairn::open(store, "a");
  std::vector<std::byte> few(3);
  const auto missing = sample::failure_of([&] { opened.read("model.wait", few); });
  CHECK(missing.code == errc::not_found);
  CHECK(missing.says("memory/a: there is no tensor \"model.wait\""));
  CHECK(sample::failure_of([&] { static_cast<void>(opened.tensor("")); }).code == errc::not_found);
  CHECK(sample::failure_of([&] { static_cast<void>(opened.read<float>("x")); }).code == errc::not_found);
  const auto size = sample::failure_of([&] { opened.read("model.bias", few); });
  CHECK(size.code == errc::mismatch);
  CHECK(size.says("\"model.bias\" has 20 bytes, the memory for it has 3"));
  const auto type = sample::failure_of([&] { static_cast<void>(opened.read<double>("model.bias")); });
  CHECK(type.code == errc::mismatch);
  CHECK(type.says("\"model.bias\" is F32, not F64"));
}

TEST_CASE("a changed byte of a shard: verify and reads of that tensor throw, and name the file and the tensor") {
  const sample::scratch scratch;
  const auto path = scratch.path("once"), shard = path + "/" + cairn::detail::shard_file(0, 1);
  const auto state = tests::trained(7, 300'000);  // 2.4 MB, so that the tensors share no block of checksums
  cairn::save(path, state, {.durable = false, .codecs = {{"*", cairn::codecs::raw{}}}});
  const auto good = sample::slurp(shard);
  const std::string_view momentum(reinterpret_cast<const char*>(state.momentum.data()), 800);
  auto bad = good;
  bad.at(good.find(momentum) + 1'200'000) ^= 1;
  sample::spill(shard, bad);
  const auto opened = cairn::open(path);
  std::vector<std::byte> bytes(opened.tensor("momentum").bytes);
  const auto verified = sample::failure_of([&] { opened.verify(); });
  const auto as_bytes = sample::failure_of([&] { opened.read("momentum", bytes); });
  const auto as_values = sample::failure_of([&] { static_cast<void>(opened.read<double>("momentum")); });
  for (const auto& failure : {verified, as_bytes, as_values}) {
    CHECK(failure.code == errc::corrupt);
    CHECK(failure.says(shard));
    CHECK(failure.says("\"momentum\""));
  }
  CHECK(opened.read<float>("model.bias") == state.model.bias);
}

TEST_CASE_METHOD(in_scratch, "nothing there, or nothing that is a checkpoint, is an error") {
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::open(scratch.path("nowhere"))); }).code == errc::not_found);
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::open(scratch.path())); }).code == errc::not_found);
  CHECK(sample::failure_of([] { static_cast<void>(cairn::open(cairn::stores::memory(), "a")); }).code ==
        errc::not_found);
  sample::spill(scratch.path("text.safetensors"), "no header");
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::open(scratch.path("text.safetensors"))); }).code ==
        errc::corrupt);
}

TEST_CASE_METHOD(in_scratch, "what is neither a file nor a directory is said to be no file, and is not waited for") {
  REQUIRE(::mkfifo(scratch.path("fifo").c_str(), 0600) == 0);
  int none = 0;
  for (const auto& path : {scratch.path("fifo"), std::string("/dev/null")})
    for (const auto& failure : {sample::failure_of([&] { static_cast<void>(cairn::open(path)); }),
                                sample::failure_of([&] { cairn::load(path, none); })}) {
      CHECK(failure.code == errc::corrupt);
      CHECK(failure.says(path + " is not a regular file"));
    }
}

TEST_CASE("deltas and losses are seen, and values are those that a load gives") {
  std::mt19937 random(8);
  auto state = chain::start(random);
  cairn::any_store store = cairn::stores::memory();
  cairn::detail::delta_base base;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    chain::train(state, random);
    tests::save_as(store, cairn::detail::checkpoint_name(step), state, {.step = step, .codecs = chain::mixed_rules()},
                   &base);
  }
  const auto first = cairn::open(store, cairn::detail::checkpoint_name(1)),
             third = cairn::open(store, cairn::detail::checkpoint_name(3));
  CHECK_FALSE(first.tensor("net.weight").is_delta);
  CHECK(third.tensor("net.weight").is_delta);
  CHECK(third.tensor("net.weight").codec == "lc3");
  REQUIRE(third.tensor("net.weight").lost);
  CHECK(third.tensor("net.weight").lost->relative_l2 > 0);
  CHECK_FALSE(third.tensor("adam.m").lost);
  const auto listed = cairn::list_checkpoints(store);
  REQUIRE(listed.size() == 3);
  CHECK(listed[0].parent.empty());
  CHECK(listed[2].parent == cairn::detail::checkpoint_name(2));
  const auto all = chain::restored(store, cairn::detail::checkpoint_name(3));
  REQUIRE(third.tensors().size() == all.size());
  for (const auto& tensor : third.tensors()) {
    std::vector<std::byte> values(tensor.bytes);
    third.read(tensor.name, values);
    CHECK(values == all.at(tensor.name));
  }
}

TEST_CASE_METHOD(in_scratch, "a single file of any origin is looked into too") {
  const std::string header = R"({"w":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})";
  std::ofstream out(scratch.path("foreign.safetensors"), std::ios::binary);
  const std::uint64_t size = header.size();
  const std::int32_t values[] = {-1, 7};
  out.write(reinterpret_cast<const char*>(&size), 8) << header;
  out.write(reinterpret_cast<const char*>(values), 8);
  out.close();
  const auto opened = cairn::open(scratch.path("foreign.safetensors"));
  CHECK(opened.step() == 0);
  CHECK(opened.read<std::int32_t>("w") == std::vector<std::int32_t>{-1, 7});
  CHECK(opened.tensor("w").stored_bytes == 8);
}

TEST_CASE_METHOD(in_scratch, "the checkpoints of a place are listed by their indexes, damaged ones too") {
  const auto place = scratch.path("run");
  cairn::save(place + "/step-000000002", tests::trained(1, 1000), {.step = 2, .metrics = {{"loss", 0.5}}});
  cairn::save(place + "/step-000000010", tests::trained(2, 1000), {.step = 10});
  cairn::save(place + "/best", tests::trained(2, 1000), {.step = 9});
  auto all = cairn::list_checkpoints(place);
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "best");
  CHECK(all[0].step == 9);
  CHECK(all[1].name == "step-000000002");
  CHECK(all[1].metrics.at("loss") == 0.5);
  CHECK(all[1].parent.empty());
  CHECK(all[1].problem.empty());
  std::uint64_t bytes = 0;
  for (const auto& name : sample::names_in(place + "/step-000000002"))
    bytes += std::filesystem::file_size(place + "/step-000000002/" + name);
  CHECK(all[1].bytes == bytes);
  sample::spill(place + "/step-000000010/index.json", "{}");
  all = cairn::list_checkpoints(place);
  CHECK(all[2].step == 10);
  CHECK(all[2].problem.find("index.json") != std::string::npos);
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::list_checkpoints(scratch.path("none"))); }).code ==
        errc::not_found);
  sample::spill(scratch.path("file"), "");
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::list_checkpoints(scratch.path("file"))); }).code ==
        errc::not_found);
  std::filesystem::create_directory(scratch.path("empty"));
  CHECK(cairn::list_checkpoints(scratch.path("empty")).empty());
}

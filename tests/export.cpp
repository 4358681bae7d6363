// SPDX-License-Identifier: MIT
#include "cairn/export.hpp"

#include "cairn/checkpointer.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/shard.hpp"
#include "catch.hpp"
#include "in_scratch.hpp"

using cairn::errc;
using tests::in_scratch;

namespace {

struct layer {
  std::vector<float> weight;
  std::vector<double> bias;
  std::optional<std::uint8_t> flag;
};
struct trainer {
  std::map<std::string, layer> model;
  std::vector<std::int16_t> counts;
  std::uint64_t step = 0;
};

trainer filled(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> value;
  trainer made;
  for (const char* name : {"fc1", "fc2", "out"}) {
    auto& each = made.model[name];
    for (int i = 0; i < 1000; ++i) each.weight.push_back(value(random));
    for (int i = 0; i < 7; ++i) each.bias.push_back(value(random));
    each.flag = static_cast<std::uint8_t>(random());
  }
  made.counts = {1, 2, 3};
  made.step = seed;
  return made;
}

bool operator==(const layer& a, const layer& b) { return a.weight == b.weight && a.bias == b.bias && a.flag == b.flag; }

cairn::detail::safetensors_header header_of(const std::string& file) {
  return cairn::detail::read_safetensors_header(*cairn::stores::detail::open_file(file), file);
}

/// Changes a byte of the arrays.
void damage(const std::string& file) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(4096);
  const auto value = bytes.get();
  bytes.seekp(4096);
  bytes.put(static_cast<char>(value ^ 1));
}

/// All arrays of the checkpoint are in one of the files, the same bits.
void check_same(const cairn::checkpoint& from, const std::vector<std::string>& files) {
  std::size_t found = 0;
  for (const auto& file : files) {
    if (!file.ends_with(".safetensors")) continue;
    const auto exported = cairn::open(file);
    for (const auto& each : exported.tensors()) {
      const auto original = from.tensor(each.name);
      CHECK(each.codec.empty());
      CHECK(each.type == original.type);
      CHECK(each.shape == original.shape);
      std::vector<std::byte> a(each.bytes), b(original.bytes);
      exported.read(each.name, a);
      from.read(each.name, b);
      CHECK(a == b);
      ++found;
    }
    for (const auto& each : header_of(file).tensors) CHECK(each.begin % cairn::size_of(each.type) == 0);
  }
  CHECK(found == from.tensors().size());
}

/// A checkpoint to export.
struct with_source : in_scratch {
  const cairn::checkpoint from = [&] {
    cairn::save(scratch.path("a"), filled(1));
    return cairn::open(scratch.path("a"));
  }();
};

}  // namespace

TEST_CASE_METHOD(in_scratch, "an exported file has all arrays, decoded, and a state loads it") {
  const auto saved = filled(3);
  cairn::save(scratch.path("a"), saved);
  const auto file = scratch.path("new/model.safetensors");
  const auto report = cairn::export_safetensors(cairn::open(scratch.path("a")), file);
  CHECK(report.files == std::vector<std::string>{file});
  CHECK(report.tensors == 11);
  CHECK(sample::names_in(scratch.path("new")) == std::vector<std::string>{"model.safetensors"});
  check_same(cairn::open(scratch.path("a")), report.files);
  CHECK(header_of(file).metadata.at("format") == "pt");
  trainer loaded = filled(4);
  cairn::load(file, loaded);
  CHECK(loaded.model == saved.model);
  CHECK(loaded.step == 3);
  CHECK(report.bytes == header_of(file).data_bytes);
}

TEST_CASE_METHOD(in_scratch, "deltas of lossy codecs are exported as they are restored") {
  auto state = filled(1);
  {
    cairn::checkpointer_options options;
    options.codecs = {{"*weight", cairn::codecs::lc<2>{}}};
    options.when = cairn::policies::every_steps{1};
    options.on_busy = cairn::when_busy::wait;
    options.durable = false;
    cairn::checkpointer checkpoints(scratch.path("run"), options);
    for (std::uint64_t step = 1; step < 4; ++step) {
      for (auto& each : state.model["fc1"].weight) each *= 1.01F;
      std::ignore = checkpoints.step(state, {.step = step});
    }
    checkpoints.wait();
  }
  const auto from = cairn::open(scratch.path("run"));
  REQUIRE(from.tensor("model.fc1.weight").is_delta);
  check_same(from, cairn::export_safetensors(from, scratch.path("out")).files);
}

TEST_CASE("a directory has as many files as the bytes need, and an index that names the file of each array") {
  const sample::scratch scratch;
  cairn::save(scratch.path("a"), filled(1));
  const auto from = cairn::open(scratch.path("a"));
  const auto directory = scratch.path("hub");
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/config.json") << "{}";

  const auto three = cairn::export_safetensors(from, directory, {.file_bytes = 5000});
  check_same(from, three.files);
  CHECK(sample::names_in(directory) ==
        std::vector<std::string>{"config.json", "model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                 "model-00003-of-00003.safetensors", "model.safetensors.index.json"});
  CHECK(three.files.back() == directory + "/model.safetensors.index.json");
  const auto index = sample::slurp(three.files.back());
  CHECK(index.starts_with("{\"metadata\":{\"total_size\":" + std::to_string(three.bytes) + "},\"weight_map\":{"));
  for (std::size_t i = 0; i < 3; ++i)
    for (const auto& each : header_of(three.files[i]).tensors)
      CHECK(index.find('"' + each.key + "\":\"" + std::filesystem::path(three.files[i]).filename().string() + '"') !=
            index.npos);

  // Another export to the same place replaces it; what it does not have goes.
  const auto one = cairn::export_safetensors(from, directory);
  check_same(from, one.files);
  CHECK(sample::names_in(directory) == std::vector<std::string>{"config.json", "model.safetensors"});
  const auto many = cairn::export_safetensors(from, directory, {.file_bytes = 1});
  CHECK(many.files.size() == 12);
  CHECK(sample::names_in(directory).size() == 13);
  CHECK(sample::names_in(directory)[1] == "model-00001-of-00011.safetensors");
  CHECK(cairn::export_safetensors(from, directory, {.file_bytes = 5000}).files.size() == 4);
  CHECK(sample::names_in(directory).size() == 5);
}

TEST_CASE_METHOD(with_source, "arrays are filtered and renamed for the readers of a model") {
  const cairn::export_options options{.filter = [](std::string_view name) { return name.starts_with("model."); },
                                      .rename = [](std::string_view name) { return std::string(name.substr(6)); },
                                      .metadata = {{"made by", "a test"}}};
  cairn::export_safetensors(from, scratch.path("m.safetensors"), options);
  const auto header = header_of(scratch.path("m.safetensors"));
  CHECK(header.tensors.size() == 9);
  CHECK(header.metadata.at("made by") == "a test");
  const auto exported = cairn::open(scratch.path("m.safetensors"));
  CHECK(exported.read<float>("fc1.weight") == from.read<float>("model.fc1.weight"));
}

TEST_CASE("names that clash, names that are missing and no array at all are refused, and nothing changes") {
  const sample::scratch scratch;
  cairn::save(scratch.path("a"), filled(1));
  const auto from = cairn::open(scratch.path("a"));
  const auto file = scratch.path("m.safetensors");
  cairn::export_safetensors(from, file);
  const auto before = sample::slurp(file);
  const auto refusal = [&](const cairn::export_options& options) {
    const auto failure = sample::failure_of([&] { cairn::export_safetensors(from, file, options); });
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says(file));
    CHECK(sample::slurp(file) == before);
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", "m.safetensors"});
    return failure;
  };
  CHECK(refusal({.rename = [](std::string_view) { return "same"; }}).says("\"same\""));
  CHECK(refusal({.rename = [](std::string_view) { return ""; }}).says("no name"));
  CHECK(refusal({.rename = [](std::string_view name) {
          return name == "step" ? "__metadata__" : std::string(name);
        }}).says("__metadata__"));
  CHECK(refusal({.rename = [](std::string_view name) { return "\xff" + std::string(name); }}).says("UTF-8"));
  CHECK(refusal({.filter = [](std::string_view) { return false; }}).says("no array"));
  CHECK(refusal({.metadata = {{"key", "\xff"}}}).says("UTF-8"));
}

TEST_CASE_METHOD(in_scratch, "a header of 25 MB is refused in one file, and divided in a directory") {
  struct {
    std::array<std::vector<std::uint8_t>, 2000> many{};
  } state;
  for (auto& each : state.many) each = {1};
  cairn::save(scratch.path("a"), state, {.durable = false});
  const auto from = cairn::open(scratch.path("a"));
  const std::string prefix(15'000, 'n');
  const cairn::export_options options{.rename = [&](std::string_view name) { return prefix + std::string(name); },
                                      .durable = false};
  const auto failure =
      sample::failure_of([&] { cairn::export_safetensors(from, scratch.path("m.safetensors"), options); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says("25 MB"));
  const auto report = cairn::export_safetensors(from, scratch.path("out"), options);
  CHECK(report.files.size() > 2);
  std::size_t tensors = 0;
  for (const auto& file : report.files) {
    if (!file.ends_with(".safetensors")) continue;
    const auto header = header_of(file);
    CHECK(header.data_start <= 25'000'000);
    tensors += header.tensors.size();
  }
  CHECK(tensors == 2000);
}

TEST_CASE(
    "an export that fails leaves what was there, and no new files; the next one removes what a killed one has left") {
  const sample::scratch scratch;
  cairn::save(scratch.path("a"), filled(1), {.shards = 2});
  const auto out = scratch.path("out");
  cairn::export_safetensors(cairn::open(scratch.path("a")), out);
  const auto before = sample::slurp(out + "/model.safetensors");
  for (const auto& name : sample::names_in(scratch.path("a")))
    if (name.ends_with(".safetensors")) damage(scratch.path("a/" + name));
  const auto failure =
      sample::failure_of([&] { cairn::export_safetensors(cairn::open(scratch.path("a")), out, {.file_bytes = 1}); });
  CHECK(failure.code == errc::corrupt);
  CHECK(sample::slurp(out + "/model.safetensors") == before);
  CHECK(sample::names_in(out) == std::vector<std::string>{"model.safetensors"});

  const std::string attempt(24, 'a');
  for (const char* left : {"model.safetensors", "model-00001-of-00002.safetensors", "model.safetensors.index.json"})
    std::ofstream(out + "/.tmp-" + left + "." + attempt) << "half";
  std::ofstream(out + "/.tmp-other." + attempt) << "of another program";
  cairn::save(scratch.path("b"), filled(2));
  cairn::export_safetensors(cairn::open(scratch.path("b")), out);
  CHECK(sample::names_in(out) == std::vector<std::string>{".tmp-other." + attempt, "model.safetensors"});
}

TEST_CASE_METHOD(with_source, "a place that cannot be written is an error that names it") {
  std::ofstream(scratch.path("file")) << "x";
  const auto below = sample::failure_of([&] { cairn::export_safetensors(from, scratch.path("file/m.safetensors")); });
  CHECK(below.code == errc::io);
  CHECK(below.says(scratch.path("file")));
  std::filesystem::create_directories(scratch.path("m.safetensors"));
  const auto directory = sample::failure_of([&] { cairn::export_safetensors(from, scratch.path("m.safetensors")); });
  CHECK(directory.code == errc::invalid);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", "file", "m.safetensors"});
}
TEST_CASE_METHOD(in_scratch, "nothing is exported into a checkpoint") {
  cairn::save(scratch.path("a"), filled(1));
  const auto before = sample::names_in(scratch.path("a"));
  const auto from = cairn::open(scratch.path("a"));
  for (const char* to : {"a", "a/", "a/x.safetensors", "a/shard-00000-of-00001.safetensors"}) {
    const auto failure = sample::failure_of([&] { cairn::export_safetensors(from, scratch.path(to)); });
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says("is a checkpoint"));
  }
  CHECK(sample::names_in(scratch.path("a")) == before);
  from.verify();
}

TEST_CASE("a directory in the way of a new file leaves the former export; other directories and files stay") {
  const sample::scratch scratch;
  cairn::save(scratch.path("a"), filled(1));
  const auto from = cairn::open(scratch.path("a"));
  const auto out = scratch.path("out");
  cairn::export_safetensors(from, out, {.file_bytes = 5000});
  const auto before = sample::names_in(out);
  std::filesystem::create_directories(out + "/model.safetensors");
  const auto failure = sample::failure_of([&] { cairn::export_safetensors(from, out); });
  CHECK(failure.code == errc::io);
  CHECK(failure.says(out + "/model.safetensors"));
  std::filesystem::remove(out + "/model.safetensors");
  CHECK(sample::names_in(out) == before);
  std::filesystem::create_directories(out + "/model-00001-of-00009.safetensors");
  std::ofstream(out + "/.tmp-model.safetensors") << "of the user";
  cairn::export_safetensors(from, out);
  CHECK(sample::names_in(out) ==
        std::vector<std::string>{".tmp-model.safetensors", "model-00001-of-00009.safetensors", "model.safetensors"});
}

TEST_CASE_METHOD(in_scratch, "arrays of more than one group are exported") {
  struct {
    std::vector<std::vector<std::uint32_t>> many;
  } state;
  for (const std::size_t mib : {40U, 1U, 30U, 70U, 20U}) {
    auto& made = state.many.emplace_back(mib << 18U);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::uint32_t>(i * mib);
  }
  cairn::save(scratch.path("a"), state, {.durable = false});
  const auto from = cairn::open(scratch.path("a"));
  check_same(from, cairn::export_safetensors(from, scratch.path("x.safetensors"), {.durable = false}).files);
}

TEST_CASE("paths are as users write them: relative, with a slash at the end; one with a zero byte is refused") {
  const sample::scratch scratch;
  cairn::save(scratch.path("a"), filled(1));
  const auto from = cairn::open(scratch.path("a"));
  const auto report = cairn::export_safetensors(from, scratch.path("out/"));
  CHECK(report.files == std::vector<std::string>{scratch.path("out/model.safetensors")});
  const auto failure = sample::failure_of(
      [&] { cairn::export_safetensors(from, scratch.path("b") + std::string("\0.safetensors", 13)); });
  CHECK(failure.code == errc::invalid);
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", "out"});
}

TEST_CASE_METHOD(in_scratch, "an export does not replace or remove the file that it reads") {
  const auto state = filled(1);
  cairn::save(scratch.path("state"), state);
  const auto whole = cairn::open(scratch.path("state"));
  cairn::export_safetensors(whole, scratch.path("model"));
  cairn::export_safetensors(whole, scratch.path("parts"), {.file_bytes = 5000});
  const auto file = scratch.path("model/model.safetensors");
  std::filesystem::create_hard_link(file, scratch.path("model/other.safetensors"));
  std::filesystem::create_symlink(file, scratch.path("link.safetensors"));
  const auto refused = [&](const std::string& from, const std::string& to) {
    const auto before = sample::slurp(from);
    const auto failure = sample::failure_of([&] { cairn::export_safetensors(cairn::open(from), to); });
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says("would be replaced by what is exported from it"));
    CHECK(sample::slurp(from) == before);
  };
  refused(file, file);
  refused(file, scratch.path("model"));
  refused(file, scratch.path("model/other.safetensors"));
  refused(file, scratch.path("link.safetensors"));
  const auto names = sample::names_in(scratch.path("parts"));
  refused(scratch.path("parts/" + names.front()), scratch.path("parts"));  // an old part, which the export removes
  CHECK(sample::names_in(scratch.path("parts")) == names);
}

TEST_CASE_METHOD(in_scratch, "an export that fails leaves none of the directories that it has made") {
  cairn::save(scratch.path("state"), filled(1));
  const auto from = cairn::open(scratch.path("state"));
  cairn::export_options stopped;
  stopped.on_progress = [](std::uint64_t, std::uint64_t) { cairn::fail(errc::cancelled, {"stopped"}); };
  for (const char* to : {"a/b/model", "a/b/model.safetensors"}) {
    const auto failure = sample::failure_of([&] { cairn::export_safetensors(from, scratch.path(to), stopped); });
    CHECK(failure.code == errc::cancelled);
    CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"state"});
  }
  std::filesystem::create_directory(scratch.path("d.safetensors"));
  const auto failure =
      sample::failure_of([&] { cairn::export_safetensors(from, scratch.path("d.safetensors"), stopped); });
  CHECK(failure.code == errc::invalid);  // before anything is written
  CHECK(failure.says("d.safetensors is a directory"));
}

TEST_CASE_METHOD(in_scratch, "the progress of an export ends with all bytes") {
  cairn::save(scratch.path("state"), filled(1));
  std::vector<std::uint64_t> all;
  std::uint64_t of = 0;
  cairn::export_options options{.file_bytes = 5000};
  options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    all.push_back(done);
    of = total;
  };
  const auto report = cairn::export_safetensors(cairn::open(scratch.path("state")), scratch.path("model"), options);
  CHECK(of == report.bytes);
  CHECK(all.size() > 1);
  CHECK(std::is_sorted(all.begin(), all.end()));
  CHECK(all.back() == of);
}

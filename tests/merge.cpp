// SPDX-License-Identifier: MIT
#include "cairn/merge.hpp"

#include "cairn/inspect.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "copying_codec.hpp"
#include "hooked_store.hpp"
#include "save_as.hpp"

namespace {

/// Steps 1 to `steps`, all but the first one deltas.
struct chain_of {
  cairn::any_store store;
  std::vector<chain::bits> bits;  // what each restores

  explicit chain_of(std::uint64_t steps, const cairn::codec_rules& rules = chain::mixed_rules(), std::size_t shards = 1,
                    cairn::any_store in = cairn::stores::memory())
      : store(std::move(in)) {
    std::mt19937 random(7);
    auto state = chain::start(random);
    cairn::detail::delta_base chain;
    for (std::uint64_t step = 1; step <= steps; ++step) {
      chain::train(state, random);
      tests::save_as(store, cairn::detail::checkpoint_name(step), state,
                     {.step = step, .metrics = {{"loss", 0.5}}, .shards = shards, .codecs = rules}, &chain);
      bits.push_back(chain::restored(store, cairn::detail::checkpoint_name(step), rules));
    }
  }

  [[nodiscard]] bool is_unchanged() const {
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (chain::restored(store, cairn::detail::checkpoint_name(i + 1)) != bits[i]) return false;
    return true;
  }
};

TEST_CASE("merged deltas restore the same bits, and so does what is built on them") {
  for (const std::size_t shards : {1U, 3U})
    for (const std::size_t count : {2U, 3U, 5U, 0U}) {
      const auto deltas = count == 0 ? std::nullopt : std::optional(count);
      chain_of made(8, chain::mixed_rules(), shards);
      const auto name = cairn::detail::checkpoint_name(6);
      const auto id = cairn::detail::checkpoint_id(cairn::detail::open_checkpoint(made.store, name).index);
      const auto report = cairn::merge_checkpoints(made.store, name, {.deltas = deltas, .threads = 2});
      const cairn::detail::chain_reader reader(made.store, name);
      CHECK(cairn::detail::checkpoint_id(reader.newest().index) == id);
      CHECK(reader.step() == 6);
      CHECK(reader.info().metrics.at("loss") == 0.5);
      if (!deltas) {
        CHECK(report.parent.empty());
        CHECK(report.deltas == 5);
        CHECK(reader.links().size() == 1);
      } else {
        CHECK(report.parent == cairn::detail::checkpoint_name(6 - *deltas));
        CHECK(report.deltas == deltas);
        CHECK(reader.links().size() == 6 - *deltas + 1);
      }
      CHECK(made.is_unchanged());
    }
}

TEST_CASE("merging again and again down to one whole checkpoint") {
  chain_of made(10);
  for (const std::uint64_t step : {3U, 5U, 7U, 10U}) {
    cairn::merge_checkpoints(made.store, cairn::detail::checkpoint_name(step), {.deltas = 2});
    CHECK(made.is_unchanged());
  }
  cairn::merge_checkpoints(made.store, cairn::detail::checkpoint_name(10), {.deltas = 3});
  CHECK(made.is_unchanged());
  cairn::merge_checkpoints(made.store, cairn::detail::checkpoint_name(10));
  CHECK(made.is_unchanged());
  for (std::uint64_t step = 1; step < 10; ++step) made.store.remove(cairn::detail::checkpoint_name(step));
  CHECK(chain::restored(made.store, cairn::detail::checkpoint_name(10)) == made.bits.back());
}

TEST_CASE("nothing is to be merged where there are fewer than two deltas") {
  chain_of made(2);
  CHECK(cairn::merge_checkpoints(made.store, cairn::detail::checkpoint_name(1)).deltas == 0);
  CHECK(cairn::merge_checkpoints(made.store, cairn::detail::checkpoint_name(2), {.deltas = 7}).deltas == 1);
  CHECK(cairn::detail::chain_reader(made.store, cairn::detail::checkpoint_name(2)).links().size() == 2);
  CHECK(cairn::merge_checkpoints(made.store, cairn::detail::checkpoint_name(2)).parent.empty());
  CHECK(made.is_unchanged());
}

TEST_CASE("leaves whose codec cannot merge, or has changed, are merged as values") {
  struct difference {  // the bytes minus the parent's
    [[nodiscard]] std::string name() const { return "difference"; }
    [[nodiscard]] bool uses_parent() const { return true; }
    [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes + 1; }
    [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
      out[0] = std::byte{!in.reference.empty()};
      for (std::size_t i = 0; i < in.values.size(); ++i)
        out[i + 1] = static_cast<std::byte>(static_cast<int>(in.values[i]) -
                                            (in.reference.empty() ? 0 : static_cast<int>(in.reference[i])));
      return {.codec = name(), .bytes = in.values.size() + 1, .relative = !in.reference.empty()};
    }
    void decode(const cairn::decode_request& from) const {
      if (from.payload.size() != from.values.size() + 1)
        cairn::fail(cairn::errc::corrupt, {from.where, ": ", from.path});
      for (std::size_t i = 0; i < from.values.size(); ++i)
        from.values[i] =
            static_cast<std::byte>(static_cast<int>(from.payload[i + 1]) +
                                   (from.payload[0] != std::byte{} ? static_cast<int>(from.values[i]) : 0));
    }
  };
  const cairn::codec_rules rules{{"adam.*", difference{}}};
  auto store = cairn::any_store(cairn::stores::memory());
  std::mt19937 random(8);
  auto state = chain::start(random);
  cairn::detail::delta_base chain;
  std::vector<chain::bits> bits;
  for (std::uint64_t step = 1; step <= 4; ++step) {
    chain::train(state, random);
    auto now = rules;
    now.push_back({"net.weight", step == 3 ? cairn::any_codec(cairn::codecs::lossless{.xor_parent = true})
                                           : cairn::any_codec(cairn::codecs::lc<3>{})});
    tests::save_as(store, cairn::detail::checkpoint_name(step), state, {.step = step, .codecs = now}, &chain);
    bits.push_back(chain::restored(store, cairn::detail::checkpoint_name(step), rules));
  }
  CHECK(bits.back().at("adam.m") == chain::bits_of(state).at("adam.m"));
  cairn::merge_checkpoints(store, cairn::detail::checkpoint_name(4), {.deltas = 3, .codecs = rules});
  CHECK(chain::restored(store, cairn::detail::checkpoint_name(4), rules) == bits.back());
}

TEST_CASE("many merged deltas never take more than the elements, and restore the same bits") {
  struct weights {
    std::vector<cairn::bfloat16> half;
    std::vector<float> single;
  };
  for (const auto priority : {cairn::promotion::magnitude, cairn::promotion::energy}) {
    const cairn::codec_rules rules{{"*", cairn::codecs::lc<3>{.priority = priority}}};
    auto store = cairn::any_store(cairn::stores::memory());
    std::mt19937 random(9);
    std::normal_distribution<float> normal;
    weights state;
    for (int i = 0; i < 100'000; ++i) {
      state.half.emplace_back(normal(random));
      state.single.push_back(normal(random));
    }
    cairn::detail::delta_base chain;
    for (std::uint64_t step = 1; step <= 21; ++step) {
      for (auto& each : state.half) each = cairn::bfloat16(static_cast<float>(each) + 0.01F * normal(random));
      for (auto& each : state.single) each += 0.01F * normal(random);
      tests::save_as(store, cairn::detail::checkpoint_name(step), state, {.step = step, .codecs = rules}, &chain);
      if (step != 6 && step != 21) continue;
      const auto name = cairn::detail::checkpoint_name(step);
      const auto bits = chain::restored(store, name);
      CAPTURE(step);
      cairn::merge_checkpoints(store, name, {.deltas = step == 6 ? 5 : 16});
      for (const auto& tensor : cairn::open(store, name).tensors()) {
        CAPTURE(tensor.name, tensor.codec, tensor.is_delta);
        CHECK(tensor.stored_bytes <= tensor.bytes);
      }
      CHECK(chain::restored(store, name) == bits);
    }
  }
}

TEST_CASE("a user's codec that can merge is asked to, with the oldest delta first") {
  struct appending {  // a payload lists what was ever appended to it: the parent's bytes, and one more
    unsigned* threads_to_merge;

    [[nodiscard]] std::string name() const { return "last bytes"; }
    [[nodiscard]] bool uses_parent() const { return true; }
    [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes; }
    [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
      if (in.reference.empty()) return {};
      out[0] = in.values.back();  // all elements but the last one are constant
      return {.codec = name(), .bytes = 1, .relative = true};
    }
    void decode(const cairn::decode_request& from) const { from.values.back() = from.payload.back(); }
    [[nodiscard]] std::optional<std::vector<std::byte>> merge(const cairn::merge_request& in) const {
      *threads_to_merge = in.threads;
      std::vector<std::byte> all;
      for (const auto& delta : in.deltas) {
        if (delta.codec != name()) return std::nullopt;
        all.insert(all.end(), delta.payload.begin(), delta.payload.end());
      }
      return all;
    }
  };
  static_assert(cairn::mergeable_codec<appending>);
  struct counters {
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(500);
  };
  unsigned threads_to_merge = 0;
  const cairn::codec_rules rules{{"bytes", appending{&threads_to_merge}}};
  auto store = cairn::any_store(cairn::stores::memory());
  counters state;
  cairn::detail::delta_base chain;
  for (std::uint64_t step = 1; step <= 5; ++step) {
    state.bytes.back() = static_cast<std::uint8_t>(10 * step);
    tests::save_as(store, cairn::detail::checkpoint_name(step), state, {.step = step, .codecs = rules}, &chain);
  }
  const auto name = cairn::detail::checkpoint_name(5);
  CHECK(cairn::merge_checkpoints(store, name, {.deltas = 3, .codecs = rules}).parent ==
        cairn::detail::checkpoint_name(2));
  CHECK(threads_to_merge == cairn::detail::default_threads());
  const cairn::detail::chain_reader reader(store, name, rules);
  const auto slices = reader.newest().slices_of(0);
  REQUIRE(slices.size() == 1);
  CHECK(slices[0].encoded->codec == "last bytes");
  CHECK(slices[0].encoded->relative);
  std::vector<std::byte> stored(slices[0].bytes);
  cairn::detail::read_stored(reader.newest(), slices[0].shard, slices[0].begin, stored);
  CHECK(stored == std::vector{std::byte{30}, std::byte{40}, std::byte{50}});
  CHECK(chain::restored(store, name, rules).at("bytes").back() == std::byte{50});
}

TEST_CASE("a merge writes each shard before it merges the next, so that it holds the memory of one") {
  for (const bool can_join : {true, false}) {
    struct copying : tests::copying_codec {  // counts what is being merged, by its shard
      std::vector<std::string>* log;
      bool joins;
      [[nodiscard]] std::optional<std::vector<std::byte>> merge(const cairn::merge_request& in) const {
        log->push_back("merge");
        if (!joins) return std::nullopt;
        return tests::last_of(in);
      }
    };
    std::vector<std::string> log;
    const cairn::codec_rules rules{{"*", copying{{}, &log, can_join}}};
    chain_of made(4, rules, 3);
    const auto name = cairn::detail::checkpoint_name(4);
    std::uint64_t total = 0;
    const auto report = cairn::merge_checkpoints(
        made.store, name,
        {.deltas = 3, .threads = 1, .codecs = rules, .progress = [&](std::uint64_t bytes, std::uint64_t of) {
           CHECK(bytes <= of);
           total = bytes;
           log.push_back("write");
         }});
    CHECK(report.bytes > total);
    CHECK(total > 0);
    const auto first_write = std::find(log.begin(), log.end(), "write");
    CHECK(std::find(first_write, log.end(), "merge") != log.end());
    CHECK(std::count(first_write, log.end(), "write") == 3);
    CHECK(chain::restored(made.store, name, rules) == made.bits.back());
    CHECK(cairn::detail::chain_reader(made.store, name, rules).links().size() == (can_join ? 2 : 1));
  }
}

TEST_CASE("a merge keeps to the memory that it may take, with more shards") {
  for (const std::uint64_t most : {1U, 1000U, 100'000'000U}) {
    chain_of made(4, chain::mixed_rules(), 2);
    const auto name = cairn::detail::checkpoint_name(4);
    const auto shards = [&] { return cairn::detail::read_index(*made.store.open(name)).shards.size(); };
    const auto before = shards();
    cairn::merge_checkpoints(made.store, name, {.deltas = 3, .max_bytes = most});
    CHECK(chain::restored(made.store, name) == made.bits.back());
    const cairn::detail::chain_reader reader(made.store, name);
    std::map<std::size_t, std::uint64_t> bytes, slices;
    const auto& leaves = reader.contents().leaves;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      for (const auto& slice : reader.newest().slices_of(reader.contents().find(leaves[i].path))) {
        bytes[slice.shard] += slice.count * cairn::size_of(leaves[i].type);
        ++slices[slice.shard];
      }
    for (const auto& [shard, sum] : bytes) CHECK((sum <= most || slices[shard] == 1));
    CHECK((most < 100'000'000 ? shards() > before : shards() == before));
  }
}

TEST_CASE("merges of chains whose links are cut differently") {
  cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(7);
  auto state = chain::start(random);
  cairn::detail::delta_base base;
  std::string name;
  for (const std::size_t shards : {2U, 3U, 5U, 5U, 4U}) {
    chain::train(state, random);
    name = cairn::detail::checkpoint_name(state.step);
    tests::save_as(store, name, state, {.step = state.step, .shards = shards, .codecs = chain::mixed_rules()}, &base);
  }
  const auto bits = chain::restored(store, name);
  for (const auto deltas :
       {std::optional<std::size_t>(2), std::optional<std::size_t>(4), std::optional<std::size_t>()}) {
    cairn::merge_checkpoints(store, name, {.deltas = deltas});
    CHECK(chain::restored(store, name) == bits);
  }
  CHECK(cairn::detail::chain_reader(store, name).links().size() == 1);
}

TEST_CASE("a merge can be cancelled at any call of check or progress, and then leaves the checkpoint as it was") {
  chain_of made(5, chain::mixed_rules(), 2);
  const auto name = cairn::detail::checkpoint_name(5);
  std::size_t calls = 0;
  for (std::size_t last = 1, is_done = 0; is_done == 0; ++last) {
    calls = 0;
    const auto count = [&] {
      if (++calls == last) cairn::fail(cairn::errc::cancelled, {"enough"});
    };
    const auto failure = sample::failure_of([&] {
      cairn::merge_checkpoints(
          made.store, name,
          {.deltas = 3, .threads = 1, .check = count, .progress = [&](std::uint64_t, std::uint64_t) { count(); }});
    });
    is_done = failure.sentence.empty();
    CHECK(cairn::detail::chain_reader(made.store, name).links().size() == (is_done ? 3U : 5U));
    CHECK(made.is_unchanged());
  }
  CHECK(calls > 10);  // every leaf, and every block
}

TEST_CASE("nothing is merged where a checkpointer saves, which may remove what is merged") {
  chain_of made(5);
  const auto name = cairn::detail::checkpoint_name(5);
  {
    const auto lock = made.store.lock();
    const auto failure = sample::failure_of([&] { cairn::merge_checkpoints(made.store, name); });
    CHECK(failure.code == cairn::errc::busy);
  }
  CHECK(made.is_unchanged());
  CHECK(cairn::merge_checkpoints(made.store, name).deltas == 4);
}

TEST_CASE("a merge that fails leaves the checkpoint as it was") {
  chain_of made(5);
  const auto file = cairn::detail::shard_file(0, 1);
  const auto third = cairn::detail::checkpoint_name(3);
  const auto good = sample::get(made.store, third, file), index = sample::get(made.store, third, "index.json");
  auto bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  sample::put(made.store, third, {{file, bad}, {"index.json", index}});
  const auto before = sample::get(made.store, cairn::detail::checkpoint_name(5), file);
  const auto failure = sample::failure_of(
      [&] { cairn::merge_checkpoints(made.store, cairn::detail::checkpoint_name(5), {.deltas = 3}); });
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.says(third));
  CHECK(sample::get(made.store, cairn::detail::checkpoint_name(5), file) == before);
  sample::put(made.store, third, {{file, good}, {"index.json", index}});
  CHECK(made.is_unchanged());
}

/// Notes which files of a checkpoint this process has open when a new one takes its place.
struct watched_directory : cairn::stores::directory {
  using directory::directory;

  struct watching final : cairn::stores::transaction {
    watching(std::unique_ptr<cairn::stores::transaction> real, std::string at, std::vector<std::string>& found)
        : inner(std::move(real)), place(std::move(at)), open(found) {}
    cairn::stores::sink& create(std::string_view file, std::uint64_t bytes) override {
      return inner->create(file, bytes);
    }
    void prepare() override { inner->prepare(); }
    void publish() override {
      inner->prepare();
      for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;  // the descriptor of this loop
        const auto file = std::filesystem::read_symlink(each.path(), gone).string();
        if (file.starts_with(place)) open.push_back(file);
      }
      inner->publish();
    }
    std::unique_ptr<cairn::stores::transaction> inner;
    std::string place;
    std::vector<std::string>& open;
  };

  std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) {
    return std::make_unique<watching>(directory::begin(name), location() + "/" + std::string(name), *open_files);
  }

  std::shared_ptr<std::vector<std::string>> open_files = std::make_shared<std::vector<std::string>>();
};

}  // namespace

TEST_CASE("no file of a checkpoint is open any more when the merged one replaces it") {
  const sample::scratch scratch;
  const watched_directory place(std::filesystem::canonical(scratch.path()).string());
  cairn::any_store store = place;
  const auto name = cairn::detail::checkpoint_name(4);
  chain_of made(4, chain::mixed_rules(), 3, store);
  place.open_files->clear();
  REQUIRE(cairn::merge_checkpoints(store, name, {.deltas = 2}).deltas == 2);
  CHECK(*place.open_files == std::vector<std::string>());
  REQUIRE(cairn::merge_checkpoints(store, name).deltas > 0);
  CHECK(*place.open_files == std::vector<std::string>());
  CHECK(chain::restored(store, name) == made.bits.back());
  const auto reader = store.open(name)->open(cairn::detail::shard_file(0, 3));  // such a file is seen
  cairn::save(store, name, std::vector<float>(5));
  CHECK(place.open_files->size() == 1);
}

TEST_CASE(
    "a reader that is open while its checkpoint is merged twice gets its own bits, or is told that they have gone") {
  const bool is_in_memory = GENERATE(false, true);
  const sample::scratch scratch(sample::in_memory());
  hooked_store place{cairn::stores::memory(), {}};
  if (!is_in_memory) place.base = cairn::stores::directory(scratch.path(), {.durable = false});
  constexpr std::uint64_t steps = 6;
  const auto name = cairn::detail::checkpoint_name(steps);
  const auto of_shards = [&](std::string_view file) { return file.ends_with(".safetensors"); };
  // Every file of the chain is the next one to be opened at some time.
  for (int n = 0;; ++n) {
    if (!is_in_memory) std::filesystem::remove_all(scratch.path());
    if (is_in_memory) place.base = cairn::stores::memory();
    chain_of made(steps, chain::mixed_rules(), 2, place.base);
    int opened = 0;
    place.by.before_open = [&](std::string_view, std::string_view file) {
      if (!of_shards(file) || opened++ != n) return;
      cairn::merge_checkpoints(made.store, name, {.deltas = 2});
      cairn::merge_checkpoints(made.store, name);
      for (std::uint64_t step = 1; step < steps; ++step) made.store.remove(cairn::detail::checkpoint_name(step));
    };
    INFO("before shard " << n);
    CHECK(chain::restored(place, name) == made.bits.back());  // opened again, where it must
    if (opened <= n) break;

    chain_of other(steps, chain::mixed_rules(), 2, cairn::stores::directory(scratch.path("other"), {.durable = false}));
    cairn::any_store& store = other.store;
    const cairn::detail::chain_reader reader(store, name);
    const auto& leaves = reader.contents().leaves;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (i == static_cast<std::size_t>(n) % leaves.size()) {
        cairn::merge_checkpoints(store, name, {.deltas = 2});
        cairn::merge_checkpoints(store, name);
      }
      std::vector<std::byte> values(leaves[i].bytes());
      const auto failure = sample::failure_of([&] { reader.contents().fetch(i, values); });
      if (failure.sentence.empty())
        CHECK(values == other.bits.back().at(leaves[i].path));
      else
        CHECK(failure.code == cairn::errc::not_found);
    }
    CHECK(reader.is_outdated(store));
    std::filesystem::remove_all(scratch.path("other"));
  }
}

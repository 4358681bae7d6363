// SPDX-License-Identifier: MIT
// Hostile bytes as what a rank sends: records of gathers, messages of failures, what a host has, and the record of a
// share, of which the leader publishes a checkpoint. Each gives what was sent, or cairn::error; what is published has
// an index that can be read. All memory together is at most a multiple of the input's size. runs: 1/2

#include "cairn/chain/attempt.hpp"
#include "cairn/core/error.hpp"
#include "cairn/encode/lossless.hpp"
#include "cairn/group/team.hpp"
#include "cairn/levels/survey.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/writer.hpp"
#include "live_memory.hpp"
#include "../standard.hpp"

namespace {

using cairn::detail::piece;
using cairn::detail::save_job;

void require(bool held) {
  if (!held) std::abort();
}

/// What reading a record takes, and the check of boxes that are cut in eight dimensions.
std::size_t memory_for(std::size_t bytes) { return 600 * (bytes < 1024 ? 1024 : bytes); }

/// The state of two ranks: two arrays of both, and an array and a box of each.
save_job job_of(unsigned rank) {
  static std::vector<float> values = [] {
    std::vector<float> made(64);
    std::iota(made.begin(), made.end(), 0.0F);
    return made;
  }();
  save_job job;
  job.name = "step-000000001";
  job.info.step = 1;
  job.threads = 1;
  job.codecs = {{"*", cairn::codecs::lossless{}}};
  const auto add = [&](std::string path, cairn::extents shape) -> cairn::detail::leaf& {
    auto& made = job.what.leaves.emplace_back();
    made.path = std::move(path);
    made.type = cairn::dtype::f32;
    made.shape = std::move(shape);
    made.memory = reinterpret_cast<std::byte*>(values.data());
    return made;
  };
  add("moment", {40});
  add("weight", {4, 16});
  job.common_leaves = job.what.leaves.size();
  add("seed.rank" + std::to_string(rank), {3});
  add("table", {2, 3}).place =
      std::make_shared<const cairn::detail::box_place>(cairn::detail::box_place{{4, 3}, {2 * rank, 0}});
  job.what.structure["seed"] = {cairn::detail::structure_entry::kind::ranks, 2, {}, {}};
  if (rank == 1) job.own_structure["seed.rank1.list"] = {cairn::detail::structure_entry::kind::size, 3, {}, {}};
  return job;
}

/// Each rank has one half of the arrays, and what it alone has.
std::vector<piece> pieces_of(const save_job& job, unsigned rank, bool with_own) {
  std::vector<piece> pieces{{0, 20 * rank, 20}, {1, 32 * rank, 32}};
  for (auto own = job.common_leaves; with_own && own < job.what.leaves.size(); ++own)
    pieces.push_back({own, 0, job.what.leaves[own].count()});
  return pieces;
}

/// A rank of a save.
struct rank_save {
  rank_save(cairn::any_store& store, unsigned rank)
      : job(job_of(rank)),
        pieces(pieces_of(job, rank, true)),
        source(cairn::detail::encode_state(
            store, job, 2, &base,
            cairn::detail::rank_share{.pieces = pieces,
                                      .common = {pieces_of(job, 0, false), pieces_of(job, 1, false)}})),
        making(store, job.name, *source, rank) {}

  void add() {
    std::vector<cairn::detail::shards_of<cairn::detail::staged_piece>::value_type> shards(1);
    for (const auto& each : pieces) shards[0].push_back({each});
    making.write(shards);
  }

  save_job job;
  std::vector<piece> pieces;
  cairn::detail::delta_base base;
  std::unique_ptr<cairn::detail::save_source> source;
  cairn::detail::attempt making;
};

/// The leader publishes with this record of the other rank; null: with the true one. Returns the true one.
std::string publish(const std::string* record) {
  cairn::any_store store = cairn::stores::memory();
  rank_save leader(store, 0), other(store, 1);
  other.making.join(leader.making.begin());
  leader.add();
  other.add();
  const auto truth = other.making.record();
  const auto& given = record != nullptr ? *record : truth;
  const fuzz::memory_bound guard(memory_for(given.size()) + (std::size_t{1} << 18U));
  try {
    leader.making.unite(std::vector{std::string(), given});
    static_cast<void>(leader.making.publish());
  } catch (const cairn::error& failure) {
    require(record != nullptr);
    require(std::string_view(failure.what()).size() > 8);
    require(store.list().empty());
    return truth;
  }
  const auto index = cairn::detail::read_index(*store.open(leader.job.name), cairn::detail::index_part::all);
  require(index.shards.size() == 2);
  return truth;
}

/// A record that can be read is written as it was read.
void read_record(const std::string& text) {
  const fuzz::memory_bound guard(memory_for(text.size()));
  try {
    const auto written = write_shard_record(cairn::detail::read_shard_record(text, "rank 1"));
    require(write_shard_record(cairn::detail::read_shard_record(written, "rank 1")) == written);
  } catch (const cairn::error& failure) {
    require(failure.code() == cairn::errc::corrupt || failure.code() == cairn::errc::invalid);
    require(std::string_view(failure.what()).find("rank 1") != std::string_view::npos);
  }
}

void gather_records(const std::string& text) {
  const fuzz::memory_bound guard(4 * text.size() + (std::size_t{1} << 16U));
  for (const unsigned ranks : {1U, 3U}) try {
      const auto texts = cairn::detail::read_records(std::as_bytes(std::span(text)), ranks);
      require(texts.size() == ranks);
      for (std::size_t rank = 0; rank < ranks; ++rank)
        require(text.compare(rank * (text.size() / ranks) + 8, texts[rank].size(), texts[rank]) == 0);
    } catch (const cairn::error& failure) {
      require(failure.code() == cairn::errc::corrupt);
    }
}

void read_error(const std::string& text) {
  const auto failure = cairn::detail::read_failure(text, 2);
  require(failure.code() <= cairn::errc::lost_rank);
  require(std::string_view(failure.what()).starts_with("cairn: rank 2: "));
  const auto again = cairn::detail::read_failure(cairn::detail::write_failure(failure), 2);
  require(again.code() == failure.code() && again.state_changed() == failure.state_changed());
}

/// What a host has of checkpoints of at most a few shards: what it says of more costs as much memory.
void read_report(const std::string& text) {
  const fuzz::memory_bound guard(memory_for(text.size()));
  try {
    const std::vector<cairn::detail::host_report> reports{
        cairn::detail::from_json<cairn::detail::host_report>(text, "a host")};
    for (const auto& each : reports[0].parts)
      if (each.count > 8) return;
    for (const auto& [name, each] : cairn::detail::list_checkpoints(reports)) {
      require(cairn::detail::checkpoint_of(each.publication) == name);
      require(each.missing() || std::ranges::all_of(each.shards, [](const auto& on) { return !on.empty(); }));
    }
  } catch (const cairn::error& failure) {
    require(failure.code() == cairn::errc::corrupt);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string input(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0] % 5) {
    case 0:
      gather_records(input);
      break;
    case 1:
      read_error(input);
      break;
    case 4:
      read_report(input);
      break;
    default:
      read_record(input);
      static_cast<void>(publish(&input));
  }
  return 0;
}

/// Seeds made by the code itself, so that they always fit the format: the first mutations begin with valid messages.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> seeds = [] {
    const auto record = publish(nullptr);
    cairn::detail::shard_record full = cairn::detail::read_shard_record(record, "rank 1");
    full.encoded[0] = {"lc2", true, 9, cairn::loss{0.5, 1e-3}};
    full.encoded[2] = {"lossless", false, 4, {}};
    full.sample = {1, ~std::uint64_t{0}};
    std::string gathered(1, '\0');
    for (const std::string_view text : {"first", "the next"}) {
      cairn::detail::append_text(gathered, text);
      gathered.append(9 - text.size(), '\0');
    }
    return std::vector<std::string>{gathered,
                                    '\1' + cairn::detail::write_failure({cairn::errc::io, "the disk is full"}),
                                    '\4' + cairn::detail::to_json(cairn::detail::host_report{
                                               .parts = {{"step-000000001.0000000100000001", 1.5, 2, {0, 1}}},
                                               .published = {"step-000000001.0000000100000001"}}),
                                    '\2' + record, '\2' + write_shard_record(full)};
  }();
  if (seed % 64 == 0) {
    const auto& chosen = seeds[seed / 64 % seeds.size()];
    if (chosen.size() <= most) {
      std::memcpy(bytes, chosen.data(), chosen.size());
      size = chosen.size();
      if (seed / 4096 % 2 == 0) return size;
    }
  }
  return LLVMFuzzerMutate(bytes, size, most);
}

// SPDX-License-Identifier: MIT
// A program for mpiexec, which mpi.sh and two_hosts.sh run. Usage: mpi collectives
//   mpi save | train | restore | refused | silent DIRECTORY
//   mpi die | die_in_background | die_merging DIRECTORY RANK CALL
//   mpi stop | stop_in_background DIRECTORY RANK CALL PIPE     stops where the other two die, and says so
#include "cairn/group/mpi.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/encode/lossless.hpp"
#include "cairn/merge.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/directory.hpp"
#include "hooked_store.hpp"

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

void wait_for(const cairn::groups::started& of) {
  while (!of->test()) std::this_thread::yield();
}

std::string text_of(const cairn::groups::started& of) {
  return {reinterpret_cast<const char*>(of->result().data()), of->result().size()};
}

std::vector<std::byte> message(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void use_collectives() {
  cairn::mpi::group group(MPI_COMM_WORLD);
  const auto rank = group.rank(), size = group.size();
  for (std::uint64_t round = 0; round < 100; ++round) {
    const std::uint64_t mine[] = {rank, size - rank, ~std::uint64_t{0} - rank, round};
    const auto largest = group.start_max(mine);
    const auto root = static_cast<unsigned>(round % size);
    const std::string said = "round " + std::to_string(round);
    const auto broadcast = group.start_broadcast(
        rank == root ? std::as_bytes(std::span(said)) : std::span<const std::byte>(), said.size(), root);
    const char own[] = {static_cast<char>('a' + rank), '.'};
    const auto gathered = group.start_gather(std::as_bytes(std::span(own)), root);
    const auto next = (rank + 1) % size, before = (rank + size - 1) % size;
    const std::string sent(1 + round * 1000, static_cast<char>('a' + rank));
    const auto received = group.start_receive(sent.size(), before, 0), again = group.start_receive(2, before, 0);
    const auto sending = group.start_send(message(sent), next, 0);
    const auto sending_again = group.start_send(message({own, sizeof own}), next, 0);
    wait_for(again);  // all are in flight
    wait_for(received);
    wait_for(sending);
    wait_for(sending_again);
    require(text_of(received) == std::string(sent.size(), static_cast<char>('a' + before)), "another message");
    require(text_of(again) == std::string({static_cast<char>('a' + before), '.'}), "another second message");
    wait_for(gathered);
    wait_for(broadcast);
    wait_for(largest);
    const std::uint64_t wanted[] = {size - 1, size, ~std::uint64_t{0}, round};
    require(
        largest->result().size() == sizeof wanted && std::memcmp(largest->result().data(), wanted, sizeof wanted) == 0,
        "another maximum");
    require(text_of(broadcast) == said, "another text was broadcast");
    std::string all;
    for (unsigned other = 0; other < size; ++other) all += {static_cast<char>('a' + other), '.'};
    require(text_of(gathered) == (rank == root ? all : ""), "other texts were gathered");
  }
  const auto empty = group.start_broadcast({}, 0, 0);
  wait_for(empty);
  require(empty->result().empty(), "an empty broadcast has bytes");

  MPI_Comm half = MPI_COMM_NULL;  // a communicator of the user's choice
  MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(rank % 2), 0, &half);
  {
    cairn::mpi::group part(half);
    require(part.size() == (size + 1 - rank % 2) / 2 && part.rank() == rank / 2, "another part");
  }
  MPI_Comm_free(&half);
}

struct model {
  std::vector<float> weights;
  std::map<std::string, std::vector<double>> moments;
  std::uint64_t step = 0;

  friend bool operator==(const model&, const model&) = default;
};

model model_at(std::uint64_t step) {
  model made{{}, {}, step};
  for (std::size_t i = 0; i < 100'003; ++i) made.weights.push_back(static_cast<float>(i * step) / 3);
  for (std::size_t i = 0; i < 5'001; ++i) made.moments["first"].push_back(static_cast<double>(i) / 7);
  return made;
}

/// With a short lease: a restart on another host need not wait long.
cairn::any_store store_at(const std::string& directory) {
  return cairn::stores::directory(directory, {.lease = std::chrono::milliseconds(500)});
}

/// The step that was restored, bit by bit and without passing over a newer one; 0: none. Rank 0 prints it.
std::uint64_t restored_step(cairn::checkpointer& checkpoints) {
  model state;
  const auto report = checkpoints.restore(state);
  if (!report) return 0;
  require(state == model_at(report->step), "another state was restored");
  require(report->skipped.empty(), "passed over: " + (report->skipped.empty() ? "" : report->skipped.front().reason));
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("restored step %ju\n", static_cast<std::uintmax_t>(report->step));
  return report->step;
}

void save(const std::string& directory) {
  cairn::checkpointer checkpoints(store_at(directory), {.keep_last = 2}, cairn::mpi::group(MPI_COMM_WORLD));
  const auto next = restored_step(checkpoints) + 1;
  for (auto step = next; step < next + 3; ++step) checkpoints.save(model_at(step), {.step = step, .loss = 0.5});
}

/// Saves at every second step, in the background.
void train(const std::string& directory) {
  cairn::checkpointer_options options;
  options.when = cairn::policies::every_steps{2};
  options.on_busy = cairn::when_busy::wait;
  cairn::checkpointer checkpoints(store_at(directory), std::move(options), cairn::mpi::group(MPI_COMM_WORLD));
  const auto first = restored_step(checkpoints) + 1;
  for (auto step = first; step < first + 7; ++step) {
    const auto outcome = checkpoints.step(model_at(step), {.step = step, .loss = 0.5});
    require(outcome.started == (step % 2 == 0) && !outcome.stop, "another step is saved");
    checkpoints.progress();
  }
  checkpoints.wait();
  require(checkpoints.latest() == (first + 6) / 2 * 2, "another step is the latest");
}

/// The file with the step whose checkpoint was being merged when a rank died.
std::string merging_of(const std::string& directory) { return directory + ".merging"; }

void restore(const std::string& directory) {
  cairn::checkpointer checkpoints(store_at(directory), {}, cairn::mpi::group(MPI_COMM_WORLD));
  const auto step = restored_step(checkpoints);
  require(step != 0, "nothing was restored");
  std::uint64_t merging = 0;
  if (std::ifstream(merging_of(directory)) >> merging)
    require(step == merging, "the checkpoint that was being merged has gone");
}

/// All ranks throw the same, which rank 0 prints: one of them has another directory at this path.
void be_refused(const std::string& directory) {
  std::string what = "nothing was refused";
  try {
    cairn::checkpointer checkpoints(store_at(directory), {.keep_last = 2}, cairn::mpi::group(MPI_COMM_WORLD));
    const auto next = restored_step(checkpoints) + 1;
    checkpoints.save(model_at(next), {.step = next, .loss = 0.5});
  } catch (const cairn::error& cause) {
    what = cause.what();
  }
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  constexpr int most = 1000;
  what.resize(most);
  std::string all(static_cast<std::size_t>(size) * most, '\0');
  MPI_Allgather(what.data(), most, MPI_CHAR, all.data(), most, MPI_CHAR, MPI_COMM_WORLD);
  for (std::size_t other = 0; other < all.size(); other += most)
    require(all.compare(other, most, what) == 0, "rank " + std::to_string(other / most) + ": " + &all[other]);
  if (rank == 0) std::printf("%d ranks: %s\n", size, what.c_str());
}

/// Gets "saving" or "saved", and the step.
using end_of_rank = std::function<void(const std::string&)>;

void die(const std::string& when) {
  if (when.starts_with("saving")) raise(SIGKILL);
}

/// Writes to a pipe, and waits for the end of the host.
end_of_rank stop(const std::string& pipe) {
  return [pipe](const std::string& when) {
    std::ofstream(pipe) << when << std::endl;
    while (true) ::pause();
  };
}

/// `rank` ends at its `call`-th point of the save, before or after a call of the store; after the save, if there are
/// fewer.
void save_and_end(const end_of_rank& end, const std::string& directory, unsigned rank, int call, bool in_background) {
  struct countdown {
    int left = 0;  // points until the one where this rank ends; 0: it does not
    std::string step{};
  };
  const auto until = std::make_shared<countdown>();
  const auto point = [until, end] {
    if (until->left != 0 && --until->left == 0) end("saving " + until->step);
  };
  const hooked_store store{store_at(directory), {.before_write = point, .after_write = point}};
  cairn::mpi::group group(MPI_COMM_WORLD);
  const bool ends = group.rank() == rank;
  cairn::checkpointer_options options{.keep_last = 2, .rank_timeout = std::chrono::seconds(10)};
  options.when = cairn::policies::every_steps{1};
  cairn::checkpointer checkpoints(store, std::move(options), std::move(group));
  const auto next = restored_step(checkpoints) + 1;
  require(next != 1, "nothing was restored");
  if (ends) *until = {call, std::to_string(next)};
  if (in_background) {
    require(checkpoints.step(model_at(next), {.step = next, .loss = 0.5}).started, "no save was started");
    checkpoints.wait();
  } else {
    checkpoints.save(model_at(next), {.step = next, .loss = 0.5});
  }
  if (std::exchange(until->left, 0) != 0) end("saved " + until->step);
}

/// `rank` dies at its `call`-th point of the merge after a save, as above.
void merge_and_die(const std::string& directory, unsigned rank, int call) {
  int left = 0;
  const auto die = [&left] {
    if (left != 0 && --left == 0) raise(SIGKILL);
  };
  const hooked_store store{cairn::stores::directory(directory), {.before_write = die, .after_write = die}};
  cairn::mpi::group group(MPI_COMM_WORLD);
  const bool dies = group.rank() == rank;
  std::uint64_t due = 0;  // the step whose save the merge follows
  cairn::checkpointer_options options{.keep_last = 2};
  options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
  options.chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 2, .to_whole = call % 2 == 0}};
  options.on_event = [&](const cairn::event& what) {
    if (!dies || what.what != cairn::event::kind::published || what.step != due) return;
    left = call;
    std::ofstream(merging_of(directory)) << due;
  };
  cairn::checkpointer checkpoints(store, std::move(options), std::move(group));
  model state;
  const auto report = checkpoints.restore(state);
  require(report && state == model_at(report->step), "another state was restored");
  auto step = report->step;
  for (auto deltas = report->links; due == 0; ++deltas) {
    ++step;
    if (deltas > 1) due = step;
    require(checkpoints.save(model_at(step), {.step = step, .loss = 0.5}).is_delta, "not a delta");
  }
  checkpoints.wait();
  require(checkpoints.stats().merged == 1, "not merged");
  left = 0;
}

/// The last rank does not answer.
void wait_for_silent(const std::string& directory) {
  cairn::checkpointer checkpoints(cairn::stores::directory(directory, {.lease = std::chrono::seconds(1)}),
                                  {.rank_timeout = std::chrono::seconds(2)}, cairn::mpi::group(MPI_COMM_WORLD));
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  model state;
  std::string what;
  try {
    checkpoints.restore(state);
  } catch (const cairn::error& cause) {
    require(cause.code() == cairn::errc::lost_rank, cause.what());
    what = cause.what();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  require(what.find("not answered: " + std::to_string(size - 1)) != what.npos, "not named: " + what);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const std::string_view what = count > 1 ? arguments[1] : "";
  const std::string directory = count > 2 ? arguments[2] : "";
  int result = 0;
  try {
    if (what == "collectives")
      use_collectives();
    else if (what == "save")
      save(directory);
    else if (what == "train")
      train(directory);
    else if (what == "restore")
      restore(directory);
    else if (what == "silent")
      wait_for_silent(directory);
    else if (what == "refused")
      be_refused(directory);
    else if (what == "die_merging" && count > 4)
      merge_and_die(directory, static_cast<unsigned>(std::stoul(arguments[3])), std::stoi(arguments[4]));
    else if (count > 4 && (what.starts_with("die") || what.starts_with("stop")))
      save_and_end(count > 5 ? stop(arguments[5]) : die, directory, static_cast<unsigned>(std::stoul(arguments[3])),
                   std::stoi(arguments[4]), what.ends_with("_in_background"));
    else
      throw std::runtime_error("what to do?");
  } catch (const std::exception& cause) {
    std::fprintf(stderr, "%s\n", cause.what());
    result = 1;
  }
  if (result != 0) MPI_Abort(MPI_COMM_WORLD, result);
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: MIT
// Saves and loads of a job of several ranks: Cairn and what such jobs do instead. Run it by mpiexec with four ranks.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "common/arguments.hpp"
#include "common/report.hpp"
#include "common/work_directory.hpp"
#include "mpi_save/contest.hpp"
#include "mpi_save/loads.hpp"
#include "mpi_save/steps.hpp"
#include "mpi_save/world.hpp"

namespace {

using namespace bench;

constexpr std::string_view usage =
    "mpiexec -n 4 mpi_save [--mib 1024] [--repetitions 5] [--steps 2000] [--reads 128] [--directory .] [--json FILE]\n"
    "                      [--sections saves,steps,loads,reads] [--wait 5]\n"
    "  Ranks that save together in every way, in turn; prints medians, and figures against their bounds.\n"
    "  --mib          of the state\n"
    "  --repetitions  saves of every way\n"
    "  --steps        of each loop that saves nothing\n"
    "  --reads        MiB of the state of which the bytes that loads read are counted\n"
    "  --directory    where the files go, in a new directory that is deleted afterwards; the current one by default\n"
    "  --sections     what is measured\n"
    "  --wait         seconds to wait at most for idle cores before a measurement; 0: not at all\n";

/// A directory that rank 0 makes and removes, and whose name all know.
class shared_directory {
 public:
  shared_directory(const world& all, const std::string& in) {
    std::string name(4096, '\0');
    if (all.is_first()) {
      own_ = std::make_unique<work_directory>(in, "mpi_save");
      own_->path().string().copy(name.data(), name.size() - 1);
    }
    check_mpi(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, all.comm()), "MPI_Bcast");
    path_ = name.c_str();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::unique_ptr<work_directory> own_;
  std::filesystem::path path_;
};

void run_all(const arguments& options) {
  const auto has = [&](const char* section) {
    return options.has("sections", section, {"saves", "steps", "loads", "reads"});
  };
  // All options are read before anything is measured.
  const bool saves = has("saves"), steps = has("steps"), loads = has("loads"), reads = has("reads");
  const auto& json = options.file("json");
  const auto step_count = options.positive("steps"), read_mib = options.positive("reads");
  setting how{.directory = {},
              .shapes = dimensions::of(options.positive("mib")),
              .repetitions = options.positive("repetitions"),
              .patience = std::chrono::duration<double>(options.number("wait"))};
  const world all(MPI_COMM_WORLD);
  const shared_directory directory(all, options.text("directory"));
  how.directory = directory.path();

  report numbers;
  if (saves) compare_saves(all, how, numbers);
  if (steps) measure_steps(all, how, step_count, numbers);
  if (loads) measure_loads(all, how, numbers);
  if (reads) count_reads(all, dimensions::of(read_mib), numbers);
  all.meet();
  if (!all.is_first()) return;
  numbers.print_figures();
  numbers.write_json(json);
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  try {
    const arguments options(argc, argv,
                            {{"mib", "1024"},
                             {"repetitions", "5"},
                             {"steps", "2000"},
                             {"reads", "128"},
                             {"directory", "."},
                             {"json", ""},
                             {"sections", "saves,steps,loads,reads"},
                             {"wait", "5"}},
                            usage);
    run_all(options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "mpi_save: %s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

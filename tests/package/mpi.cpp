// SPDX-License-Identifier: MIT
// A user's program that needs cairn::mpi. Runs as one rank without mpiexec.
#include <cairn/checkpointer.hpp>
#include <cairn/group/mpi.hpp>

#include <vector>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  bool is_restored = false;
  {
    cairn::checkpointer checkpoints(arguments[1], {}, cairn::mpi::group(MPI_COMM_WORLD));
    std::vector<float> state{1, 2, 3};
    checkpoints.save(state, {.step = 1});
    std::vector<float> again;
    is_restored = checkpoints.restore(again) && again == state;
  }
  MPI_Finalize();
  return is_restored ? 0 : 1;
}

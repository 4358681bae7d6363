// SPDX-License-Identifier: MIT
// MPI-IO: one file, a collective write of all parts from where they are in memory.
#include <climits>
#include <stdexcept>
#include <vector>

#include "mpi_save/way.hpp"

namespace bench {
namespace {

class datatype {
 public:
  datatype(const std::vector<int>& lengths, const std::vector<MPI_Aint>& at) {
    check_mpi(MPI_Type_create_hindexed(static_cast<int>(at.size()), lengths.data(), at.data(), MPI_BYTE, &made_),
              "MPI_Type_create_hindexed");
    check_mpi(MPI_Type_commit(&made_), "MPI_Type_commit");
  }
  datatype(const datatype&) = delete;
  datatype& operator=(const datatype&) = delete;
  ~datatype() { MPI_Type_free(&made_); }
  [[nodiscard]] MPI_Datatype get() const noexcept { return made_; }

 private:
  MPI_Datatype made_ = MPI_DATATYPE_NULL;
};

bool is_one_range(const share& what) {
  for (std::size_t i = 1; i < what.pieces.size(); ++i)
    if (what.pieces[i].offset != what.pieces[i - 1].offset + what.pieces[i - 1].bytes) return false;
  return true;
}

void save(const world& ranks, const share& part, const std::string& path, bool durable) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> memory, places;
  for (const auto& each : part.pieces) {
    if (each.bytes > INT_MAX) throw std::runtime_error("an array is too large for one datatype");
    lengths.push_back(static_cast<int>(each.bytes));
    MPI_Aint at = 0;
    MPI_Get_address(each.values, &at);
    memory.push_back(at);
    places.push_back(static_cast<MPI_Aint>(each.offset));
  }
  const datatype from(lengths, memory);
  MPI_File file = MPI_FILE_NULL;
  check_mpi(MPI_File_open(ranks.comm(), (path + "/0").c_str(), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY,
                          MPI_INFO_NULL, &file),
            "MPI_File_open");
  if (is_one_range(part)) {
    check_mpi(MPI_File_write_at_all(file, static_cast<MPI_Offset>(part.pieces.front().offset), MPI_BOTTOM, 1,
                                    from.get(), MPI_STATUS_IGNORE),
              "MPI_File_write_at_all");
  } else {
    const datatype into(lengths, places);
    check_mpi(MPI_File_set_view(file, 0, MPI_BYTE, into.get(), "native", MPI_INFO_NULL), "MPI_File_set_view");
    check_mpi(MPI_File_write_at_all(file, 0, MPI_BOTTOM, 1, from.get(), MPI_STATUS_IGNORE), "MPI_File_write_at_all");
  }
  if (durable) check_mpi(MPI_File_sync(file), "MPI_File_sync");
  check_mpi(MPI_File_close(&file), "MPI_File_close");
}

}  // namespace

way mpi_io_way(const job& of) {
  const auto save_one = [&of](const std::string& path, bool durable) { save(of.ranks, of.part, path, durable); };
  return {"MPI-IO, collective", save_one};
}

}  // namespace bench

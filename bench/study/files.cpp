// SPDX-License-Identifier: MIT
// Formats whose files are arrays one after another: an index and shards, as TensorFlow writes, and safetensors. The
// arrays are dealt to the ranks whole, the largest first.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "study/formats.hpp"
#include "study/ranks.hpp"

namespace bench::study {
namespace {

/// An array, and its place in the files.
template <class Array>
struct placed {
  std::string name;
  Array* array = nullptr;
  unsigned rank = 0;
  std::uint64_t first = 0;  ///< bytes from the first array of the file on
  std::uint32_t checksum = 0;

  [[nodiscard]] std::uint64_t bytes() const { return array->values.size() * sizeof(float); }
};

template <class Array, class Model>
std::vector<placed<Array>> deal(Model& model, unsigned ranks) {
  std::vector<placed<Array>> all;
  for_each_array(model, [&](const std::string& name, Array& each) { all.push_back({name, &each}); });
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return std::pair(all[b].bytes(), a) < std::pair(all[a].bytes(), b); });
  std::vector<std::uint64_t> used(ranks);
  for (const auto i : order) {
    const auto least = static_cast<std::size_t>(std::min_element(used.begin(), used.end()) - used.begin());
    all[i].rank = static_cast<unsigned>(least);
    all[i].first = used[least];
    used[least] += all[i].bytes();
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return std::pair(a.rank, a.first) < std::pair(b.rank, b.first); });
  return all;
}

/// A file of this process, closed at the end.
class open_file {
 public:
  open_file(const std::string& path, int flags) : path_(path), file_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (file_ < 0) throw std::runtime_error("cannot open " + path);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { ::close(file_); }

  void write(const void* bytes, std::size_t count) { all(bytes, count, ::write); }
  void read(void* bytes, std::size_t count) { all(bytes, count, ::read); }
  void skip(std::uint64_t count) {
    if (::lseek(file_, static_cast<off_t>(count), SEEK_CUR) < 0) throw std::runtime_error("cannot seek in " + path_);
  }
  void sync() {
    if (::fsync(file_) != 0) throw std::runtime_error("cannot fsync " + path_);
  }

 private:
  template <class Bytes, class Call>
  void all(Bytes* bytes, std::size_t count, const Call& call) {
    for (std::size_t done = 0; done < count;) {
      const auto at = reinterpret_cast<std::uintptr_t>(bytes) + done;
      const auto got = call(file_, reinterpret_cast<Bytes*>(at), count - done);
      if (got <= 0) throw std::runtime_error("cannot read or write " + path_);
      done += static_cast<std::size_t>(got);
    }
  }

  std::string path_;
  int file_;
};

std::uint32_t checksum_of(const model_array& array) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const unsigned char*>(array.values.data()), array.values.size() * sizeof(float)));
}

std::string shard_name(const std::string& path, unsigned rank, unsigned ranks, const char* ending) {
  char name[64];
  std::snprintf(name, sizeof name, "/model-%05u-of-%05u%s", rank, ranks, ending);
  return path + name;
}

/// Writes what `rank` has, after `header`.
template <class Array>
void write_shard(const std::string& file, std::vector<placed<Array>>& all, unsigned rank, const std::string& header,
                 bool has_checksums) {
  open_file out(file, O_WRONLY | O_CREAT | O_TRUNC);
  out.write(header.data(), header.size());
  for (auto& each : all) {
    if (each.rank != rank) continue;
    out.write(each.array->values.data(), each.bytes());
    if (has_checksums) each.checksum = checksum_of(*each.array);
  }
  out.sync();
}

// An index and shards: name, file, place, size and checksum of every array in the index, written when all shards are.

double save_shards(const std::string& path, const study_model& model, unsigned ranks) {
  auto all = deal<const model_array>(model, ranks);
  const auto name = [&](unsigned rank) { return shard_name(path, rank, ranks, ".data"); };
  const double seconds = seconds_of_ranks(ranks, [&](unsigned rank) -> std::function<void()> {
    return [&, rank] { write_shard(name(rank), all, rank, "", true); };
  });
  const auto began = std::chrono::steady_clock::now();
  std::ostringstream index;
  index << ranks << '\n';
  for (const auto& each : all)
    index << each.name << ' ' << each.rank << ' ' << each.first << ' ' << each.bytes() << ' ' << each.checksum << '\n';
  open_file out(path + "/model.index", O_WRONLY | O_CREAT | O_TRUNC);
  out.write(index.view().data(), index.view().size());
  out.sync();
  return seconds + std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void load_shards(const std::string& path, study_model& into) {
  std::ifstream index(path + "/model.index");
  unsigned ranks = 0;
  index >> ranks;
  std::vector<std::pair<std::string, std::uint32_t>> checksums;
  std::string name;
  std::uint64_t rank = 0, first = 0, bytes = 0;
  for (std::uint32_t sum = 0; index >> name >> rank >> first >> bytes >> sum;) checksums.emplace_back(name, sum);
  auto all = deal<model_array>(into, ranks);
  if (ranks == 0 || checksums.size() != all.size()) throw std::runtime_error(path + "/model.index is damaged");
  for (unsigned r = 0, i = 0; r < ranks; ++r) {
    open_file in(shard_name(path, r, ranks, ".data"), O_RDONLY);
    for (; i < all.size() && all[i].rank == r; ++i) {
      in.read(all[i].array->values.data(), all[i].bytes());
      if (checksum_of(*all[i].array) != checksums[i].second) throw std::runtime_error(all[i].name + " is damaged");
    }
  }
}

// safetensors: the length of the header, the header in JSON, the arrays. A file of each rank, as in models of several
// files.

template <class Array>
std::string header_of(const std::vector<placed<Array>>& all, unsigned rank) {
  std::string text = "{";
  for (const auto& each : all) {
    if (each.rank != rank) continue;
    text += (text.size() > 1 ? ",\"" : "\"") + each.name + "\":{\"dtype\":\"F32\",\"shape\":[";
    for (std::size_t i = 0; i < each.array->shape.size(); ++i)
      text += (i > 0 ? "," : "") + std::to_string(each.array->shape[i]);
    text +=
        "],\"data_offsets\":[" + std::to_string(each.first) + "," + std::to_string(each.first + each.bytes()) + "]}";
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const auto length = std::bit_cast<std::array<char, 8>>(std::uint64_t{text.size()});
  return std::string(length.begin(), length.end()) + text;
}

double save_safetensors(const std::string& path, const study_model& model, unsigned ranks) {
  auto all = deal<const model_array>(model, ranks);
  return seconds_of_ranks(ranks, [&](unsigned rank) -> std::function<void()> {
    return [&, rank] {
      write_shard(shard_name(path, rank, ranks, ".safetensors"), all, rank, header_of(all, rank), false);
    };
  });
}

void load_safetensors(const std::string& path, study_model& into) {
  unsigned ranks = 1;
  while (::access(shard_name(path, 0, ranks, ".safetensors").c_str(), R_OK) != 0)
    if (++ranks > 64) throw std::runtime_error("no safetensors files in " + path);
  auto all = deal<model_array>(into, ranks);
  for (unsigned r = 0, i = 0; r < ranks; ++r) {
    open_file in(shard_name(path, r, ranks, ".safetensors"), O_RDONLY);
    std::uint64_t length = 0;
    in.read(&length, sizeof length);
    in.skip(length);
    for (; i < all.size() && all[i].rank == r; ++i) in.read(all[i].array->values.data(), all[i].bytes());
  }
}

}  // namespace

std::vector<format> file_formats() {
  return {{"index_shards", "index and shards", true, save_shards, load_shards},
          {"safetensors", "safetensors", true, save_safetensors, load_safetensors}};
}

}  // namespace bench::study

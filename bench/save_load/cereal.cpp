// SPDX-License-Identifier: MIT
// cereal's binary archive over file streams; vectors of float take its block path.
#include <fstream>
#include <stdexcept>
#include <vector>

#include <cereal/archives/binary.hpp>
#include <cereal/types/vector.hpp>

#include "save_load/method.hpp"

namespace bench {

template <class Archive>
void serialize(Archive& archive, tensor& t) {
  archive(t.shape, t.values);
}

template <class Archive>
void serialize(Archive& archive, block& b) {
  for_each_tensor_of_block(b, [&](std::string_view, tensor& t) { archive(t); });
}

template <class Archive>
void serialize(Archive& archive, transformer& m) {
  archive(m.token_embedding, m.position_embedding, m.blocks, m.norm_scale, m.norm_shift);
}

template <class Archive>
void serialize(Archive& archive, training_state& s) {
  archive(s.weights, s.first_moment, s.second_moment, s.step);
}

namespace {

void save(const std::string& path, const training_state& state, bool durable) {
  {
    std::vector<char> buffer(stream_buffer_bytes);
    std::ofstream file;
    file.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    file.open(path, std::ios::binary);
    cereal::BinaryOutputArchive archive(file);
    archive(state);
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
  }
  if (durable) flush_file(path);
}

void load(const std::string& path, training_state& state) {
  std::vector<char> buffer(stream_buffer_bytes);
  std::ifstream file;
  file.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  file.open(path, std::ios::binary);
  cereal::BinaryInputArchive archive(file);
  archive(state);
}

}  // namespace

method cereal_method() { return {.name = "cereal", .save = save, .load = load}; }

}  // namespace bench

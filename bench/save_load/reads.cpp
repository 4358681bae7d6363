// A store that counts the bytes that are read from its files.
#include "save_load/reads.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"

namespace bench {
namespace {

class counting_source final : public cairn::stores::source {
 public:
  counting_source(std::unique_ptr<cairn::stores::source> file, std::shared_ptr<std::atomic<std::uint64_t>> bytes)
      : file_(std::move(file)), bytes_(std::move(bytes)) {}

  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  using source::read;
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    for (const auto& each : into) *bytes_ += each.size();
    file_->read(offset, into);
  }

 private:
  std::unique_ptr<cairn::stores::source> file_;
  std::shared_ptr<std::atomic<std::uint64_t>> bytes_;
};

class counting_directory {
 public:
  explicit counting_directory(std::string root) : files_(std::move(root), {.durable = false}) {}

  [[nodiscard]] std::uint64_t take_bytes() { return bytes_->exchange(0); }

  // What a store has (cairn/store/base.hpp).
  [[nodiscard]] std::string location() const { return files_.location(); }
  [[nodiscard]] cairn::stores::ownership lock() { return files_.lock(); }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) { return files_.begin(name); }
  [[nodiscard]] std::vector<std::string> list() const { return files_.list(); }
  [[nodiscard]] std::vector<std::string> files(std::string_view name) const { return files_.files(name); }
  [[nodiscard]] std::unique_ptr<cairn::stores::source> open(std::string_view name, std::string_view file) const {
    return std::make_unique<counting_source>(files_.open(name, file), bytes_);
  }
  void remove(std::string_view name) { files_.remove(name); }

 private:
  cairn::stores::directory files_;
  std::shared_ptr<std::atomic<std::uint64_t>> bytes_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// One in ten paths, others for each draw.
bool is_drawn(std::string_view path, unsigned draw) {
  std::uint64_t hash = 14695981039346656037U + draw;  // FNV-1a
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return (hash >> 32U) % 10 == 0;
}

}  // namespace

reads_result measure_reads(const std::string& dir, training_state& state) {
  counting_directory files(dir);
  {
    cairn::any_store store = files;
    cairn::save(store, "c", state, {.codecs = {{"*", cairn::codecs::raw{}}}});
  }
  const auto read_over_needed = [&](const auto& filter) {
    cairn::load_options options;
    options.strict = false;
    options.verify_first = false;
    options.filter = filter;
    static_cast<void>(files.take_bytes());
    const auto loaded = cairn::load(cairn::any_store(files), "c", state, options);
    return static_cast<double>(files.take_bytes()) / static_cast<double>(loaded.bytes);
  };
  reads_result result;
  result.subtree = read_over_needed([](std::string_view path) { return path.starts_with("weights."); });
  constexpr unsigned draws = 5;
  for (unsigned draw = 0; draw < draws; ++draw)
    result.tenth += read_over_needed([draw](std::string_view path) { return is_drawn(path, draw); }) / draws;
  std::filesystem::remove_all(dir);
  return result;
}

}  // namespace bench

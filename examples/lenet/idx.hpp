// SPDX-License-Identifier: MIT
// Reads the idx files of the MNIST family, gzipped or not.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataset.hpp"

namespace lenet {

/// A file as a stream of bytes. zlib also reads files that are not gzipped.
class idx_file {
 public:
  explicit idx_file(const std::filesystem::path& path)
      : path_(path.string()), file_(gzopen(path.c_str(), "rb")) {
    if (!file_) fail("cannot be opened");
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(path_ + ": " + why);
  }

  /// Appends up to `count` bytes, and returns how many there were. The buffer grows as
  /// bytes are read, so that a wrong size in a header does not allocate memory.
  std::size_t read(std::vector<std::uint8_t>& bytes, std::uint64_t count) {
    std::size_t total = 0;
    while (total < count) {
      const auto chunk =
          static_cast<std::size_t>(std::min<std::uint64_t>(count - total, 1U << 20));
      const auto before = bytes.size();
      bytes.resize(before + chunk);
      const int got =
          gzread(file_.get(), bytes.data() + before, static_cast<unsigned>(chunk));
      bytes.resize(before + static_cast<std::size_t>(std::max(got, 0)));
      int code = Z_OK;
      const char* const message = gzerror(file_.get(), &code);
      if (got < 0 || code == Z_BUF_ERROR) fail(std::string("is damaged: ") + message);
      total += static_cast<std::size_t>(got);
      if (got == 0) break;
    }
    return total;
  }

  /// Big-endian, as everything in an idx file.
  std::uint32_t number() {
    std::vector<std::uint8_t> b;
    if (read(b, 4) != 4) fail("ends within its header");
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 |
           std::uint32_t{b[2]} << 8 | b[3];
  }

  /// The rest of the file, which must be exactly `count` items of `item_bytes` bytes.
  std::vector<std::uint8_t> body(std::uint64_t count, std::uint64_t item_bytes) {
    std::vector<std::uint8_t> bytes;
    const auto got = read(bytes, count * item_bytes);
    if (got != count * item_bytes) {
      fail("should hold " + std::to_string(count) + " items, but ends after " +
           std::to_string(got / item_bytes));
    }
    std::vector<std::uint8_t> more;
    if (read(more, 1) != 0)
      fail("goes on after its " + std::to_string(count) + " items");
    return bytes;
  }

 private:
  struct closer {
    void operator()(gzFile file) const noexcept { gzclose(file); }
  };
  std::string path_;
  std::unique_ptr<gzFile_s, closer> file_;
};

/// Images of `images_path` with the labels of `labels_path`. Throws std::runtime_error,
/// which names the file and the error.
[[nodiscard]] inline dataset read_idx(const std::filesystem::path& images_path,
                                      const std::filesystem::path& labels_path) {
  idx_file images(images_path);
  if (images.number() != 0x803)
    images.fail("is no idx file of images (it must begin with 00 00 08 03)");
  const std::uint64_t count = images.number();
  const std::uint64_t height = images.number(), width = images.number();
  if (height != image_side || width != image_side) {
    images.fail("holds images of " + std::to_string(height) + " x " +
                std::to_string(width) + ", not 28 x 28");
  }
  if (count == 0) images.fail("holds no images");

  idx_file labels(labels_path);
  if (labels.number() != 0x801)
    labels.fail("is no idx file of labels (it must begin with 00 00 08 01)");
  if (const auto n = labels.number(); n != count) {
    labels.fail("holds " + std::to_string(n) + " labels, but there are " +
                std::to_string(count) + " images");
  }

  dataset read{images.body(count, image_pixels), labels.body(count, 1)};
  for (const auto label : read.labels) {
    if (label > 9)
      labels.fail("holds the label " + std::to_string(label) + "; digits are 0 to 9");
  }
  return read;
}

/// The four files of MNIST, by their usual names, with or without ".gz"; the first
/// `limit` images of each set.
[[nodiscard]] inline digits read_digits(const std::filesystem::path& folder,
                                        std::size_t limit) {
  const auto find = [&](const char* name) {
    const auto plain = folder / name;
    auto gzipped = plain;
    gzipped += ".gz";
    return exists(plain) ? plain : gzipped;
  };
  digits read{
      read_idx(find("train-images-idx3-ubyte"), find("train-labels-idx1-ubyte")),
      read_idx(find("t10k-images-idx3-ubyte"), find("t10k-labels-idx1-ubyte"))};
  read.train.limit(limit);
  read.test.limit(limit);
  return read;
}

}  // namespace lenet

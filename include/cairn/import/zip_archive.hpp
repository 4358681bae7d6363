// SPDX-License-Identifier: MIT
// The files in a zip archive, by libzip.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <zip.h>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// An archive that is open for reading, which may be damaged or hostile. Of the format zip64, too; compressed by deflate, or not.
class zip_archive {
 public:
  struct entry {
    std::string name;
    std::uint64_t index = 0;
    std::uint64_t bytes = 0;  ///< as the archive says; `read` checks it
  };

  /// errc::not_found, errc::io; errc::corrupt for what is no archive.
  explicit zip_archive(const std::string& path) : path_(path) {
    int code = 0;
    open_.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
    if (!open_) {
      zip_error_t cause;
      zip_error_init_with_code(&cause, code);
      const std::string text = zip_error_strerror(&cause);
      zip_error_fini(&cause);
      const bool is_system = code == ZIP_ER_OPEN || code == ZIP_ER_READ || code == ZIP_ER_SEEK;
      fail(code == ZIP_ER_NOENT ? errc::not_found
           : is_system          ? errc::io
                                : errc::corrupt,
           {path, " cannot be opened as a zip archive: ", text});
    }
    const auto count = zip_get_num_entries(open_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      zip_stat_t about;
      zip_stat_init(&about);
      const auto index = static_cast<std::uint64_t>(i);
      if (zip_stat_index(open_.get(), index, 0, &about) != 0 || (about.valid & ZIP_STAT_NAME) == 0 ||
          (about.valid & ZIP_STAT_SIZE) == 0)
        fail(errc::corrupt, {path, ": entry ", index, " of the archive has no name or size"});
      entries_.push_back({about.name, index, about.size});
    }
  }

  [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// The whole entry, whose checksum is compared. `into` has its size. `check` is called before each part of at most
  /// 16 MiB. errc::corrupt; errc::unsupported for other compressions and encryption.
  void read(const entry& from, std::span<std::byte> into, const std::function<void()>& check = {}) const {
    const std::unique_ptr<zip_file_t, void (*)(zip_file_t*)> file(
        zip_fopen_index(open_.get(), from.index, 0), [](zip_file_t* each) { static_cast<void>(zip_fclose(each)); });
    if (!file) {
      const auto code = zip_error_code_zip(zip_get_error(open_.get()));
      if (code == ZIP_ER_COMPNOTSUPP || code == ZIP_ER_ENCRNOTSUPP || code == ZIP_ER_NOPASSWD)
        fail(errc::unsupported, {path_, ": \"", from.name,
                                 "\" in the archive is compressed by another method than deflate, or encrypted"});
      damaged(from, zip_strerror(open_.get()));
    }
    std::byte more{};  // reading past the end lets libzip compare the checksum
    for (std::size_t done = 0;;) {
      const bool is_full = done == into.size();
      if (check) check();
      const auto part = std::min(into.size() - done, std::size_t{16} << 20U);
      const auto got = is_full ? zip_fread(file.get(), &more, 1) : zip_fread(file.get(), into.data() + done, part);
      if (got < 0) damaged(from, zip_file_strerror(file.get()));
      if (is_full && got != 0) damaged(from, "it is longer than the archive says");
      if (is_full) return;
      if (got == 0) damaged(from, "it is shorter than the archive says");
      done += static_cast<std::size_t>(got);
    }
  }

 private:
  [[noreturn]] void damaged(const entry& what, const char* why) const {
    fail(errc::corrupt, {path_, ": \"", what.name, "\" in the archive cannot be read: ", why});
  }

  std::string path_;
  std::unique_ptr<zip_t, void (*)(zip_t*)> open_{nullptr, zip_discard};
  std::vector<entry> entries_;
};

}  // namespace cairn::inline v0_1::detail

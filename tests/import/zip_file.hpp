// SPDX-License-Identifier: MIT
// Writes zip archives, for tests.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zip.h>

/// Files by their names; `is_compressed`: by deflate.
inline void write_zip(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files,
                      bool is_compressed = false) {
  int code = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (archive == nullptr) throw std::runtime_error("no archive");
  for (const auto& [name, bytes] : files) {
    auto* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const auto index = zip_file_add(archive, name.c_str(), source, 0);
    if (index < 0) throw std::runtime_error("no file in the archive");
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), is_compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                             0);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("the archive is not written");
}

/// A zip file as torch.save writes it.
inline void write_torch(const std::string& path, const std::string& values,
                        std::vector<std::pair<std::string, std::string>> files) {
  files.insert(files.begin(), {"archive/data.pkl", "\x80\x02" + values + "."});
  files.emplace_back("archive/version", "3\n");
  write_zip(path, files);
}

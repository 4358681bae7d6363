// SPDX-License-Identifier: MIT
// Reads the arrays in a file of numpy, PyTorch or safetensors, or in a directory of safetensors files, into memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/arrays.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/import/import_memory.hpp"
#include "cairn/import/npy.hpp"
#include "cairn/import/torch_pickle.hpp"
#include "cairn/import/zip_archive.hpp"
#include "cairn/inspect.hpp"
#include "cairn/store/file_source.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/paths.hpp"

namespace cairn::inline v0_1::detail {

/// Reads the arrays of a file into memory, under the names that they get.
class array_importer {
 public:
  using filter = std::function<bool(std::string_view name)>;
  using renaming = std::function<std::string(std::string_view name)>;

  /// Each may be empty, and has to stay. `check` is called often; what it throws ends the import.
  array_importer(const filter& is_chosen, const renaming& rename, const std::function<void()>& check)
      : is_chosen_(is_chosen), rename_(rename), check_(check) {}

  /// Reads a file of any known format, or a directory of safetensors files.
  void read(const std::string& path) {
    if (is_directory(path)) return read_directory(path);
    if (path.ends_with(index_suffix)) return read_indexed(path);
    const auto begin = first_bytes(path);
    if (begin.starts_with("\x93NUMPY")) return read_npy(path);
    if (begin.starts_with("PK")) return read_zip(path);
    if (begin.starts_with('\x80'))
      fail(errc::unsupported,
           {path, " is a pickle of PyTorch before 1.6, or of Python: load it and save it with a newer PyTorch"});
    read_safetensors(path);
  }

  [[nodiscard]] const std::vector<named_array>& arrays() const noexcept { return arrays_; }
  [[nodiscard]] std::vector<std::string>& skipped() noexcept { return skipped_; }

 private:
  static constexpr std::string_view index_suffix = ".safetensors.index.json";
  static constexpr std::uint64_t max_text = 64U << 20U;  // of a pickle or an index
  static constexpr std::size_t part_bytes = 16U << 20U;  // that are read between two calls of `check_`

  [[nodiscard]] std::string first_bytes(const std::string& path) {
    const auto source = stores::detail::open_file(path);
    taken_.add_file(source->size());
    return stores::read_text(*source, 0, std::min<std::uint64_t>(source->size(), 6));
  }

  [[nodiscard]] bool is_chosen(const std::string& name) const { return !is_chosen_ || is_chosen_(name); }
  /// The name of an array in the checkpoint.
  [[nodiscard]] std::string new_name(const std::string& name) const { return rename_ ? rename_(name) : name; }

  /// Its bytes are counted in `taken_` before.
  [[nodiscard]] std::span<std::byte> new_memory(std::uint64_t bytes) {
    if (check_) check_();
    const auto size = static_cast<std::size_t>(bytes);
    return {memory_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get(), size};
  }

  [[nodiscard]] std::string text_of(const zip_archive& archive, const zip_archive::entry& entry) {
    if (entry.bytes > max_text)
      fail(errc::unsupported, {archive.path(), ": \"", entry.name, "\" has more than 64 MiB"});
    taken_.take(entry.bytes, archive.path());
    std::string text(static_cast<std::size_t>(entry.bytes), '\0');
    archive.read(entry, std::as_writable_bytes(std::span(text)));
    return text;
  }

  static void require_booleans(std::span<const std::byte> values, std::string_view origin) {
    if (std::any_of(values.begin(), values.end(), [](std::byte each) { return each > std::byte{1}; }))
      fail(errc::corrupt, {origin, " has a boolean that is neither 0 nor 1"});
  }

  // .npy and .npz

  void add_npy(std::string name, std::span<std::byte> file, std::string_view origin) {
    const auto header = read_npy_header(file, origin);
    const auto elements = file.subspan(header.data_start);
    const auto width = size_of(header.type);
    const auto count = element_count(header.shape);
    if (!is_addressable(header.shape, width) || count * width != elements.size())
      fail(errc::corrupt, {origin, ": ", elements.size(), " bytes of elements are there, and an array of ",
                           cairn::name(header.type), " of shape ", to_string(header.shape), " has another number"});
    std::memmove(file.data(), elements.data(), elements.size());  // to where they are aligned
    if (header.type == dtype::boolean) require_booleans(file.first(elements.size()), origin);
    auto& made = arrays_.emplace_back(named_array{std::move(name), header.type, header.shape, file.data()});
    auto stride = static_cast<std::int64_t>(width);
    for (std::size_t i = 0; header.is_column_major && count != 0 && i < header.shape.size(); ++i) {
      made.strides.push_back(stride);
      stride *= static_cast<std::int64_t>(header.shape[i]);
    }
  }

  void read_npy(const std::string& path) {
    if (!is_chosen("array")) return;
    const auto source = stores::detail::open_file(path);
    taken_.take(source->size(), path);
    const auto bytes = new_memory(source->size());
    for (std::size_t done = 0; done < bytes.size(); done += part_bytes) {
      if (check_) check_();
      source->read(done, bytes.subspan(done, std::min(part_bytes, bytes.size() - done)));
    }
    add_npy(new_name("array"), bytes, path);
  }

  void read_npz(const zip_archive& archive) {
    constexpr std::string_view suffix = ".npy";
    std::vector<const zip_archive::entry*> chosen;
    for (const auto& entry : archive.entries()) {
      const bool is_array = entry.name.ends_with(suffix);
      const auto name = is_array ? entry.name.substr(0, entry.name.size() - suffix.size()) : entry.name;
      if (!is_chosen(name)) continue;
      if (!is_array) {
        skipped_.push_back(name);
        continue;
      }
      taken_.take(entry.bytes, archive.path());
      chosen.push_back(&entry);
    }
    for (const auto* entry : chosen) {
      const auto bytes = new_memory(entry->bytes);
      archive.read(*entry, bytes, check_);
      add_npy(new_name(entry->name.substr(0, entry->name.size() - suffix.size())), bytes,
              sentence({archive.path(), ": \"", entry->name, "\""}));
    }
  }

  // PyTorch: a folder with data.pkl, and the storages data/0, data/1, ...

  struct storage {
    const zip_archive::entry* stored = nullptr;
    bool is_needed = false;
    std::span<std::byte> bytes{};  // once it is read
  };

  void read_zip(const std::string& path) {
    const zip_archive archive(path);
    for (const auto& entry : archive.entries())
      if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl")) return read_torch(archive, entry);
    read_npz(archive);
  }

  void read_torch(const zip_archive& archive, const zip_archive::entry& pickle) {
    const auto folder = pickle.name.substr(0, pickle.name.size() - std::string_view("data.pkl").size());
    std::map<std::string, storage> storages;
    for (const auto& entry : archive.entries()) {
      if (entry.name.starts_with(folder + "data/")) storages[entry.name.substr(folder.size() + 5)].stored = &entry;
      if (entry.name.starts_with(folder + "code/"))
        fail(errc::unsupported,
             {archive.path(),
              " is of TorchScript, as torch::save of C++ writes it: load it with libtorch, and save what it "
              "was loaded into"});
      if (entry.name == folder + "byteorder" && text_of(archive, entry) != "little")
        fail(errc::unsupported, {archive.path(), " is of a machine with another byte order"});
    }
    const auto text = text_of(archive, pickle);
    const auto origin = sentence({archive.path(), ": \"", pickle.name, "\""});
    auto found = torch_pickle(std::as_bytes(std::span(text)), origin, taken_).read([&](const std::string& name) {
      return is_chosen(name);
    });
    skipped_ = std::move(found.skipped);
    std::vector<storage*> storage_of;  // of each array; null: a number
    auto taken_by_elements = taken_;   // of shared and expanded tensors more than their storages have
    for (const auto& array : found.arrays) {
      auto& from = storage_of.emplace_back();
      if (!array.storage) continue;
      const auto at = storages.find(*array.storage);
      if (at == storages.end())
        fail(errc::corrupt, {origin, ": the storage \"", *array.storage, "\" of \"", array.name, "\" is missing"});
      from = &at->second;
      if (from->stored->bytes / size_of(array.type) < array.storage_elements)
        fail(errc::corrupt, {origin, ": the storage \"", *array.storage, "\" of \"", array.name, "\" is too short"});
      if (!std::exchange(from->is_needed, true)) taken_.take(from->stored->bytes, origin);
      taken_by_elements.take(element_count(array.shape) * size_of(array.type), origin);
    }
    for (std::size_t i = 0; i < found.arrays.size(); ++i)
      if (const auto& array = found.arrays[i]; auto* const from = storage_of[i]) {
        if (from->bytes.data() == nullptr) {
          from->bytes = new_memory(from->stored->bytes);
          archive.read(*from->stored, from->bytes, check_);
        }
        if (array.type == dtype::boolean) require_booleans(from->bytes, origin);
        add_tensor(array, from->bytes);
      } else {
        add_number(array);
      }
  }

  void add_number(const pickled_array& of) {
    const auto bytes = new_memory(sizeof of.number);
    std::memcpy(bytes.data(), &of.number, sizeof of.number);  // little-endian: a boolean is the first byte
    arrays_.push_back({new_name(of.name), of.type, {}, bytes.data()});
  }

  void add_tensor(const pickled_array& of, std::span<const std::byte> from) {
    const auto width = size_of(of.type);
    auto& made =
        arrays_.emplace_back(named_array{new_name(of.name), of.type, of.shape, from.data() + of.first * width});
    for (const auto stride : of.strides) made.strides.push_back(static_cast<std::int64_t>(stride * width));
  }

  // safetensors

  void read_directory(const std::string& path) {
    const auto index = path + "/model.safetensors.index.json", file = path + "/model.safetensors";
    if (is_file(index) || is_file(file)) return read(is_file(index) ? index : file);
    fail(errc::not_found, {"the directory ", path, " has neither model.safetensors nor model.safetensors.index.json"});
  }

  void read_indexed(const std::string& index) {
    const auto source = stores::detail::open_file(index);
    if (source->size() > max_text) fail(errc::unsupported, {index, " has more than 64 MiB"});
    const auto text = stores::read_text(*source, 0, source->size());
    std::map<std::string, std::string> file_of;  // of each array
    std::string* last = nullptr;
    auto names = json_map(json_text([&](const json_value& file) { *last = file.text; }),
                          [&](std::string_view name) { return make_member(file_of, name, last); });
    auto root = json_object({{"weight_map", std::move(names)}});
    root.others = std::make_shared<json_form>();
    root.add = [](std::string_view) { return true; };
    read_json(text, index, root);
    std::map<std::string_view, std::vector<std::string_view>> arrays_of;  // of each file
    for (const auto& [name, file] : file_of) {
      if (file.empty() || file == "." || file == ".." || file.find('/') != file.npos || file.find('\0') != file.npos)
        fail(errc::corrupt,
             {index, ": \"", name, "\" is in \"", file, "\", which is no name of a file beside the index"});
      arrays_of[file].push_back(name);
    }
    for (const auto& [name, arrays] : arrays_of) {
      const auto file = index.substr(0, index.rfind('/') + 1).append(name);
      static_cast<void>(first_bytes(file));
      const auto from = open(file);
      for (const auto each : arrays) add_from(from, from.tensor(each));
    }
  }

  void read_safetensors(const std::string& path) {
    const auto from = open(path);
    for (const auto& tensor : from.tensors()) add_from(from, tensor);
  }

  void add_from(const checkpoint& file, const tensor_info& tensor) {
    if (!is_chosen(tensor.name)) return;
    taken_.take(tensor.bytes, file.path());
    const auto bytes = new_memory(tensor.bytes);
    file.read(tensor.name, bytes);
    arrays_.push_back({new_name(tensor.name), tensor.type, tensor.shape, bytes.data()});
  }

  const filter& is_chosen_;
  const renaming& rename_;
  const std::function<void()>& check_;
  import_memory taken_;
  std::vector<named_array> arrays_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::string> skipped_;
};

}  // namespace cairn::inline v0_1::detail

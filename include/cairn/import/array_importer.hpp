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
#include "cairn/import/npy.hpp"
#include "cairn/import/torch_pickle.hpp"
#include "cairn/import/zip_archive.hpp"
#include "cairn/inspect.hpp"
#include "cairn/store/file_source.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/paths.hpp"

namespace cairn::inline v0_1::detail {

/// Reads the arrays of a file into memory, under the names that they get.
class array_importer {
 public:
  using filter = std::function<bool(std::string_view name)>;
  using renaming = std::function<std::string(std::string_view name)>;

  /// Both may be empty, and have to stay.
  array_importer(const filter& is_chosen, const renaming& rename) : is_chosen_(is_chosen), rename_(rename) {}

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

  [[nodiscard]] static std::string first_bytes(const std::string& path) {
    const auto source = stores::detail::open_file(path);
    return stores::read_text(*source, 0, std::min<std::uint64_t>(source->size(), 6));
  }

  [[nodiscard]] bool is_chosen(const std::string& name) const { return !is_chosen_ || is_chosen_(name); }
  /// The name of an array in the checkpoint.
  [[nodiscard]] std::string new_name(const std::string& name) const { return rename_ ? rename_(name) : name; }

  [[nodiscard]] std::span<std::byte> new_memory(std::uint64_t bytes, std::string_view what) {
    bytes_ += std::min(bytes, std::uint64_t{1} << 62U);
    require_memory(bytes_, what);
    const auto size = static_cast<std::size_t>(bytes);
    return {memory_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get(), size};
  }

  [[nodiscard]] static std::string text_of(const zip_archive& archive, const zip_archive::entry& entry) {
    if (entry.bytes > max_text)
      fail(errc::unsupported, {archive.path(), ": \"", entry.name, "\" has more than 64 MiB"});
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
    const auto bytes = new_memory(source->size(), path);
    source->read(0, bytes);
    add_npy(new_name("array"), bytes, path);
  }

  void read_npz(const zip_archive& archive) {
    for (const auto& entry : archive.entries()) {
      constexpr std::string_view suffix = ".npy";
      const bool is_array = entry.name.ends_with(suffix);
      const auto name = is_array ? entry.name.substr(0, entry.name.size() - suffix.size()) : entry.name;
      if (!is_chosen(name)) continue;
      if (!is_array) {
        skipped_.push_back(name);
        continue;
      }
      const auto origin = sentence({archive.path(), ": \"", entry.name, "\""});
      const auto bytes = new_memory(entry.bytes, origin);
      archive.read(entry, bytes);
      add_npy(new_name(name), bytes, origin);
    }
  }

  // PyTorch: a folder with data.pkl, and the storages data/0, data/1, ...

  void read_zip(const std::string& path) {
    const zip_archive archive(path);
    for (const auto& entry : archive.entries())
      if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl")) return read_torch(archive, entry);
    read_npz(archive);
  }

  void read_torch(const zip_archive& archive, const zip_archive::entry& pickle) {
    const auto folder = pickle.name.substr(0, pickle.name.size() - std::string_view("data.pkl").size());
    std::map<std::string, const zip_archive::entry*> storages;
    for (const auto& entry : archive.entries()) {
      if (entry.name.starts_with(folder + "data/")) storages[entry.name.substr(folder.size() + 5)] = &entry;
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
    auto found = torch_pickle(std::as_bytes(std::span(text)), origin).read([&](const std::string& name) {
      return is_chosen(name);
    });
    skipped_ = std::move(found.skipped);
    std::map<std::string, std::span<const std::byte>> read;
    for (const auto& array : found.arrays) {
      const auto name = new_name(array.name);
      if (!array.storage) {
        add_number(name, array);
        continue;
      }
      const auto storage = storages.find(*array.storage);
      if (storage == storages.end())
        fail(errc::corrupt, {origin, ": the storage \"", *array.storage, "\" of \"", array.name, "\" is missing"});
      if (storage->second->bytes / size_of(array.type) < array.storage_elements)
        fail(errc::corrupt, {origin, ": the storage \"", *array.storage, "\" of \"", array.name, "\" is too short"});
      auto& bytes = read[*array.storage];
      if (bytes.data() == nullptr) {
        const auto made = new_memory(storage->second->bytes, origin);
        archive.read(*storage->second, made);
        bytes = made;
      }
      if (array.type == dtype::boolean) require_booleans(bytes, origin);
      add_tensor(name, array, bytes);
    }
  }

  void add_number(const std::string& name, const pickled_array& of) {
    const auto bytes = new_memory(sizeof of.number, name);
    std::memcpy(bytes.data(), &of.number, sizeof of.number);  // little-endian: a boolean is the first byte
    arrays_.push_back({name, of.type, {}, bytes.data()});
  }

  void add_tensor(const std::string& name, const pickled_array& of, std::span<const std::byte> storage) {
    const auto width = size_of(of.type);
    require_memory(element_count(of.shape) * width, name);  // a tensor with strides of 0 is larger than its storage
    auto& made = arrays_.emplace_back(named_array{name, of.type, of.shape, storage.data() + of.first * width});
    for (const auto stride : of.strides) made.strides.push_back(static_cast<std::int64_t>(stride * width));
  }

  // safetensors

  void read_directory(const std::string& path) {
    const auto index = path + "/model.safetensors.index.json", file = path + "/model.safetensors";
    if (is_file(index)) return read_indexed(index);
    if (is_file(file)) return read_safetensors(file);
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
    for (const auto& [file, arrays] : arrays_of) {
      const auto from = open(index.substr(0, index.rfind('/') + 1).append(file));
      for (const auto name : arrays) add_from(from, from.tensor(name));
    }
  }

  void read_safetensors(const std::string& path) {
    const auto from = open(path);
    for (const auto& tensor : from.tensors()) add_from(from, tensor);
  }

  void add_from(const checkpoint& file, const tensor_info& tensor) {
    if (!is_chosen(tensor.name)) return;
    const auto bytes = new_memory(tensor.bytes, tensor.name);
    file.read(tensor.name, bytes);
    arrays_.push_back({new_name(tensor.name), tensor.type, tensor.shape, bytes.data()});
  }

  const filter& is_chosen_;
  const renaming& rename_;
  std::vector<named_array> arrays_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::uint64_t bytes_ = 0;  // of memory_
  std::vector<std::string> skipped_;
};

}  // namespace cairn::inline v0_1::detail

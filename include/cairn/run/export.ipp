// Definitions of export.hpp.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "cairn/chain/reader.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/core/error.hpp"
#include "cairn/export.hpp"
#include "cairn/run/export_plan.hpp"
#include "cairn/run/inspect.ipp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/hidden_name.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/paths.hpp"
#include "cairn/system/posix.hpp"

namespace cairn {
namespace detail {

/// New files in a directory, under hidden names until `publish`. What is not published is removed.
class new_files {
 public:
  new_files(const std::string& directory, bool durable)
      : directory_(directory), durable_(durable), fd_(posix::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY)) {
    if (!fd_) fail_io("open the directory", directory);
  }
  new_files(const new_files&) = delete;
  new_files& operator=(const new_files&) = delete;
  ~new_files() {
    for (const auto& each : made_)
      if (!each.hidden.empty()) ::unlinkat(fd_.get(), each.hidden.c_str(), 0);
  }

  [[nodiscard]] std::string path_of(std::string_view name) const { return sentence({directory_, "/", name}); }

  /// A file that is called `name` after `publish`. The caller calls `finish`.
  [[nodiscard]] stores::detail::file_sink make(const std::string& name, std::uint64_t bytes) {
    using namespace stores::detail;
    made_.push_back({hidden_name(temporary_prefix, name, new_attempt("", "")), name});
    return {fd_.get(), made_.back().hidden, path_of(name), bytes, durable_ ? file_mode::synced : file_mode::cached};
  }

  /// Gives the files their names, in the order in which they were made.
  void publish() {
    for (auto& each : made_) {
      if (::renameat(fd_.get(), each.hidden.c_str(), fd_.get(), each.name.c_str()) != 0)
        fail_io("rename a new file to", path_of(each.name));
      each.hidden.clear();
    }
    sync();
  }

  /// Removes the files that `is_old` names.
  template <class Is>
  void remove(const Is& is_old) {
    for (const auto& name : posix::entries(fd_.get(), directory_))
      if (is_old(name) && ::unlinkat(fd_.get(), name.c_str(), 0) != 0 && errno != ENOENT)
        fail_io("remove", path_of(name));
    sync();
  }

 private:
  struct file {
    std::string hidden, name;
  };

  void sync() const {
    if (durable_) posix::sync(fd_.get(), directory_);
  }

  std::string directory_;
  bool durable_;
  posix::descriptor fd_;
  std::vector<file> made_;
};

/// Writes the header, and reads and writes the arrays in groups.
inline void write_exported(const chain_reader& from, const exported_file_plan& plan, std::string_view header,
                           const export_options& options, stores::detail::file_sink& file) {
  constexpr std::uint64_t group_bytes = std::uint64_t{64} << 20U;
  const auto write = [&](std::uint64_t at, std::span<const std::byte> bytes) {
    const std::span<const std::byte> one[] = {bytes};
    file.write(at, one);
  };
  write(0, std::as_bytes(std::span(header)));
  const auto& tensors = plan.header.tensors;
  page_buffer memory;
  for (std::size_t first = 0, end = 0; first < tensors.size(); first = end) {
    const auto begin = tensors[first].begin;
    for (end = first + 1; end < tensors.size() && tensors[end].end - begin <= group_bytes;) ++end;
    const auto bytes = memory.first(tensors[end - 1].end - begin);
    std::vector<read_request> requests;
    for (std::size_t i = first; i < end; ++i) {
      const auto& tensor = tensors[i];
      requests.push_back({plan.leaves[i], {tensor.type, tensor.shape, bytes.data() + (tensor.begin - begin), {}}});
    }
    from.read(requests, {.threads = options.threads});
    write(header.size() + begin, bytes);
  }
  file.finish();
}

inline void write_exported_index(new_files& made, std::string_view text) {
  auto file = made.make(std::string(exported_index), text.size());
  const std::span<const std::byte> one[] = {std::as_bytes(std::span(text))};
  file.write(0, one);
  file.finish();
}

/// Gives the files of a directory their names. Readers look for model.safetensors first, then for the index: with several files both go before, so
/// that no reader finds parts of two exports.
inline void publish_exported(new_files& made, const std::vector<std::string>& names) {
  const bool has_parts = names.size() > 1;
  if (has_parts) made.remove([](std::string_view name) { return name == exported_file || name == exported_index; });
  made.publish();
  made.remove([&](std::string_view name) {
    if (name == exported_index) return !has_parts;
    return is_exported_part(name) && std::find(names.begin(), names.end(), name) == names.end();
  });
}

inline export_report export_safetensors(const chain_reader& from, const std::string& path,
                                        const export_options& options) {
  const bool is_one_file = path.ends_with(exported_suffix);
  std::vector<exported_file_plan> files;
  std::vector<std::string> headers;
  try {
    files = plan_export(from.contents(), options, is_one_file);
    require_usable_names(files);
    headers = exported_headers(files);
  } catch (const error& failure) {
    fail(failure.code(), {path, ": ", failure.sentence()});
  }
  const auto [parent, name] = split_path(path);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i)
    names.push_back(is_one_file         ? name
                    : files.size() == 1 ? std::string(exported_file)
                                        : exported_name(i, files.size()));
  const auto& directory = is_one_file ? parent : path;
  posix::make_directories(directory, options.durable);

  new_files made(directory, options.durable);
  made.remove([&](std::string_view entry) {
    const auto of = stores::detail::hidden_checkpoint(entry, stores::detail::temporary_prefix);
    return is_one_file ? of == name : of == exported_file || of == exported_index || is_exported_part(of);
  });
  export_report report;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto file = made.make(names[i], headers[i].size() + files[i].header.data_bytes);
    write_exported(from, files[i], headers[i], options, file);
    report.files.push_back(made.path_of(names[i]));
    report.tensors += files[i].leaves.size();
    report.bytes += files[i].header.data_bytes;
  }
  if (files.size() > 1) {
    write_exported_index(made, exported_index_of(files, names, report.bytes));
    report.files.push_back(made.path_of(exported_index));
  }
  if (is_one_file)
    made.publish();
  else
    publish_exported(made, names);
  return report;
}

}  // namespace detail

CAIRN_INLINE export_report export_safetensors(const checkpoint& from, const std::string& path,
                                              const export_options& options) {
  return detail::with_errors(sentence({from.path(), " cannot be exported to ", path}),
                             [&] { return detail::export_safetensors(from.reader(), path, options); });
}

namespace observers {

CAIRN_INLINE exporter::exporter(exporter_options options, observer next)
    : options_(std::move(options)), next_(std::move(next)) {
  if (options_.directory.empty()) fail(errc::invalid, {"an exporter needs a directory"});
  if (options_.every_steps == 0U) fail(errc::invalid, {"an exporter cannot export every 0 steps"});
}

CAIRN_INLINE void exporter::operator()(const event& what) const {
  cairn::detail::notify(next_, what);
  const bool is_due = !options_.every_steps || what.step % *options_.every_steps == 0;
  if (what.what != event::kind::published || !is_due) return;
  event made{.what = event::kind::exported, .checkpoint = what.checkpoint, .step = what.step};
  const auto began = std::chrono::steady_clock::now();
  try {
    auto path = options_.directory;
    if (options_.every_steps) path += '/' + cairn::detail::split_path(what.checkpoint).name;
    made.bytes = export_safetensors(open(what.checkpoint), path, options_.how).bytes;
    made.message = path;
  } catch (const error& failure) {
    made.what = event::kind::failed;
    made.message = failure.sentence();
  }
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  cairn::detail::notify(next_, made);
}

}  // namespace observers

}  // namespace cairn

// Small facts that saving and loading share: where a path points, and how long something takes.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

namespace cairn::detail {

/// A path's directory and the name in it: "a/b" -> {"a", "b"}, "b/" -> {".", "b"}.
struct place {
  std::string directory;
  std::string name;
};

[[nodiscard]] inline place split_path(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// As split_path, of a directory that is there: "." and ".." become its name.
[[nodiscard]] inline place split_existing(const std::string& path) {
  auto split = split_path(path);
  if (split.name != "." && split.name != "..") return split;
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? split_path(real.get()) : split;
}

[[nodiscard]] inline bool is_file(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// Seconds since it was made.
class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace cairn::detail

// SPDX-License-Identifier: MIT
// Definitions of error.hpp: errors and their sentences, texts of unknown origin, advice about files, and other
// exceptions.
#pragma once

#include <new>
#include <system_error>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1 {

error::error(errc code, const std::string& sentence)
    : std::runtime_error(prefix + detail::printable(detail::cut(sentence, most_bytes))), code_(code) {}

void sentence_part::append_to(std::string& text, std::size_t most_bytes) const {
  text += detail::cut(text_, most_bytes);
  if (number_) text += std::to_string(*number_);
}

std::string sentence(std::initializer_list<sentence_part> parts, std::size_t most_bytes) {
  std::string text;
  for (const auto& part : parts) part.append_to(text, most_bytes);
  return text;
}

void fail(errc code, std::initializer_list<sentence_part> parts) {
  throw error(code, sentence(parts, error::most_bytes / 4));
}

void fail_io(std::string_view action, std::string_view file, int number) {
  fail(errc::io, {"cannot ", action, " ", file, ": ", std::generic_category().message(number),
                  detail::io_advice(std::string(file), number)});
}

}  // namespace cairn::inline v0_1

namespace cairn::inline v0_1::detail {

[[nodiscard]] inline bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
}

std::size_t utf8_bytes(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues_character(text[i])) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool is_no_character = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return is_overlong || is_no_character ? 0 : length;
}

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t head = most / 2, tail = text.size() - most / 2;
  for (int i = 0; i < 3 && head > 0 && continues_character(text[head]); ++i) --head;
  for (int i = 0; i < 3 && tail < text.size() && continues_character(text[tail]); ++i) ++tail;
  return std::string(text.substr(0, head)) + " ... (" + std::to_string(tail - head) + " bytes) ... " +
         std::string(text.substr(tail));
}

/// Whether a terminal obeys the character, or shows nothing for it.
[[nodiscard]] inline bool is_hidden(std::uint32_t code) noexcept {
  const auto within = [&](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0xad || code == 0x34f || code == 0x61c ||
         within(0x115f, 0x1160) || within(0x180b, 0x180f) || within(0x200b, 0x200f) || within(0x2028, 0x202e) ||
         within(0x2060, 0x206f) || code == 0x3164 || within(0xfe00, 0xfe0f) || code == 0xfeff || code == 0xffa0 ||
         within(0xfff9, 0xfffb) || within(0xe0000, 0xe0fff);
}

std::string printable(std::string_view text) {
  std::string shown;
  const auto escape = [&](char kind, std::uint32_t value, unsigned digits) {
    shown += {'\\', kind};
    while (digits-- > 0) shown += "0123456789abcdef"[value >> 4 * digits & 15U];
  };
  while (!text.empty()) {
    const auto length = utf8_bytes(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    std::uint32_t code = length > 1 ? lead & (0xffU >> (length + 1)) : lead;
    for (std::size_t i = 1; i < length; ++i) code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
    if (length != 0 && !is_hidden(code))
      shown += text.substr(0, length);
    else if (length <= 1)
      escape('x', code, 2);
    else if (code <= 0xffff)
      escape('u', code, 4);
    else
      escape('U', code, 8);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

/// The directory above; empty for "/" and for a name alone.
[[nodiscard]] inline std::string above(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == path.npos || path == "/") return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string missing_advice(std::string path) {
  struct stat about{};
  std::string missing;
  for (; path.starts_with('/') && ::stat(path.c_str(), &about) != 0 && errno == ENOENT; path = above(path))
    missing = path;
  return missing.empty() ? missing : "; " + missing + " is not there";
}

std::string io_advice(std::string path, int number) {
  const auto text = [](std::uint64_t n) { return std::to_string(n); };
  if (number == EMFILE) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return "; this process may have " + text(limit.rlim_cur) + " files open: raise the limit (ulimit -n)";
  }
  struct stat about{};
  if (number == ENOTDIR || number == ELOOP) {
    while (!path.empty() && ::lstat(path.c_str(), &about) != 0) path = above(path);
    return path.empty() || S_ISDIR(about.st_mode)
               ? std::string()
               : "; " + path + " is no directory: give another path, or move it away";
  }
  if (number == EDQUOT) return "; the quota of this user, group or project is used up: quota -s shows it, or lfs quota";
  if (number != EACCES && number != EPERM && number != ENOSPC) return {};
  while (!path.empty() && ::stat(path.c_str(), &about) != 0) path = above(path);
  if (path.empty()) return {};
  if (number == ENOSPC) {
    struct statvfs disk{};
    if (::statvfs(path.c_str(), &disk) != 0) return {};
    if (disk.f_files != 0 && disk.f_favail == 0)
      return "; no inodes are free: each file needs one, so remove some files";
    return "; " + text(std::uint64_t{disk.f_bavail} * disk.f_frsize) + " bytes are free";
  }
  if (about.st_uid == ::geteuid()) return {};
  return "; " + path + " belongs to user " + text(about.st_uid) + ", and this process runs as user " +
         text(::geteuid());
}

/// Made while there is memory. A copy of an error needs none.
inline const error no_memory(errc::no_memory, "not enough memory");

error as_error(const std::exception_ptr& cause, std::initializer_list<sentence_part> what) noexcept try {
  const auto with = [&](errc code, std::string_view rest) {
    return error(code, sentence(what) + ": " + std::string(rest));
  };
  try {
    std::rethrow_exception(cause);
  } catch (const error& ours) {
    return ours;
  } catch (const std::bad_alloc&) {
    return with(errc::no_memory, "not enough memory");
  } catch (const std::system_error& other) {  // of a user's store, or a thread that cannot be started
    return with(errc::io, other.what());
  } catch (const std::exception& other) {
    return with(errc::invalid, other.what());
  } catch (...) {
    return with(errc::invalid, "something was thrown that is no std::exception");
  }
} catch (...) {
  return no_memory;
}

}  // namespace cairn::inline v0_1::detail

// Definitions of store/owner_record.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/owner_record.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::stores {

namespace detail {

inline constexpr std::string_view owner_opening = "cairn owner 1\n";

[[nodiscard]] inline std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The beginning of a file of the kernel; empty if it cannot be read.
[[nodiscard]] inline std::string read_kernel_file(const std::string& path) {
  char text[1024];
  const auto file = posix::open_at(AT_FDCWD, path, O_RDONLY);
  const auto count = file ? posix::retried([&] { return ::read(file.get(), text, sizeof text); }) : -1;
  return std::string(text, count > 0 ? static_cast<std::size_t>(count) : 0);
}

/// Field 22 of /proc/<process>/stat; 0 if there is none. Field 2, the name of the program, is in parentheses, and may hold spaces and
/// parentheses.
[[nodiscard]] inline std::uint64_t start_of(std::uint64_t process) {
  const auto text = read_kernel_file(sentence({"/proc/", process, "/stat"}));
  std::string_view rest(text);
  const auto end_of_name = rest.rfind(')');
  if (end_of_name == rest.npos) return 0;
  rest.remove_prefix(end_of_name + 1);
  for (int field = 3; field <= 22; ++field) {
    const auto space = rest.find(' ');
    if (space == rest.npos) return 0;
    rest.remove_prefix(space + 1);
  }
  return parse_number(rest.substr(0, rest.find(' '))).value_or(0);
}

[[nodiscard]] inline std::string without_newlines(std::string text) {
  std::erase(text, '\n');
  return text;
}

[[nodiscard]] inline const std::string& boot_of_this_machine() {
  static const std::string boot = without_newlines(read_kernel_file("/proc/sys/kernel/random/boot_id"));
  return boot;
}

[[nodiscard]] inline std::string machine_id(std::string_view boot, std::uint64_t device) {
  if (boot.empty()) return {};
  const auto text = sentence({boot, " ", device});
  return cairn::detail::to_hex(cairn::detail::checksum(std::as_bytes(std::span(text)))).substr(0, 8);
}

CAIRN_INLINE std::string machine_id(std::uint64_t device) { return machine_id(boot_of_this_machine(), device); }

[[nodiscard]] inline std::uint64_t namespace_of_this_process() {
  struct stat about{};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

CAIRN_INLINE owner_record owner_record::of_this_process(std::uint64_t device, scheduler_job job) {
  char host[256]{};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = 0;
  job.id = without_newlines(std::move(job.id));
  return {.host = without_newlines(host),
          .boot = boot_of_this_machine(),
          .device = device,
          .processes = namespace_of_this_process(),
          .process = static_cast<std::uint64_t>(::getpid()),
          .started = start_of(static_cast<std::uint64_t>(::getpid())),
          .job = std::move(job)};
}

CAIRN_INLINE std::string owner_record::machine() const { return machine_id(boot, device); }

CAIRN_INLINE bool owner_record::sees_end_of(const owner_record& other) const {
  const bool is_visible = !boot.empty() && boot == other.boot && processes != 0 && processes == other.processes;
  return is_visible && started != 0 && other.started != 0 && start_of(other.process) != other.started;
}

CAIRN_INLINE std::string owner_record::name_for(const owner_record& reader) const {
  const bool is_near = !boot.empty() && boot == reader.boot && host == reader.host;
  if (is_near && process == reader.process && started == reader.started) return "another object of this process";
  return sentence({"process ", process, is_near ? "" : " on host ", is_near ? "" : host});
}

CAIRN_INLINE std::string to_text(const owner_record& owner) {
  return sentence({owner_opening, "host ", owner.host, "\nboot ", owner.boot, "\ndevice ", owner.device, "\nprocesses ",
                   owner.processes, "\nprocess ", owner.process, "\nstarted ", owner.started, "\njob ", owner.job.id,
                   "\nrestarts ", owner.job.restarts, "\n"});
}

CAIRN_INLINE std::optional<owner_record> parse_owner(std::string_view text) {
  if (!text.starts_with(owner_opening)) return std::nullopt;
  text.remove_prefix(owner_opening.size());
  bool is_whole = true;
  const auto next = [&](std::string_view member) -> std::string_view {
    const auto end = text.find('\n');
    is_whole = is_whole && end != text.npos && text.starts_with(member);
    if (!is_whole) return {};
    const auto value = text.substr(member.size(), end - member.size());
    text.remove_prefix(end + 1);
    return value;
  };
  const auto next_number = [&](std::string_view member) {
    const auto value = parse_number(next(member));
    is_whole = is_whole && value.has_value();
    return value.value_or(0);
  };
  owner_record owner;
  owner.host = next("host ");
  owner.boot = next("boot ");
  owner.device = next_number("device ");
  owner.processes = next_number("processes ");
  owner.process = next_number("process ");
  owner.started = next_number("started ");
  owner.job.id = next("job ");
  owner.job.restarts = next_number("restarts ");
  constexpr std::size_t longest_name = 255;
  const auto is_text = [](const std::string& name) {
    return name.size() <= longest_name &&
           std::all_of(name.begin(), name.end(), [](unsigned char each) { return each > ' ' && each < 0x7f; });
  };
  if (!is_whole || !is_text(owner.host)) return std::nullopt;
  return owner;
}

}  // namespace detail

CAIRN_INLINE scheduler_job scheduler_job::of_environment() {
  const auto value = [](const char* name) -> std::string {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
  };
  if (auto id = value("SLURM_JOB_ID"); !id.empty())
    return {"slurm " + id, detail::parse_number(value("SLURM_RESTART_COUNT")).value_or(0)};
  if (auto id = value("TORCHELASTIC_RUN_ID"); !id.empty())
    return {"torchelastic " + id, detail::parse_number(value("TORCHELASTIC_RESTART_COUNT")).value_or(0)};
  return {};
}

}  // namespace cairn::stores

// SPDX-License-Identifier: MIT
// Definitions of store/owner_record.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <span>

#include <sys/stat.h>
#include <unistd.h>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/hidden_name.hpp"
#include "cairn/store/owner_record.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/owner_process.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores {

namespace detail {

/// 0 for other text.
[[nodiscard]] inline std::uint64_t parse_number(std::string_view text) {
  std::uint64_t value = 0;
  return cairn::detail::read_number(text, value) ? value : 0;
}

/// Field 22 of /proc/<process>/stat; 0 if there is none. Field 2, the name of the program, is in parentheses, and may
/// hold spaces and parentheses.
[[nodiscard]] inline std::uint64_t start_of(std::uint64_t process) {
  const auto text = posix::text_of(sentence({"/proc/", process, "/stat"}));
  std::string_view rest(text);
  const auto end_of_name = rest.rfind(')');
  if (end_of_name == rest.npos) return 0;
  rest.remove_prefix(end_of_name + 1);
  for (int field = 3; field <= 22; ++field) {
    const auto space = rest.find(' ');
    if (space == rest.npos) return 0;
    rest.remove_prefix(space + 1);
  }
  return parse_number(rest.substr(0, rest.find(' ')));
}

[[nodiscard]] inline const std::string& boot_of_this_machine() {
  static const std::string boot = [] {
    const auto line = posix::text_of("/proc/sys/kernel/random/boot_id");
    return line.substr(0, line.find('\n'));
  }();
  return boot;
}

[[nodiscard]] inline std::string machine_id(std::string_view boot, std::uint64_t device) {
  if (boot.empty()) return {};
  const auto text = sentence({boot, " ", device});
  return cairn::detail::to_hex(cairn::detail::checksum(std::as_bytes(std::span(text)))).substr(0, machine_digits);
}

std::string machine_id(std::uint64_t device) { return machine_id(boot_of_this_machine(), device); }

[[nodiscard]] inline std::uint64_t namespace_of_this_process() {
  struct stat about{};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/// 8 digits of a process; all zeros if it is not known.
[[nodiscard]] inline std::uint32_t process_number(std::uint64_t processes, std::uint64_t process,
                                                  std::uint64_t started) {
  if (processes == 0 || started == 0) return 0;
  const std::uint64_t all[] = {processes, process, started};
  return static_cast<std::uint32_t>(cairn::detail::checksum(std::as_bytes(std::span(all))));
}

[[nodiscard]] inline std::string process_text(std::uint32_t number) {
  return number == 0 ? std::string()
                     : cairn::detail::to_hex(number).substr(cairn::detail::checksum_digits - process_digits);
}

std::string process_id() {
  static const cairn::detail::owner_process counts_forks;
  // The number of forks before it was found out, from 1, and the process's number.
  static std::atomic<std::uint64_t> known{0};
  const std::uint64_t forks = cairn::detail::fork_generation + 1;
  auto now = known.load();
  if (now >> 32U != forks) {
    const auto process = static_cast<std::uint64_t>(::getpid());
    now = forks << 32U | process_number(namespace_of_this_process(), process, start_of(process));
    known = now;
  }
  return process_text(static_cast<std::uint32_t>(now));
}

owner_record owner_record::of_this_process(std::uint64_t device, scheduler_job job) {
  char host[256]{};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = 0;
  return {.host = host,
          .boot = boot_of_this_machine(),
          .device = device,
          .processes = namespace_of_this_process(),
          .process = static_cast<std::uint64_t>(::getpid()),
          .started = start_of(static_cast<std::uint64_t>(::getpid())),
          .random = random_number(),
          .job = std::move(job)};
}

std::string owner_record::machine() const { return machine_id(boot, device); }

std::string owner_record::writer() const {
  const auto on = machine(), id = process_text(process_number(processes, process, started));
  return on.empty() || id.empty() ? std::string() : on + id;
}

bool owner_record::sees_end_of(const owner_record& other) const {
  const bool is_visible = !boot.empty() && boot == other.boot && processes != 0 && processes == other.processes;
  return is_visible && started != 0 && other.started != 0 && start_of(other.process) != other.started;
}

std::string owner_record::name_for(const owner_record& reader) const {
  const bool is_near = !boot.empty() && boot == reader.boot && host == reader.host;
  if (is_near && process == reader.process && started == reader.started) return "another object of this process";
  return sentence({"process ", process, is_near ? "" : " on host ", is_near ? "" : host});
}

template <class Io>
void describe(Io& io, cairn::detail::described<Io, owner_record>& owner) {
  io.object([&] {
    io.line();
    io.field("host", owner.host);
    io.field("boot", owner.boot);
    io.line();
    io.field("device", owner.device);
    io.field("processes", owner.processes);
    io.line();
    io.field("process", owner.process);
    io.field("started", owner.started);
    io.line();
    io.field("random", owner.random);
    io.optional("locked", owner.is_locked);
    io.line();
    io.field("job", owner.job.id);
    io.field("restarts", owner.job.restarts);
    if constexpr (Io::reads) io.ignore_others();  // of later versions
  });
  constexpr std::size_t longest_name = 255;
  io.require(owner.host.size() <= longest_name &&
                 std::all_of(owner.host.begin(), owner.host.end(), [](char each) { return each > ' ' && each < 0x7f; }),
             "has no name of a host");
}

std::string to_text(const owner_record& owner) {
  auto valid = owner;
  valid.host = cairn::detail::to_utf8(owner.host);
  valid.job.id = cairn::detail::to_utf8(owner.job.id);
  return cairn::detail::to_json(valid);
}

std::optional<owner_record> parse_owner(std::string_view text) {
  try {
    return cairn::detail::from_json<owner_record>(text, "the owner of a lock");
  } catch (const error&) {
    return std::nullopt;
  }
}

}  // namespace detail

scheduler_job scheduler_job::of_environment() {
  const auto value = [](const char* name) -> std::string {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
  };
  if (auto id = value("SLURM_JOB_ID"); !id.empty())
    return {"slurm " + id, detail::parse_number(value("SLURM_RESTART_COUNT"))};
  if (auto id = value("TORCHELASTIC_RUN_ID"); !id.empty())
    return {"torchelastic " + id, detail::parse_number(value("TORCHELASTIC_RESTART_COUNT"))};
  return {};
}

}  // namespace cairn::inline v0_1::stores

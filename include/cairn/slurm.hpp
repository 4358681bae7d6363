// SPDX-License-Identifier: MIT
// What a job of Slurm needs: the end of its time limit, and a place of its own for each task of an array.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::slurm {

namespace detail {

/// The number in the environment variable `name`; none if it is not set. errc::invalid for other text.
[[nodiscard]] inline std::optional<std::uint32_t> number_in_environment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  const std::string_view text = value;
  std::uint32_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size())
    fail(errc::invalid, {name, " is '", text, "', no whole number below 2^32"});
  return number;
}

}  // namespace detail

/// When the job reaches its time limit, less `margin`, for `checkpointer_options::until`. From SLURM_JOB_END_TIME, in
/// seconds since 1970, which the job script sets (docs/ranks.md). None if it is not set. errc::invalid if it is no
/// number, and for a margin below 0 or longer than that.
[[nodiscard]] inline std::optional<std::chrono::system_clock::time_point> job_end(std::chrono::seconds margin = {}) {
  const auto end = detail::number_in_environment("SLURM_JOB_END_TIME");
  if (!end) return std::nullopt;
  if (margin < std::chrono::seconds(0) || margin > std::chrono::seconds(*end))
    fail(errc::invalid, {"a margin of ", margin.count(), " seconds, where SLURM_JOB_END_TIME is ", *end});
  return std::chrono::system_clock::time_point(std::chrono::seconds(*end) - margin);
}

/// `place`, or in a task of an array job the folder "task-N" in it, where N is SLURM_ARRAY_TASK_ID: the tasks are runs
/// of their own, which cannot share a place. errc::invalid if that is no number.
[[nodiscard]] inline std::string place(std::string place) {
  const auto task = detail::number_in_environment("SLURM_ARRAY_TASK_ID");
  if (!task) return place;
  if (!place.empty() && place.back() != '/') place += '/';
  return place + "task-" + std::to_string(*task);
}

}  // namespace cairn::inline v0_1::slurm

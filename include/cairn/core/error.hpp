// SPDX-License-Identifier: MIT
// The one exception of the library: a code to branch on and a sentence for people. All others are converted to it.
#pragma once

#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cairn/core/config.hpp"
#include "cairn/version.hpp"

namespace cairn::inline v0_1::detail {

/// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none.
[[nodiscard]] std::size_t utf8_bytes(std::string_view text) noexcept;

/// `text` if it has at most `most` bytes; else its beginning and its end, and how many bytes are left out between them.
[[nodiscard]] std::string cut(std::string_view text, std::size_t most);

/// `text` in one line. Escapes control characters, bytes that are not UTF-8, and characters that are invisible or
/// change the direction of writing, for example as \x1b or \u202e. What is printable stays as it is, backslashes too.
[[nodiscard]] std::string printable(std::string_view text);

/// "; /data/rnus is not there": the highest directory of an absolute path that is missing. Empty if the path is there,
/// and for the location of a store that is no directory.
[[nodiscard]] std::string missing_advice(std::string path);

/// A text for an errno value that `path` has given: the owner of the path that denies access, how many bytes a full
/// disk has free or that it has no inodes, a quota, which limit is too low, what is in the way of a directory. Begins
/// with "; ", and is empty where there is nothing to say.
[[nodiscard]] std::string io_advice(std::string path, int number);

}  // namespace cairn::inline v0_1::detail

#if defined(_GLIBCXX_DEBUG)  // which changes the layout of containers
#define CAIRN_LINK_CHECK_NAME(major, minor, patch) \
  cairn_##major##_##minor##_##patch##_with_GLIBCXX_DEBUG_is_missing_compile_all_with_it_or_nothing
#else
#define CAIRN_LINK_CHECK_NAME(major, minor, patch) \
  cairn_##major##_##minor##_##patch##_is_missing_link_it_or_include_cairn_implementation_hpp_in_one_cpp_file
#endif
#define CAIRN_LINK_CHECK_OF(major, minor, patch) CAIRN_LINK_CHECK_NAME(major, minor, patch)
#define CAIRN_LINK_CHECK CAIRN_LINK_CHECK_OF(CAIRN_VERSION_MAJOR, CAIRN_VERSION_MINOR, CAIRN_VERSION_PATCH)

/// Defined in definitions/state.cpp: in the library, or by implementation.hpp.
extern "C" void CAIRN_LINK_CHECK() noexcept;

namespace {
[[gnu::used]] void (*const cairn_link_check)() noexcept = &CAIRN_LINK_CHECK;
}

namespace cairn::inline v0_1 {

/// Why an operation failed. `corrupt`, `unreadable` and `not_found` of a checkpoint make a restore try the next one;
/// all others end it.
enum class errc {
  io,          ///< the operating system or the store refused: disk full, read-only, no permission, too many open files
  no_memory,   ///< not enough memory
  corrupt,     ///< stored bytes are not what was written: truncated, altered or malformed
  unreadable,  ///< the file system gives no bytes for a part of a file: a bad sector. It may be only for a moment
  mismatch,    ///< the state and the checkpoint disagree: keys, dtypes, shapes
  not_found,   ///< there is no checkpoint at that place
  busy,        ///< another checkpointer, usually of another process, saves to the same place
  stale,       ///< a save at a step below that of the newest checkpoint
  invalid,  ///< an argument, a call, a state that cannot be saved (two leaves of one path), an exception of user code
  unsupported,  ///< written by a newer format version, or by a codec that is not included
  cancelled,    ///< a save or merge was cancelled by a newer save, a signal, or the destructor of its checkpointer
  lost_rank     ///< a rank of the group has ended, or has not answered in time
};

/// For logs: "io", "no_memory".
[[nodiscard]] constexpr std::string_view name(errc code) noexcept {
  constexpr std::string_view names[] = {"io",   "no_memory", "corrupt", "unreadable",  "mismatch",  "not_found",
                                        "busy", "stale",     "invalid", "unsupported", "cancelled", "lost_rank"};
  const auto number = static_cast<std::size_t>(code);
  return number < std::size(names) ? names[number] : "unknown";
}

/// What every failing operation of Cairn throws. `what()` names the path, the file and the things that disagree. It is
/// one line of at most `most_bytes` bytes before escapes: names may come from files, and a file may be hostile.
class CAIRN_ONE_PER_PROCESS error : public std::runtime_error {
 public:
  /// The longest sentence, in bytes.
  static constexpr std::size_t most_bytes = 16'000;

  error(errc code, const std::string& sentence);

  /// Why the operation failed.
  [[nodiscard]] errc code() const noexcept { return code_; }

  /// Whether a load had begun to change the state: it is neither what it was nor what was stored. Load another
  /// checkpoint into it, or end.
  [[nodiscard]] bool state_changed() const noexcept { return state_changed_; }

  /// The same error, of a load that had begun to change the state.
  [[nodiscard]] error after_change() const {
    auto same = *this;
    same.state_changed_ = true;
    return same;
  }

  /// The sentence without the name of the library.
  [[nodiscard]] std::string_view sentence() const noexcept {
    return std::string_view(what()).substr(sizeof(prefix) - 1);
  }

 private:
  static constexpr char prefix[] = "cairn: ";

  errc code_;
  bool state_changed_ = false;
};

/// Text, or a whole number, which is written in decimal. Converted here and not by callers, to keep their code small.
class sentence_part {
 public:
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view>
  constexpr sentence_part(const Text& text) noexcept : text_(text) {}
  template <std::unsigned_integral Number>
  constexpr sentence_part(Number number) noexcept : number_(number) {}
  template <std::signed_integral Number>
  constexpr sentence_part(Number number) noexcept
      : text_(number < 0 ? "-" : ""),
        number_(number < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(number)
                           : static_cast<std::uint64_t>(number)) {}

  void append_to(std::string& text, std::size_t most_bytes) const;

 private:
  std::string_view text_{};
  std::optional<std::uint64_t> number_{};
};

/// Joins the parts of a sentence, and cuts longer parts than `most_bytes` in their middle. Not optimised: error paths
/// only.
[[nodiscard]] std::string sentence(std::initializer_list<sentence_part> parts,
                                   std::size_t most_bytes = std::string::npos);

/// Throws an error. No part takes more than a quarter of the message, so that the others are all there.
[[noreturn]] void fail(errc code, std::initializer_list<sentence_part> parts);

/// Throws `errc::io` with the system's own words for `number` (an errno value), and what they leave open: "cannot write
/// the 4096 bytes of x/y: No space left on device; 512 bytes are free".
[[noreturn]] void fail_io(std::string_view action, std::string_view file, int number = errno);

namespace detail {

/// Converts any exception to cairn::error: errors of the system are errc::io, too little memory is errc::no_memory, and
/// unknown ones are errc::invalid, also a std::length_error: Cairn itself asks a container for its `max_size` first.
/// `what` starts the message, except for a cairn::error, which stays as it is, and where there is no memory for it.
[[nodiscard]] error as_error(const std::exception_ptr& cause, std::initializer_list<sentence_part> what) noexcept;

/// Calls `act`, and throws what it throws as cairn::error.
template <class Act>
auto with_errors(const std::string& what, const Act& act) {
  try {
    return act();
  } catch (...) {
    throw error(as_error(std::current_exception(), {what}));
  }
}

}  // namespace detail
}  // namespace cairn::inline v0_1

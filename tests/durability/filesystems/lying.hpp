// SPDX-License-Identifier: MIT
// A file system over a directory that does what network file systems do, and what others do not: a FUSE mount whose
// lies are switches.
#pragma once

#include "durability/filesystems/fuse_server.hpp"
#include "standard.hpp"

namespace filesystems {

/// The requests in which a fault can be planned.
enum class request : std::uint8_t {
  lookup,
  getattr,
  setattr,
  mkdir,
  unlink,
  rmdir,
  rename,
  create,
  open,
  read,
  write,
  flush,
  fsync,
  fallocate,
  opendir,
  readdir,
  fsyncdir
};

/// How a mount lies. In memory that the server and the processes of the test share: each can be changed at any time.
/// Locks (flock, fcntl) are always those of one mount, and O_DIRECT is always taken for the page cache of the server.
struct lies {
  std::atomic<bool> silly_renames{false};    ///< an open file that is deleted becomes `.nfs*` until it is closed
  std::atomic<bool> stale_handles{false};    ///< what another client has deleted gives ESTALE, although it is open here
  std::atomic<bool> short_transfers{false};  ///< reads and writes transfer half of what is asked for
  std::atomic<bool> no_fallocate{false};     ///< EOPNOTSUPP
  /// Bytes reach the server, and other clients, with `fsync`. The end of the mount loses those that have not, as a
  /// crash of the host does.
  std::atomic<bool> keeps_writes{false};
  std::atomic<bool> full_at_close{false};  ///< `close` of a written file, and `fsync`, give ENOSPC; its bytes are lost
  std::atomic<unsigned> negative_seconds{0};  ///< for how long the client remembers that a name is not there
  std::atomic<unsigned> name_seconds{0};      ///< for how long it remembers what is under a name
  /// Every n-th change of names is sent twice, as after a lost reply, and the second reply counts: ENOENT for a rename
  /// that is done.
  std::atomic<unsigned> resend_every{0};
  /// Every n-th change of names is done, and EIO is its reply.
  std::atomic<unsigned> error_after_every{0};
  /// Reads of this byte of any file give EIO; negative: none.
  std::atomic<std::int64_t> bad_byte{-1};

  /// The n-th request from now on, from 1, gives `error`, and those after it, too, if the fault lasts. 0: none.
  std::atomic<std::uint64_t> fault_at{0};
  std::atomic<int> fault_error{EIO};
  std::atomic<bool> fault_lasts{false};
  std::atomic<bool> fault_is_after{false};  ///< the request is done all the same; only for changes of names
  std::atomic<std::uint64_t> requests{0};   ///< counted; those of closing files and forgetting names are not
  std::atomic<std::uint64_t> faults{0};     ///< how many had an error
  std::atomic<unsigned> fault_in{0};        ///< the request that had the last one
};

/// A mount that serves `backing`, from `at`. Two mounts of one directory are two clients of one server. Throws
/// `unavailable`.
class lying_mount {
 public:
  lying_mount(const std::string& backing, const std::string& at);
  lying_mount(const lying_mount&) = delete;
  lying_mount& operator=(const lying_mount&) = delete;
  ~lying_mount();

  [[nodiscard]] lies& how() const noexcept { return *lies_; }
  [[nodiscard]] const std::string& at() const noexcept { return server_->at(); }

 private:
  lies* lies_;
  std::unique_ptr<fuse_server> server_;
};

/// Switches lies on by their names, separated by `+`: `silly_renames+stale_handles`. `nfs` is all that an NFS client
/// does always. Throws std::invalid_argument.
void tell(lies& to, std::string_view names);

[[nodiscard]] std::string_view name_of(request what);

}  // namespace filesystems

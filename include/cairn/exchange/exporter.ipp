// SPDX-License-Identifier: MIT
// Definitions of exporter.hpp.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "cairn/chain/load.hpp"
#include "cairn/exporter.hpp"
#include "cairn/exchange/export.ipp"
#include "cairn/store/directory.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/owner_process.hpp"
#include "cairn/system/posix.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1 {
namespace observers {

/// The checkpoints to export, and the thread that does it.
class exporter::worker {
 public:
  worker(exporter_options options, observer next) : options_(std::move(options)), next_(std::move(next)) {}
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Waits until the pending exports are done. In a forked child there is no thread to wait for.
  ~worker() {
    if (!owner_.is_here()) {
      static_cast<void>(thread_.release());
      return;
    }
    {
      const std::lock_guard lock(changing_);
      ends_ = true;
    }
    changed_.notify_all();
    if (thread_) thread_->join();
  }

  void take(const event& what) {
    notify(what);
    const bool is_due = !options_.every_steps || what.step % *options_.every_steps == 0;
    if (what.what != event::kind::published || !is_due || !owner_.is_here()) return;
    const std::lock_guard lock(changing_);
    if (!options_.every_steps) pending_.clear();  // the newest one replaces what has not begun
    pending_.push_back(what);
    if (!thread_) thread_ = std::make_unique<std::thread>(cairn::detail::start_thread([this] { run(); }));
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(changing_);
    while (true) {
      changed_.wait(lock, [&] { return ends_ || !pending_.empty(); });
      if (pending_.empty()) return;
      const auto next = std::move(pending_.front());
      pending_.pop_front();
      lock.unlock();
      notify(exported(next));
      lock.lock();
    }
  }

  /// Exports a checkpoint, and returns the event of it.
  [[nodiscard]] event exported(const event& of) const {
    event made{.what = event::kind::exported, .checkpoint = of.checkpoint, .step = of.step};
    const cairn::detail::stopwatch watch;
    try {
      const auto place = cairn::detail::split_path(of.checkpoint);
      made.message = options_.directory;
      if (options_.every_steps) made.message += '/' + place.name;
      const auto write = [&](const auto& reader) {
        made.bytes = export_safetensors(checkpoint(reader), made.message, options_.how).bytes;
      };
      cairn::detail::team alone;
      cairn::detail::with_reader(  // it may be merged meanwhile
          stores::directory(place.directory), [&] { return place.name; }, options_.codecs, alone, write);
    } catch (...) {
      made.what = event::kind::failed;
      made.message =
          cairn::detail::as_error(std::current_exception(), {of.checkpoint, " cannot be exported"}).sentence();
    }
    made.seconds = watch.seconds();
    return made;
  }

  void notify(const event& what) {
    const std::lock_guard lock(notifying_);
    cairn::detail::notify(next_, what);
  }

  exporter_options options_;
  observer next_;
  cairn::detail::owner_process owner_;
  std::mutex notifying_;  // one event at a time
  std::mutex changing_;
  std::condition_variable changed_;
  std::deque<event> pending_;
  bool ends_ = false;
  std::unique_ptr<std::thread> thread_;  // from the first export on
};

exporter::exporter(exporter_options options, observer next) {
  if (options.directory.empty()) fail(errc::invalid, {"an exporter needs a directory"});
  if (options.every_steps == 0U) fail(errc::invalid, {"an exporter cannot export every 0 steps"});
  worker_ = std::make_shared<worker>(std::move(options), std::move(next));
}

void exporter::operator()(const event& what) const { worker_->take(what); }

}  // namespace observers

}  // namespace cairn::inline v0_1

// SPDX-License-Identifier: MIT
// Every byte of a small chain of checkpoints altered, every file cut at every length and made longer: what is restored
// afterwards is what was saved, or an older checkpoint as it was saved, or nothing. In memory; in a directory,
// CAIRN_TEST_PLACE or one in memory, some of the bytes and lengths.
#include "cairn/checkpointer.hpp"

#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "durability/scenarios.hpp"

namespace altered_bits {

namespace {

namespace fs = std::filesystem;

using files = std::map<std::string, std::map<std::string, std::string>>;  // checkpoint -> file -> bytes

/// Checkpoints that a test may alter, in memory, for reading.
class shelf {
 public:
  explicit shelf(const files* all) : all_(all) {}

  [[nodiscard]] std::string location() const { return "shelf"; }
  [[nodiscard]] static cairn::stores::ownership lock() { cairn::fail(cairn::errc::busy, {"for reading only"}); }
  [[nodiscard]] static std::unique_ptr<cairn::stores::transaction> begin(std::string_view) {
    cairn::fail(cairn::errc::busy, {"for reading only"});
  }
  static void remove(std::string_view) { cairn::fail(cairn::errc::busy, {"for reading only"}); }

  [[nodiscard]] std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& [name, content] : *all_)
      if (content.contains("index.json")) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
    const auto at = all_->find(std::string(name));
    if (at == all_->end()) cairn::fail(cairn::errc::not_found, {"there is no ", name});
    return std::make_shared<held>(at->second);
  }

 private:
  class opened final : public cairn::stores::source {
   public:
    explicit opened(const std::string& bytes) : bytes_(sample::bytes_of(bytes)) {}
    [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
    void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
      for (const auto& each : into) {
        if (offset > bytes_.size() || each.size() > bytes_.size() - offset)
          cairn::fail(cairn::errc::corrupt, {"the file is shorter"});
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), each.size(), each.begin());
        offset += each.size();
      }
    }

   private:
    std::span<const std::byte> bytes_;
  };

  class held final : public cairn::stores::publication {
   public:
    explicit held(const std::map<std::string, std::string>& all) : all_(all) {}
    [[nodiscard]] std::string location() const override { return "shelf"; }
    [[nodiscard]] std::vector<std::string> files() const override {
      std::vector<std::string> names;
      for (const auto& [file, bytes] : all_) names.push_back(file);
      return names;
    }
    [[nodiscard]] std::unique_ptr<cairn::stores::source> open(std::string_view file) const override {
      const auto at = all_.find(std::string(file));
      if (at == all_.end()) cairn::fail(cairn::errc::not_found, {"there is no ", file});
      return std::make_unique<opened>(at->second);
    }

   private:
    const std::map<std::string, std::string>& all_;
  };

  const files* all_;
};

const std::string older = cairn::detail::checkpoint_name(1), newer = cairn::detail::checkpoint_name(2);

/// A whole checkpoint and a delta to it, with what they restore.
struct chain_of_two {
  files stored;
  chain::bits whole, delta;
};

chain_of_two save_two() {
  cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(31);
  auto state = chain::start(random, 100);
  for (auto& value : state.adam.m) value = 0.25F;
  {
    cairn::checkpointer run(store, {.threads = 1, .codecs = chain::mixed_rules()});
    run.save(state, {.step = 1, .loss = 0.5});
    for (auto& value : state.net.weight) value += 1e-3F * static_cast<float>(random() % 7);
    for (std::size_t i = 0; i < state.adam.m.size(); i += 9) state.adam.m[i] = 0.5F;
    REQUIRE(run.save(state, {.step = 2, .loss = 0.25}).is_delta);
  }
  chain_of_two made;
  for (const auto& name : {older, newer})
    for (const auto& file : store.open(name)->files()) made.stored[name][file] = sample::get(store, name, file);
  made.whole = chain::restored(store, older);
  made.delta = chain::restored(store, newer);
  return made;
}

/// One file of one checkpoint, and how many ways there are to alter it.
struct subject {
  std::string checkpoint, file;
  const std::string* bytes;
};

std::vector<subject> subjects_of(const chain_of_two& all) {
  std::vector<subject> made;
  for (const auto& [name, held] : all.stored)
    for (const auto& [file, bytes] : held) made.push_back({name, file, &bytes});
  return made;
}

/// Where a file's text ends: of an index at its end, of a shard where the padding of its header begins.
std::size_t text_end(const subject& of) {
  if (of.file == "index.json") return of.bytes->size();
  std::uint64_t length = 0;
  std::memcpy(&length, of.bytes->data(), 8);
  return of.bytes->find_last_not_of(' ', 8 + length - 1) + 1;
}

struct tally {
  std::atomic<std::size_t> passed_over{0}, refused{0}, harmless{0};
  std::mutex mutex;
  std::set<std::string> wrong;

  [[nodiscard]] std::size_t detected() const { return passed_over + refused; }
};

/// Restores from altered files and says into the tally what came of it.
class examiner {
 public:
  /// With a `root`, the files are in that directory.
  examiner(const chain_of_two& real, tally& result, std::string root = {})
      : real_(real), files_(real.stored), root_(std::move(root)), tally_(result) {
    for (const auto& [name, held] : files_)
      for (const auto& [file, bytes] : held) put(name, file, bytes);
  }

  /// `alter` gets the bytes of the file; afterwards they are as before.
  void examine(const subject& of, const std::string& how, const std::function<void(std::string&)>& alter) {
    auto& bytes = files_.at(of.checkpoint).at(of.file);
    alter(bytes);
    put(of.checkpoint, of.file, bytes);
    note(of, how);
    bytes = *of.bytes;
    put(of.checkpoint, of.file, bytes);
  }

  /// The file is not there, or something else is; in a directory only.
  void examine_without(const subject& of) {
    const auto at = path_of(of.checkpoint, of.file);
    fs::remove(at);
    note(of, "is not there");
    std::error_code has_no_links;
    fs::create_symlink("nowhere", at, has_no_links);
    if (!has_no_links) note(of, "is a link to nothing");
    fs::remove(at);
    fs::create_directory(at);
    note(of, "is a directory");
    fs::remove(at);
    put(of.checkpoint, of.file, *of.bytes);
  }

 private:
  [[nodiscard]] std::string path_of(const std::string& checkpoint, const std::string& file) const {
    return root_ + "/" + checkpoint + "/" + file;
  }

  void put(const std::string& checkpoint, const std::string& file, const std::string& bytes) const {
    if (root_.empty()) return;
    fs::create_directories(root_ + "/" + checkpoint);
    sample::spill(path_of(checkpoint, file), bytes);
  }

  [[nodiscard]] cairn::any_store store() const {
    return root_.empty() ? cairn::any_store(shelf(&files_)) : cairn::stores::directory(root_);
  }

  void note(const subject& of, const std::string& how) {
    const auto what = outcome(of.checkpoint == newer);
    if (what.empty()) return;
    const std::lock_guard lock(tally_.mutex);
    tally_.wrong.insert(of.checkpoint + "/" + of.file + " " + how + ": " + what);
  }

  /// What is wrong; empty where nothing is.
  [[nodiscard]] std::string outcome(bool has_older) {
    std::mt19937 random(32);
    auto state = chain::start(random, 100);
    const auto before = chain::bits_of(state);
    try {
      cairn::checkpointer run(store(), {.threads = 1});
      verifies_first_ = !verifies_first_;
      const auto report = run.restore(state, {.verify_first = verifies_first_, .threads = 1});
      if (!report) return "nothing was found";
      const auto bits = chain::bits_of(state);
      if (report->step == 2 && bits == real_.delta) return ++tally_.harmless, "";
      if (report->step == 1 && has_older && bits == real_.whole) return ++tally_.passed_over, "";
      return "step " + std::to_string(report->step) + " was restored, and not as it was saved";
    } catch (const cairn::error& error) {
      if (has_older) return std::string("the older one was not restored: ") + error.what();
      if (verifies_first_ && error.state_changed()) return std::string("it was not verified first: ") + error.what();
      if (!error.state_changed() && chain::bits_of(state) != before)
        return std::string("the state was changed: ") + error.what();
      return ++tally_.refused, "";
    }
  }

  bool verifies_first_ = false;
  const chain_of_two& real_;
  files files_;
  std::string root_;
  tally& tally_;
};

/// Runs `each(examiner, i)` for i in [0, count) on the machine's threads.
template <class Each>
void for_all(const chain_of_two& real, tally& result, std::size_t count, const Each& each) {
  constexpr unsigned threads = 2;
  std::vector<std::unique_ptr<examiner>> examiners;
  for (unsigned i = 0; i < threads; ++i) examiners.push_back(std::make_unique<examiner>(real, result));
  cairn::detail::parallel_for(count, threads, [&](std::size_t i, unsigned worker) { each(*examiners[worker], i); });
}

void check(const tally& result) {
  std::size_t told = 0;
  for (const auto& each : result.wrong)
    if (told++ < 5) UNSCOPED_INFO(each);
  CHECK(result.wrong.size() == 0);
}

}  // namespace

TEST_CASE("altered bits: every byte of a chain of checkpoints is covered by a checksum, or means nothing") {
  const auto real = save_two();
  tally result;
  examiner(real, result).examine(subjects_of(real).front(), "as it was", [](std::string&) {});
  CHECK(result.harmless == 1);
  result.harmless = 0;
  for (const auto& of : subjects_of(real)) {
    const auto end = text_end(of);
    for_all(real, result, of.bytes->size(), [&](examiner& with, std::size_t at) {
      const std::vector<unsigned> text_patterns{1, 2, 4, 8, 16, 32, 64, 128},
          other_patterns{1U << at % 8, 0xFF, static_cast<unsigned char>((*of.bytes)[at])};  // the last one: zero
      for (const auto pattern : at < end ? text_patterns : other_patterns)
        if (pattern != 0)
          with.examine(of, "byte " + std::to_string(at) + " ^ " + std::to_string(pattern), [&](std::string& bytes) {
            bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ pattern);
          });
    });
  }
  std::printf("altered bits: %zu found (%zu older checkpoint restored, %zu refused), %zu harmless, %zu wrong\n",
              result.detected(), result.passed_over.load(), result.refused.load(), result.harmless.load(),
              result.wrong.size());
  check(result);
  CHECK(result.passed_over > 10'000);
  CHECK(result.refused > 10'000);
}

TEST_CASE("altered bits: a file of any other length is found") {
  const auto real = save_two();
  tally result;
  for (const auto& of : subjects_of(real)) {
    for_all(real, result, of.bytes->size(), [&](examiner& with, std::size_t length) {
      with.examine(of, "cut at " + std::to_string(length), [&](std::string& bytes) { bytes.resize(length); });
    });
    std::mt19937 random(32);
    for (const std::size_t more : {1U, 7U, 4096U})
      for (const bool is_noise : {false, true})
        examiner(real, result).examine(of, "longer by " + std::to_string(more), [&](std::string& bytes) {
          for (std::size_t i = 0; i < more; ++i) bytes += static_cast<char>(is_noise ? random() : 0);
        });
  }
  std::printf("altered lengths: %zu found (%zu older checkpoint restored, %zu refused), %zu harmless, %zu wrong\n",
              result.detected(), result.passed_over.load(), result.refused.load(), result.harmless.load(),
              result.wrong.size());
  check(result);
  CHECK(result.harmless == 0);
}

TEST_CASE("altered bits: in a directory") {
  const char* const chosen = std::getenv("CAIRN_TEST_PLACE");
  const sample::scratch scratch(chosen != nullptr ? chosen : sample::in_memory());
  const std::size_t every = durability::is_long() ? 1 : 7;
  const auto real = save_two();
  tally result;
  examiner with(real, result, scratch.path());
  with.examine(subjects_of(real).front(), "as it was", [](std::string&) {});
  CHECK(result.harmless == 1);
  result.harmless = 0;
  std::size_t number = durability::begin_of("directory") % every;
  for (const auto& of : subjects_of(real)) {
    with.examine_without(of);
    for (std::size_t at = number++ % every; at < of.bytes->size(); at += every) {
      const auto is_text = at < text_end(of);
      with.examine(of, "byte " + std::to_string(at), [&](std::string& bytes) {
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (is_text ? 1U << at % 8 : 0xFFU));
      });
      with.examine(of, "cut at " + std::to_string(at), [&](std::string& bytes) { bytes.resize(at); });
    }
    with.examine(of, "longer", [](std::string& bytes) { bytes += '\0'; });
  }
  std::printf(
      "altered in a directory: %zu found (%zu older checkpoint restored, %zu refused), %zu harmless, %zu wrong\n",
      result.detected(), result.passed_over.load(), result.refused.load(), result.harmless.load(), result.wrong.size());
  check(result);
  CHECK(result.harmless == 0);
  CHECK(result.passed_over > 1'000);
  CHECK(result.refused > 1'000);
}

}  // namespace altered_bits

// SPDX-License-Identifier: MIT
// What every store does: each function tries one rule of its contract with a store in which nothing is.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/store/base.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace contract {

using files = std::map<std::string, std::string>;

inline files contents(const cairn::any_store& store, std::string_view name) {
  files all;
  for (const auto& file : store.open(name)->files()) all[file] = sample::get(store, name, file);
  return all;
}

inline files random_files(std::mt19937_64& random) {
  files all{{"index.json", std::string(cairn::detail::index_opening) + std::to_string(random())}};
  const std::size_t shards = random() % 3;
  for (std::size_t i = 0; i < shards; ++i) {
    std::string text(random() % 3 == 0 ? random() % 200'000 : random() % 5000, '\0');
    for (auto& c : text) c = static_cast<char>(random());
    all[cairn::detail::shard_file(i, shards)] = text;
  }
  return all;
}

/// Writes a file in pieces that suit the sink, in any order.
inline void write(cairn::stores::transaction& transaction, const std::string& file, const std::string& text,
                  std::mt19937_64& random) {
  auto& out = transaction.create(file, text.size());
  const std::size_t unit = std::max<std::size_t>(out.alignment(), 4096);
  const std::unique_ptr<std::byte[], void (*)(std::byte*)> aligned(
      static_cast<std::byte*>(std::aligned_alloc(4096, (text.size() / 4096 + 1) * 4096)),
      [](std::byte* p) { std::free(p); });
  std::copy_n(sample::bytes_of(text).begin(), text.size(), aligned.get());
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size(); at += unit) starts.push_back(at);
  std::shuffle(starts.begin(), starts.end(), random);
  for (const auto at : starts) {
    const cairn::stores::buffer whole(aligned.get() + at, std::min(unit, text.size() - at));
    if (out.alignment() == 1) {
      const std::size_t cut = random() % (whole.size() + 1);
      const cairn::stores::buffer buffers[] = {whole.first(cut), whole.subspan(cut)};
      out.write(at, buffers);
    } else {
      const cairn::stores::buffer buffers[] = {whole};
      out.write(at, buffers);
    }
  }
}

/// A store holds exactly what was committed and not removed.
inline void holds_what_was_committed(cairn::any_store store) {
  std::mt19937_64 random(1);
  std::map<std::string, files> model;
  for (int round = 0; round < 120; ++round) {
    const auto name = cairn::detail::checkpoint_name(random() % 4);
    switch (random() % 4) {
      case 0: {  // removed
        const auto failure = sample::failure_of([&] { store.remove(name); });
        CHECK((failure.code == cairn::errc::not_found && failure.says(name)) == !model.contains(name));
        model.erase(name);
        break;
      }
      case 1: {  // begun and given up
        const auto transaction = store.begin(name);
        for (const auto& [file, text] : random_files(random)) write(*transaction, file, text, random);
        break;
      }
      default: {  // made or replaced
        const auto wanted = random_files(random);
        const auto transaction = store.begin(name);
        for (const auto& [file, text] : wanted) write(*transaction, file, text, random);
        transaction->publish();
        model[name] = wanted;
      }
    }
    std::vector<std::string> names;
    for (const auto& [key, value] : model) names.push_back(key);
    REQUIRE(store.list() == names);
    for (const auto& [key, value] : model) REQUIRE(contents(store, key) == value);
  }
}

/// What is not there is not found.
inline void finds_nothing_else(cairn::any_store store) {
  CHECK(store.list().empty());
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("a")->open("index.json")); }).code ==
        cairn::errc::not_found);
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("a")->files()); }).code == cairn::errc::not_found);
  CHECK(sample::failure_of([&] { store.remove("a"); }).code == cairn::errc::not_found);
  sample::put(store, "a", {{"index.json", "x"}});
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("a")->open(cairn::detail::shard_file(0, 1))); }).code ==
        cairn::errc::not_found);
}

/// Names that leave the store are refused.
inline void refuses_names(cairn::any_store store) {
  for (const auto* name : {"", "..", "a/b", ".tmp-a", "a~2", "a~1"})
    CHECK(sample::failure_of([&] { static_cast<void>(store.begin(name)); }).code == cairn::errc::invalid);
}

/// One saver at a time.
inline void has_one_saver(cairn::any_store store) {
  {
    const auto owned = store.lock();
    CHECK(sample::failure_of([&] { static_cast<void>(store.lock()); }).code == cairn::errc::busy);
    const auto transaction = store.begin("a");
    const auto failure = sample::failure_of([&] { static_cast<void>(store.begin("a")); });
    CHECK(failure.code == cairn::errc::busy);
    CHECK(failure.says(store.location()));
    CHECK_NOTHROW(store.begin("b"));
  }
  CHECK_NOTHROW(store.lock());
  CHECK_NOTHROW(store.begin("a"));
}

/// A publication that is open never gives the files of another one.
inline void keeps_publications_apart(cairn::any_store store) {
  const auto shard = cairn::detail::shard_file(0, 1);
  const auto index = [](int number) {
    return std::string(cairn::detail::index_opening) + std::string(15, '0') + std::to_string(number);
  };
  std::vector<std::shared_ptr<const cairn::stores::publication>> opened;
  for (int number = 0; number < 4; ++number) {
    if (number == 2) store.remove("a");  // the next one may have the place of the first
    sample::put(store, "a", {{shard, std::to_string(number)}, {"index.json", index(number)}});
    opened.push_back(store.open("a"));
  }
  const auto read = [](const cairn::stores::publication& from, const std::string& file) {
    const auto source = from.open(file);
    return cairn::stores::read_text(*source, 0, source->size());
  };
  for (int number = 0; number < 4; ++number)
    for (const auto& file : {std::string("index.json"), shard}) {
      std::string text;
      const auto failure = sample::failure_of([&] { text = read(*opened[static_cast<std::size_t>(number)], file); });
      if (number == 3) CHECK(failure.sentence.empty());
      if (failure.sentence.empty())
        CHECK(text == (file == shard ? std::to_string(number) : index(number)));
      else
        CHECK(failure.code == cairn::errc::not_found);
    }
  CHECK(opened.back()->files() == std::vector<std::string>{"index.json", shard});
  CHECK(store.list() == std::vector<std::string>{"a"});
}

/// A read beyond the end is refused.
inline void refuses_reads_beyond_the_end(cairn::any_store store) {
  sample::put(store, "a", {{"index.json", "12345"}});
  const auto source = store.open("a")->open("index.json");
  CHECK(source->size() == 5);
  CHECK(cairn::stores::read_text(*source, 5, 0).empty());
  for (const auto& [offset, length] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 6}, {5, 1}, {6, 0}, {1, ~std::uint64_t{0}}, {~std::uint64_t{0}, 1}}) {
    std::byte memory[6];
    const auto failure = sample::failure_of([&] { source->read(offset, std::span(memory, length)); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("a/index.json"));
  }
}

/// Several writers prepare their files, and the one that has begun publishes them all.
inline void takes_several_writers(cairn::any_store store) {
  std::mt19937_64 random(3);
  const std::string text_0(100'000, 'a'), text_1(70'000, 'b'),
      index = R"({"metadata":{"checksum":")" + std::string(16, '0');
  const auto shard_0 = cairn::detail::shard_file(0, 2), shard_1 = cairn::detail::shard_file(1, 2);
  {
    const auto first = store.begin("step-000000001");
    REQUIRE_FALSE(first->attempt().empty());
    const auto second = store.join("step-000000001", first->attempt());
    write(*second, shard_1, text_1, random);
    write(*first, shard_0, text_0, random);
    second->prepare();
    first->prepare();
    CHECK(store.list().empty());
    CHECK(sample::failure_of([&] { second->publish(); }).code == cairn::errc::invalid);
    write(*first, std::string(cairn::detail::index_file), index, random);
    first->publish();
  }
  CHECK(store.list() == std::vector<std::string>{"step-000000001"});
  CHECK(contents(store, "step-000000001") == files{{"index.json", index}, {shard_0, text_0}, {shard_1, text_1}});
}

/// A writer that gives up takes only its own files away.
inline void keeps_files_of_other_writers(cairn::any_store store) {
  std::mt19937_64 random(4);
  const auto shard_0 = cairn::detail::shard_file(0, 2), shard_1 = cairn::detail::shard_file(1, 2);
  const std::string index = R"({"metadata":{"checksum":")" + std::string(16, '0');
  auto first = store.begin("c");
  const auto attempt = first->attempt();
  {
    const auto second = store.join("c", attempt);
    write(*second, shard_1, "given up", random);
  }
  {
    const auto again = store.join("c", attempt);
    write(*again, shard_1, "again", random);
    again->prepare();
  }
  write(*first, shard_0, "first", random);
  write(*first, std::string(cairn::detail::index_file), index, random);
  first->publish();
  first.reset();
  CHECK(contents(store, "c") == files{{"index.json", index}, {shard_0, "first"}, {shard_1, "again"}});
  CHECK(sample::failure_of([&] { static_cast<void>(store.join("c", attempt)); }).code == cairn::errc::not_found);
}

/// A writer that writes on when the first one has given up disturbs nobody.
inline void bears_a_late_writer(cairn::any_store store) {
  constexpr std::size_t bytes = 100'000;
  const cairn::detail::page_buffer data(bytes);  // aligned, as direct writes need it
  std::fill_n(data.bytes().data(), bytes, std::byte{1});
  auto first = store.begin("c");
  const auto second = store.join("c", first->attempt());
  auto& file = second->create(cairn::detail::shard_file(1, 2), bytes);
  first.reset();
  const cairn::stores::buffer buffers[] = {data.bytes()};
  file.write(0, buffers);
  CHECK_THROWS_AS(second->create(cairn::detail::shard_file(2, 3), bytes), cairn::error);
  CHECK(store.list().empty());
  first = store.begin("c");
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("c")->files()); }).code == cairn::errc::not_found);
}

/// Only a running attempt can be joined.
inline void joins_running_attempts(cairn::any_store store) {
  const auto code = [&](std::string_view name, std::string_view attempt) {
    return sample::failure_of([&] { static_cast<void>(store.join(name, attempt)); }).code;
  };
  CHECK(code("c", "0123456789abcdef01234567") == cairn::errc::not_found);
  auto first = store.begin("c");
  const auto attempt = first->attempt();
  for (const std::string_view other : {"", "0123456789abcdef01234567", "..", "x/y"})
    CHECK(code("c", other) == cairn::errc::not_found);
  CHECK(code("d", attempt) == cairn::errc::not_found);
  first.reset();
  CHECK(code("c", attempt) == cairn::errc::not_found);
}

}  // namespace contract

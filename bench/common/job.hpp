// SPDX-License-Identifier: MIT
// Parts of a bench program that run in a process of their own: the program starts itself with --job, and the child
// prints numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/process.hpp"
#include "common/settle.hpp"

namespace bench {

/// What the child does with its results: one line.
inline void print_numbers(std::initializer_list<double> values) {
  for (const double value : values) std::printf("%.9g ", value);
  std::printf("\n");
}

/// The lines of numbers, `columns` in each and one at least, that a child prints: this program, started with `words`
/// and with a --directory that is made for it and deleted afterwards, after sync() and when the cores are idle, or
/// after `patience`.
[[nodiscard]] inline std::vector<std::vector<double>> numbers_of_job(std::vector<std::string> words,
                                                                     const std::string& directory, std::size_t columns,
                                                                     std::chrono::duration<double> patience) {
  std::string command = "this program";
  for (const auto& word : words) command += ' ' + word;
  words.insert(words.begin(), "/proc/self/exe");
  words.insert(words.end(), {"--directory", directory});
  std::filesystem::create_directories(directory);
  settle(0, patience);
  const auto child = run(words);
  std::filesystem::remove_all(directory);
  std::vector<std::vector<double>> rows;
  std::istringstream lines(child.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    rows.emplace_back(std::istream_iterator<double>(numbers), std::istream_iterator<double>());
    if (!numbers.eof() || rows.back().size() != columns) throw std::runtime_error(command + ": " + child.output);
  }
  if (child.status != 0 || rows.empty()) throw std::runtime_error(command + ": " + child.output);
  return rows;
}

}  // namespace bench

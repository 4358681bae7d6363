// SPDX-License-Identifier: MIT
// The command line of a bench program: `--name value` pairs with defaults.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {

class arguments {
 public:
  /// Reads `--name value` for the names in `defaults`; any other word prints `usage` and ends the program.
  arguments(int argc, char** argv, std::map<std::string, std::string> defaults, std::string_view usage)
      : values_(std::move(defaults)) {
    for (int i = 1; i < argc; i += 2) {
      const std::string_view word = argv[i];
      const auto known = word.starts_with("--") ? values_.find(std::string(word.substr(2))) : values_.end();
      if (known == values_.end() || i + 1 == argc) {
        const bool asked = word == "--help";
        std::fprintf(asked ? stdout : stderr, "%.*s", static_cast<int>(usage.size()), usage.data());
        std::exit(asked ? 0 : 2);
      }
      known->second = argv[i + 1];
    }
  }

  [[nodiscard]] const std::string& text(const std::string& name) const { return values_.at(name); }
  /// Throws std::invalid_argument if the value is malformed, as do all functions below.
  [[nodiscard]] std::size_t count(const std::string& name) const { return to_count(name, text(name)); }

  /// A number that is not negative, such as seconds.
  [[nodiscard]] double number(const std::string& name) const { return to_number(name, text(name)); }

  /// At least 1, and at most `most`.
  [[nodiscard]] std::size_t positive(const std::string& name,
                                     std::size_t most = std::numeric_limits<std::size_t>::max()) const {
    const auto number = count(name);
    if (number == 0) throw std::invalid_argument("--" + name + " is 0; it must be at least 1");
    if (number > most) throw std::invalid_argument("--" + name + " is more than " + std::to_string(most));
    return number;
  }

  /// A file to write: "" or one whose folder exists.
  [[nodiscard]] const std::string& file(const std::string& name) const {
    const auto folder = std::filesystem::path(text(name)).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
      throw std::invalid_argument("--" + name + ": there is no folder " + folder.string());
    return text(name);
  }

  /// The words between commas, at least one.
  [[nodiscard]] std::vector<std::string> list(const std::string& name) const {
    std::vector<std::string> words;
    if (text(name).empty()) throw std::invalid_argument("--" + name + " is empty");
    std::istringstream in(text(name) + ',');
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    if (std::find(words.begin(), words.end(), "") != words.end())
      throw std::invalid_argument("--" + name + " has an empty word");
    return words;
  }

  /// A list; each word must be one of `allowed`.
  [[nodiscard]] std::vector<std::string> list_of(const std::string& name,
                                                 const std::vector<std::string_view>& allowed) const {
    auto words = list(name);
    for (const auto& word : words) {
      if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) continue;
      std::string message = "--" + name + ": '" + word + "' is none of";
      for (const auto each : allowed) message.append(" ").append(each);
      throw std::invalid_argument(message);
    }
    return words;
  }

  /// Whether a list has `word`; its words must be in `allowed`.
  [[nodiscard]] bool has(const std::string& name, std::string_view word,
                         const std::vector<std::string_view>& allowed) const {
    const auto words = list_of(name, allowed);
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  /// A list of whole numbers, each at least 1 and at most `most`.
  [[nodiscard]] std::vector<std::size_t> counts(const std::string& name, std::size_t most) const {
    std::vector<std::size_t> all;
    for (const auto& word : list(name)) {
      all.push_back(to_count(name, word));
      if (all.back() == 0 || all.back() > most)
        throw std::invalid_argument("--" + name + ": " + word + " is not 1 to " + std::to_string(most));
    }
    return all;
  }

  /// A list of numbers that are not negative.
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const {
    std::vector<double> all;
    for (const auto& word : list(name)) all.push_back(to_number(name, word));
    return all;
  }

 private:
  [[nodiscard]] static double to_number(const std::string& name, const std::string& word) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0' || !(value >= 0) || !std::isfinite(value))
      throw std::invalid_argument("--" + name + ": '" + word + "' is not a number of at least 0");
    return value;
  }

  [[nodiscard]] static std::size_t to_count(const std::string& name, const std::string& word) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc::result_out_of_range)
      throw std::invalid_argument("--" + name + ": " + word + " is too large");
    if (error != std::errc{} || end != word.data() + word.size())
      throw std::invalid_argument("--" + name + ": '" + word + "' is not a whole number");
    return number;
  }

  std::map<std::string, std::string> values_;
};

}  // namespace bench

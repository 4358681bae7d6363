// SPDX-License-Identifier: MIT
// The command line of a bench program: `--name value` pairs with defaults.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
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
  /// std::invalid_argument, as for all functions below, for a value that is not what it should be.
  [[nodiscard]] std::size_t count(const std::string& name) const { return to_count(name, text(name)); }

  /// The words between commas, at least one.
  [[nodiscard]] std::vector<std::string> list(const std::string& name) const {
    std::vector<std::string> words;
    std::istringstream in(text(name));
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    if (words.empty()) throw std::invalid_argument("--" + name + " is empty");
    return words;
  }

  /// A list whose words are some of `allowed`.
  [[nodiscard]] std::vector<std::string> list_of(const std::string& name,
                                                 std::initializer_list<std::string_view> allowed) const {
    auto words = list(name);
    for (const auto& word : words) {
      if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) continue;
      std::string message = "--" + name + ": '" + word + "' is none of";
      for (const auto each : allowed) message.append(" ").append(each);
      throw std::invalid_argument(message);
    }
    return words;
  }

  /// A list of whole numbers, each at least 1.
  [[nodiscard]] std::vector<std::size_t> counts(const std::string& name) const {
    std::vector<std::size_t> numbers;
    for (const auto& word : list(name)) {
      numbers.push_back(to_count(name, word));
      if (numbers.back() == 0) throw std::invalid_argument("--" + name + " has a 0");
    }
    return numbers;
  }

 private:
  [[nodiscard]] static std::size_t to_count(const std::string& name, const std::string& word) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size())
      throw std::invalid_argument("--" + name + ": '" + word + "' is not a whole number");
    return number;
  }

  std::map<std::string, std::string> values_;
};

}  // namespace bench

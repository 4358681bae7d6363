// SPDX-License-Identifier: MIT
// The command line of a bench program: `--name value` pairs with defaults.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

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
  [[nodiscard]] std::size_t count(const std::string& name) const { return std::stoul(values_.at(name)); }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace bench

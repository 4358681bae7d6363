// SPDX-License-Identifier: MIT
// The command line.
#pragma once

#include <getopt.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lenet {

struct options {
  std::string data, checkpoint, events, optimizer = "sgd", codec = "lossless";
  std::uint64_t epochs = 3, batch = 32, seed = 1, limit = 0, every = 0, keep = 3,
                print = 0, kill_at = 0, stop_at = 0;
};

/// An option of the command line.
struct entry {
  const char* name;
  std::variant<std::string*, std::uint64_t*> value;
  const char* about;
  std::uint64_t least = 0;
};

/// `more`: options of one program alone.
[[nodiscard]] inline options parse_options(int argc, char** argv,
                                           std::initializer_list<entry> more = {}) {
  options chosen;
  std::vector<entry> entries{
      entry{"data", &chosen.data,
            "folder of the four MNIST files, gzipped or not; none: drawn digits"},
      entry{"checkpoint", &chosen.checkpoint,
            "folder of the checkpoints; none: no checkpoints"},
      entry{"events", &chosen.events,
            "file to which the events of the checkpointer are appended, one JSON "
            "object per line"},
      entry{"optimizer", &chosen.optimizer, "sgd or adam"},
      entry{"codec", &chosen.codec,
            "of the checkpoints: raw, lossless, xor, lc2 or lc3"},
      entry{"epochs", &chosen.epochs, "passes over the images", 1},
      entry{"batch", &chosen.batch, "images per step; a resumed run keeps its own", 1},
      entry{"seed", &chosen.seed,
            "of the first weights and the order of the images; a resumed run keeps its "
            "own"},
      entry{"limit", &chosen.limit, "use only the first n images; 0: all"},
      entry{"every", &chosen.every,
            "steps between checkpoints; 0: the default policy decides"},
      entry{"keep", &chosen.keep, "newest checkpoints to keep", 1},
      entry{"print", &chosen.print,
            "steps between lines of progress; 0: a line per epoch"},
      entry{"kill-at", &chosen.kill_at,
            "step in which the process gets SIGKILL, before its checkpoint; 0: none"},
      entry{"stop-at", &chosen.stop_at,
            "step in which the process gets SIGTERM, before its checkpoint; 0: none"},
  };
  entries.insert(entries.end(), more.begin(), more.end());

  std::vector<option> long_options;
  for (const auto& e : entries)
    long_options.push_back({e.name, required_argument, nullptr, 0});
  long_options.push_back({"help", no_argument, nullptr, 'h'});
  long_options.push_back({});

  int at = 0;
  for (int found;
       (found = getopt_long(argc, argv, "h", long_options.data(), &at)) != -1;) {
    if (found != 0) {
      auto& out = found == 'h' ? std::cout : std::cerr;
      out << "usage: " << argv[0] << " [--option value]...\n";
      for (const auto& e : entries) {
        out << "  --"
            << std::string(e.name).append(12 - std::string_view(e.name).size(), ' ')
            << e.about << " (";
        std::visit([&](const auto* value) { out << *value; }, e.value);
        out << ")\n";
      }
      std::exit(found == 'h' ? 0 : 2);
    }
    const auto& e = entries[static_cast<std::size_t>(at)];
    const std::string_view text = optarg;
    if (auto* const string = std::get_if<std::string*>(&e.value)) {
      **string = text;
    } else {
      auto& number = *std::get<std::uint64_t*>(e.value);
      const auto [end, fault] =
          std::from_chars(text.data(), text.data() + text.size(), number);
      if (fault != std::errc{} || end != text.data() + text.size() ||
          number < e.least) {
        throw std::invalid_argument(std::string("--") + e.name +
                                    " takes a whole number of at least " +
                                    std::to_string(e.least) + ", not '" + optarg + "'");
      }
    }
  }
  if (optind < argc)
    throw std::invalid_argument(std::string("unknown argument '") + argv[optind] + "'");
  if (chosen.optimizer != "sgd" && chosen.optimizer != "adam") {
    throw std::invalid_argument("--optimizer is sgd or adam, not '" + chosen.optimizer +
                                "'");
  }
  return chosen;
}

}  // namespace lenet

// SPDX-License-Identifier: MIT
// The man page and the completion of shells, made of the same description of the command line as --help.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace program {

/// cairn(1), in roff.
[[nodiscard]] std::string man_page(const CLI::App& app);
/// For share/bash-completion/completions/cairn.
[[nodiscard]] std::string bash_completion(const CLI::App& app);
/// For share/zsh/site-functions/_cairn.
[[nodiscard]] std::string zsh_completion(const CLI::App& app);

}  // namespace program

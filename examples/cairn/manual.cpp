// SPDX-License-Identifier: MIT
#include "manual.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cairn/version.hpp"

namespace program {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

bool is_named(const CLI::Option& option) { return !option.get_lnames().empty(); }

/// "-o" and "--output".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& each : option.get_snames()) names.push_back("-" + each);
  for (const auto& each : option.get_lnames()) names.push_back("--" + each);
  return names;
}

/// The options of a command, --help included.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* each) { return is_named(*each) && !each->get_group().empty(); });
}

std::string value_of(const CLI::Option& option) {
  return option.get_expected_max() == 0 || option.get_items_expected_max() == 0 ? "" : option.get_type_name();
}

/// Text of a line of roff.
std::string roff(std::string_view text) {
  std::string made;
  for (const char each : text) {
    if (each == '\\')
      made += "\\e";
    else if (each == '-')
      made += "\\-";
    else if (each == '`')
      made += "\\(aq";
    else
      made += each;
  }
  return made.starts_with('.') || made.starts_with('\'') ? "\\&" + made : made;
}

/// `text` with a backslash before each of `special`.
std::string quoted(std::string_view text, std::string_view special) {
  std::string made;
  for (const char each : text) {
    if (special.find(each) != special.npos) made += '\\';
    made += each;
  }
  return made;
}

/// In single quotes, for a shell.
std::string in_quotes(std::string_view text) {
  std::string made = "'";
  for (const char each : text) made += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return made + '\'';
}

std::string lines_of_options(const CLI::App& of) {
  std::string made;
  for (const auto* each : options_of(of)) {
    made += ".TP\n";
    std::string names;
    for (const auto& name : names_of(*each)) names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
    const auto value = value_of(*each);
    made += names + (value.empty() ? "" : " \\fI" + roff(value) + "\\fR") + '\n' + roff(each->get_description()) + '\n';
  }
  return made;
}

std::string words_of(const CLI::App& of) {
  std::string words;
  for (const auto* each : options_of(of))
    for (const auto& name : names_of(*each)) words += (words.empty() ? "" : " ") + name;
  return words;
}

/// The arguments of _arguments for the options of a command.
std::string zsh_options(const CLI::App& of) {
  std::string made;
  for (const auto* each : options_of(of))
    for (const auto& name : names_of(*each)) {
      const auto value = value_of(*each);
      const auto action = value == "FILE" ? ":_files" : ":";
      made += ' ' + in_quotes(name + '[' + quoted(each->get_description(), "[]\\") + ']' +
                              (value.empty() ? "" : ":" + value + action));
    }
  return made;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  std::string made = ".TH CAIRN 1 \"\" \"Cairn " CAIRN_VERSION
                     "\" \"User Commands\"\n.SH NAME\ncairn \\- look into checkpoints and runs\n";
  made += ".SH SYNOPSIS\n";
  for (const auto* each : commands_of(app)) {
    made += ".B cairn " + each->get_name() + "\n";
    for (const auto* argument : each->get_options([](const CLI::Option* one) { return !is_named(*one); }))
      made += ".I " + roff(argument->get_name()) + "\n";
    made += "[\\fIoptions\\fR]\n.br\n";
  }
  made += ".SH DESCRIPTION\n" + roff(app.get_description()) + "\n.SH COMMANDS\n";
  for (const auto* each : commands_of(app)) {
    made += ".SS " + each->get_name() + '\n' + roff(each->get_description()) + ".\n";
    for (const auto* argument : each->get_options([](const CLI::Option* one) { return !is_named(*one); }))
      if (!argument->get_description().empty())
        made += ".TP\n\\fI" + roff(argument->get_name()) + "\\fR\n" + roff(argument->get_description()) + '\n';
    made += lines_of_options(*each);
    if (!each->get_footer().empty() && each->get_footer() != app.get_footer())
      made += ".PP\n" + roff(each->get_footer()) + '\n';
  }
  made += ".SH OPTIONS\n" + lines_of_options(app) + ".SH NOTES\n";
  const auto notes = app.get_footer();
  std::string_view footer = notes;
  while (!footer.empty()) {
    const auto end = footer.find('\n');
    made += ".PP\n" + roff(footer.substr(0, end)) + '\n';
    footer = end == footer.npos ? "" : footer.substr(end + 1);
  }
  return made + ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf it is set and not empty, there are no colours on terminals.\n";
}

std::string bash_completion(const CLI::App& app) {
  std::string names, cases;
  for (const auto* each : commands_of(app)) {
    names += each->get_name() + ' ';
    cases += "      " + each->get_name() + ") words='" + words_of(*each) + "' ;;\n";
  }
  return "# bash completion of cairn\n"
         "_cairn() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} words=\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    words='" +
         names + words_of(app) +
         "'\n"
         "  elif [[ $current == -* ]]; then\n"
         "    case ${COMP_WORDS[1]} in\n" +
         cases +
         "    esac\n"
         "  fi\n"
         "  [[ ! $words ]] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o bashdefault -o default -F _cairn cairn\n";
}

std::string zsh_completion(const CLI::App& app) {
  std::string names, cases;
  for (const auto* each : commands_of(app)) {
    names += "  " + in_quotes(each->get_name() + ':' + each->get_description()) + '\n';
    cases += "  " + each->get_name() + ") _arguments" + zsh_options(*each) + " '*:file:_files' ;;\n";
  }
  return "#compdef cairn\n"
         "local -a commands\n"
         "commands=(\n" +
         names +
         ")\n"
         "if ((CURRENT == 2)); then\n"
         "  _describe command commands\n"
         "  return\n"
         "fi\n"
         "local command=$words[2]\n"
         "shift words\n"
         "((CURRENT--))\n"
         "case $command in\n" +
         cases + "esac\n";
}

}  // namespace program

// SPDX-License-Identifier: MIT
// The program cairn looks into checkpoints and runs, and changes them. `cairn --help` lists its commands.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "advice.hpp"
#include "cairn/core/error.hpp"
#include "cairn/encode/lc.hpp"  // makes its codecs known to the reader
#include "cairn/version.hpp"
#include "commands.hpp"
#include "interrupts.hpp"
#include "manual.hpp"
#include "printing.hpp"

namespace {

constexpr const char* footer =
    "Exit status: 0; 1 if `diff` finds a difference, or `verify` or `ls` damage; 2 for an error, which is one line on "
    "the standard error.\n"
    "A CHECKPOINT is the directory of a checkpoint, a run (its newest checkpoint), or a safetensors file. Runs and "
    "checkpoints may also be in a bucket, at s3://BUCKET/PREFIX.";

constexpr const char* run_text = "The directory of a run";
constexpr const char* checkpoint_text =
    "The directory of a checkpoint, a run (its newest checkpoint), or a safetensors file";

/// A whole number from 1 on, in plain decimal digits.
const CLI::Validator natural(
    [](std::string& text) {
      const bool is_natural =
          !text.empty() && text.size() <= 18 && text[0] != '0' && text.find_first_not_of("0123456789") == text.npos;
      return is_natural ? std::string() : "must be a whole number from 1 on, not \"" + text + '"';
    },
    "");

const CLI::Validator not_empty([](std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, "");

void add_rules(CLI::App& command, program::retention& rules) {
  command.add_option("--keep-last", rules.keep_last, "Keep the newest N")->type_name("N")->check(natural);
  command.add_option("--keep-every", rules.keep_every, "Keep the first from each multiple of N steps on")
      ->type_name("N")
      ->check(natural);
  auto* const best = command.add_option("--keep-best", rules.keep_best, "Keep the N with the best metric")
                         ->type_name("N")
                         ->check(natural);
  command.add_option("--metric", rules.metric, "The metric of --keep-best")->capture_default_str()->needs(best);
  command.add_flag("--higher-is-better", rules.higher_is_better, "The largest values of the metric are the best")
      ->needs(best);
  command.footer("What any rule keeps stays, what a delta is built on stays, and the newest checkpoint always stays.");
}

int run(int argc, char** argv) {
  CLI::App app("Looks into checkpoints and runs of Cairn, and changes them.", "cairn");
  app.require_subcommand(1);
  app.set_version_flag("--version", CAIRN_VERSION);
  app.footer(footer);
  int status = 0;
  bool json = false, all = false, yes = false;
  std::string a, b, events, shell;
  program::array_names names;
  std::size_t ranks = 0;
  std::uint64_t step = 0;  // of `import`
  program::retention rules;
  const auto command = [&](const char* name, const char* what) {
    auto* const made = app.add_subcommand(name, what);
    made->add_flag("--json", json, "Print JSON, and nothing else");
    return made;
  };
  auto* const ls = command("ls", "List the checkpoints of a run; with rules, mark those that `prune` would remove");
  ls->add_option("RUN", a, run_text)->required()->check(not_empty);
  add_rules(*ls, rules);
  ls->callback([&] { status = program::list(a, rules, json); });

  auto* const show = command("show", "Show the arrays of a checkpoint");
  show->add_option("CHECKPOINT", a, checkpoint_text)->required()->check(not_empty);
  show->callback([&] { status = program::show(a, json); });

  auto* const verify = command("verify", "Compare all bytes with their checksums");
  verify->add_option("CHECKPOINT", a, checkpoint_text)->required()->check(not_empty);
  verify->add_flag("--all", all, "Each checkpoint of a run, or of what a host of a group has");
  verify->callback([&] { status = program::verify(a, all, json); });

  auto* const diff = command("diff", "Show which arrays of two checkpoints differ, and by how much");
  diff->add_option("A", a, checkpoint_text)->required()->check(not_empty);
  diff->add_option("B", b, checkpoint_text)->required()->check(not_empty);
  diff->callback([&] { status = program::diff(a, b, json); });

  const auto add_names = [&](CLI::App& to) {
    to.add_option("--filter", names.patterns, "Only arrays whose names match one of these patterns, such as model.*")
        ->type_name("PATTERN");
    to.add_option("--strip", names.prefix, "Remove this beginning of names")->type_name("PREFIX");
  };
  auto* const export_ = command("export", "Write the arrays as safetensors files for other programs");
  export_->add_option("CHECKPOINT", a, checkpoint_text)->required()->check(not_empty);
  export_->add_option("PATH", b, "A file that ends in .safetensors, or a directory")->required()->check(not_empty);
  add_names(*export_);
  export_->callback([&] { status = program::export_arrays(a, b, names, json); });

  auto* const import = command("import", "Make a checkpoint of safetensors files");
  import->add_option("FILE", a, "A safetensors file, or a directory with model.safetensors")
      ->required()
      ->check(not_empty);
  import->add_option("CHECKPOINT", b, "The directory to make")->required()->check(not_empty);
  add_names(*import);
  import->add_option("--step", step, "The step of the checkpoint")->type_name("N")->check(natural);
  import->callback([&] { status = program::import_arrays(a, b, names, step, json); });

  auto* const merge = command("merge", "Make a delta whole");
  merge->add_option("CHECKPOINT", a, checkpoint_text)->required()->check(not_empty);
  merge->callback([&] { status = program::merge(a, json); });

  auto* const copy = command("copy", "Copy a checkpoint, and what it is built on, to another run");
  copy->add_option("CHECKPOINT", a, checkpoint_text)->required()->check(not_empty);
  copy->add_option("RUN", b, "Where to: the directory of a run, or s3://BUCKET/PREFIX")->required()->check(not_empty);
  copy->callback([&] { status = program::copy(a, b, json); });

  auto* const prune =
      command("prune", "Remove the checkpoints of a run that no rule keeps; without --yes, only list them");
  prune->add_option("RUN", a, run_text)->required()->check(not_empty);
  add_rules(*prune, rules);
  prune->add_flag("--yes", yes, "Remove them");
  prune->callback([&] { status = program::prune(a, rules, yes, json); });

  auto* const plan = command("plan", "Show what each rank of a job would write");
  plan->add_option("CHECKPOINT", a, checkpoint_text)->required()->check(not_empty);
  plan->add_option("--ranks", ranks, "The number of ranks, at most 100000")
      ->required()
      ->type_name("N")
      ->check(natural)
      ->check(CLI::Validator(CLI::Range(1, 100000)).description(""));
  plan->callback([&] { status = program::plan(a, ranks, json); });

  auto* const report = command("report", "Write a page about a run, with plots, as one HTML file");
  report->add_option("RUN", a, run_text)->required()->check(not_empty);
  report->add_option("-o,--output", b, "The page; - is the standard output")
      ->required()
      ->type_name("FILE")
      ->check(not_empty);
  report->add_option("--events", events, "What observers::json_lines has written")->type_name("FILE")->check(not_empty);
  report->callback([&] { status = program::report(a, events, b, json); });

  // For the build, which installs what these print.
  auto* const manual = app.add_subcommand("print-manual", "Print the man page, or the completion of bash or zsh");
  manual->group("");
  manual->add_option("WHAT", shell)->required()->check(CLI::IsMember({"man", "bash", "zsh"}));
  manual->callback([&] {
    std::cout << (shell == "man"    ? program::man_page(app)
                  : shell == "bash" ? program::bash_completion(app)
                                    : program::zsh_completion(app));
  });

  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto is_it = [&](const CLI::App* each) { return argc > 1 && each->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), is_it))
    cairn::fail(cairn::errc::invalid,
                {"there is no command \"", std::string_view(argv[1]), "\"; `cairn --help` lists them"});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    if (wrong.get_exit_code() == 0) return app.exit(wrong);  // --help, --version
    cairn::fail(cairn::errc::invalid, {std::string_view(wrong.what()), "; --help shows what a command takes"});
  }
  return status;
}

/// One line: what has failed, and what to do.
void print_error(const std::string& message) {
  std::cerr << program::styled("cairn:", program::style::bad, 2) << ' '
            << program::printable(program::without_prefix(message)) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // an error in place of the end: then what is half done is removed
  int status = 2;
  try {
    const int made = run(argc, argv);
    if (!std::cout.flush()) throw std::runtime_error("cairn: the output cannot be written");
    status = made;
  } catch (const cairn::error& fault) {
    print_error(fault.what() + program::advice_for(fault));
  } catch (const std::bad_alloc&) {
    print_error("there is not enough memory; end other programs, or use a machine with more memory");
  } catch (const std::exception& fault) {
    print_error(fault.what());
  }
  if (const int signal = program::interrupts::signal(); signal != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  return status;
}

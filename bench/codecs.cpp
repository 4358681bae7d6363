// SPDX-License-Identifier: MIT
// Compresses a real training state with Cairn's codecs and their peers, all of them in turn on one core, and prints
// ratios, rates, errors and figures.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/breakdown.hpp"
#include "codecs/chain.hpp"
#include "codecs/chart.hpp"
#include "codecs/contest.hpp"
#include "codecs/data_sets.hpp"
#include "codecs/method.hpp"
#include "codecs/symbols.hpp"
#include "codecs/trainer.hpp"
#include "common/arguments.hpp"
#include "common/report.hpp"

namespace {

using namespace bench;

constexpr std::string_view usage =
    "codecs [--data DIR] [--steps 400] [--deltas 20] [--reps 7] [--json FILE] [--figure FILE] [--wait 1]\n"
    "  Trains an MLP with Adam, compresses what it consists of with every method in turn, and prints medians.\n"
    "  --data    a folder with MNIST's idx files; CAIRN_TEST_DATA by default, and without that, drawn digits\n"
    "  --deltas  of the chains of lossy checkpoints, 1 and 10 steps apart\n"
    "  --figure  an SVG file with the results\n"
    "  --wait    seconds to wait at most for idle cores before every repetition; 0: not at all\n";

constexpr const char* planes = "planes + zstd -1";

/// The peers without loss that this build has.
std::vector<method> lossless_peers() {
  std::vector<method> peers;
#ifdef CAIRN_BENCH_ZSTD
  peers.push_back(planes_method());
  peers.push_back(zstd_method(1));
  peers.push_back(zstd_method(3));
#endif
#ifdef CAIRN_BENCH_LZ4
  peers.push_back(lz4_method());
#endif
#ifdef CAIRN_BENCH_BLOSC
  peers.push_back(blosc_method());
#endif
  return peers;
}

std::vector<method> lossless_methods(bool xor_parent) {
  auto methods = lossless_peers();
  methods.insert(methods.begin(), cairn_lossless_method(xor_parent));
  methods.push_back(copy_method());
  return methods;
}

chain_methods lossy_methods() {
  chain_methods methods{.deltas = {cairn_lc_method(2), cairn_lc_method(3)}, .whole = {}, .bounded = nullptr};
#ifdef CAIRN_BENCH_ZSTD
  methods.whole.push_back(planes_method());
#endif
#ifdef CAIRN_BENCH_ZFP
  methods.bounded = zfp_method;
#endif
  return methods;
}

/// "planes + zstd -1" -> "planes_zstd_1".
std::string plain_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (kept)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  return name;
}

/// Prints one contest, and notes its numbers as "<key>.<method>.<what>".
void print_results(const std::string& title, const std::string& key, std::span<const result> results, report& numbers) {
  std::printf("%s\n\n", title.c_str());
  table rows({"method", "ratio", "saved %", "compress GB/s", "decompress GB/s", "largest error", "rms error"});
  for (const auto& r : results) {
    rows.row({r.method, text_of(r.ratio()), text_of(r.saved()), text_of(r.rate(r.compress)),
              text_of(r.rate(r.decompress)), error_text(r.max_error), error_text(r.rms_error)});
    const auto name = key + "." + plain_name(r.method);
    numbers.number(name + ".ratio", r.ratio());
    numbers.number(name + ".compress_gbps", r.rate(r.compress));
    numbers.number(name + ".decompress_gbps", r.rate(r.decompress));
    if (r.max_error > 0) numbers.number(name + ".max_error", r.max_error);
    if (r.max_error > 0) numbers.number(name + ".rms_error", r.rms_error);
  }
  rows.print();
}

std::string with_size(const std::string& title, const result& any) {
  return title + ", " + text_of(static_cast<double>(any.bytes) / 1e6, 1) + " MB";
}

/// The weights and both moments of a run, without loss: each by itself, and all three.
template <class MakeSet>
panel compare_state(const std::string& type, const training_run& run, const MakeSet& make_set, const patience& how,
                    report& numbers) {
  const auto methods = lossless_methods(false);
  std::vector<std::vector<result>> parts;
  const auto add = [&](const char* name, const char* prefix, const parameter_values& values) {
    parts.push_back(compare_lossless(make_set(prefix, run.parameters, values), methods, how));
    print_results(with_size(type + " " + name, parts.back().front()), "lossless." + type + "." + plain_name(name),
                  parts.back(), numbers);
  };
  add("weights", "model", run.weights);
  add("first moment", "optimizer.m", run.first_moment);
  add("second moment", "optimizer.v", run.second_moment);
  panel all{type + " weights and both Adam moments", together(parts)};
  print_results(with_size(all.title, all.results.front()), "lossless." + type + ".all", all.results, numbers);
  return all;
}

/// The weights, as their difference to those some steps before.
template <class MakeSet>
panel compare_xor(const std::string& type, const training_run& run, const weight_chain& chain, const MakeSet& make_set,
                  const patience& how, report& numbers) {
  const auto& older = chain.snapshots[chain.snapshots.size() - 2];
  const auto data = against(make_set("model", run.parameters, run.weights), make_set("model", run.parameters, older));
  const auto apart = std::to_string(chain.apart);
  panel made{type + " weights XOR those " + apart + (chain.apart == 1 ? " step before" : " steps before"),
             compare_lossless(data, lossless_methods(true), how)};
  print_results(with_size(made.title, made.results.front()), "lossless.xor" + apart + "." + type, made.results,
                numbers);
  return made;
}

panel compare_deltas(const training_run& run, const weight_chain& chain, const patience& how, report& numbers) {
  const auto apart = std::to_string(chain.apart), key = "lossy.delta" + apart;
  panel made{"fp32 weights, deltas " + apart + (chain.apart == 1 ? " step apart" : " steps apart"),
             compare_chain(run.parameters, chain, lossy_methods(), how)};
  print_results(made.title + ", a chain of " + std::to_string(chain.snapshots.size() - 1), key, made.results, numbers);

  deviation moved;
  const auto& before = chain.snapshots[chain.snapshots.size() - 2];
  for (std::size_t i = 0; i < before.size(); ++i) moved.add(before[i], chain.snapshots.back()[i]);
  std::printf("for comparison, the last two snapshots of the chain: largest difference %s, rms %s\n\n",
              error_text(moved.largest).c_str(), error_text(moved.rms()).c_str());
  numbers.number(key + ".moved.max_error", moved.largest);
  numbers.number(key + ".moved.rms_error", moved.rms());
  return made;
}

double ratio_of(const result* top, const result* bottom) {
  return top == nullptr || bottom == nullptr ? median({}) : top->ratio() / bottom->ratio();
}

void add_lossless_figures(const std::string& type, std::span<const result> all, double compress, double decompress,
                          report& figures) {
  const auto* const own = find(all, "cairn");
  const auto* const peer = find(all, planes);
  const auto key = "lossless." + type;
  figures.at_least(key + ".saved_over_planes_zstd", peer == nullptr ? median({}) : own->saved() / peer->saved(), 1.0);
  figures.at_least(key + ".compress_over_planes_zstd", rate_ratio(own, peer, &result::compress), compress);
  figures.at_least(key + ".decompress_over_planes_zstd", rate_ratio(own, peer, &result::decompress), decompress);
}

void add_lossy_figures(std::span<const result> chain, report& figures) {
  const auto* const lc2 = find(chain, "cairn lc2");
  const auto* const copy = find(chain, "memcpy");
  figures.at_least("lc2.encode_over_memcpy", rate_ratio(lc2, copy, &result::compress), 0.15);
  figures.at_least("lc2.decode_over_memcpy", rate_ratio(lc2, copy, &result::decompress), 0.45);
  figures.at_least("lc2.ratio", lc2->ratio(), 40);
  figures.at_least("lc3.ratio", find(chain, "cairn lc3")->ratio(), 18);
  figures.at_least("lc2.over_zfp", ratio_of(lc2, find(chain, "zfp, error of lc2")), 8);
  figures.at_least("lc2.encode_over_planes_zstd", rate_ratio(lc2, find(chain, planes), &result::compress), 3);
}

void run_all(const arguments& options) {
  const patience how{options.count("reps"), std::chrono::duration<double>(options.number("wait"))};
  const auto run = train({options.count("steps"), options.positive("deltas"), options.text("data")});
  report report;
  const auto setting = "MLP 784-2048-1536-784-10, " + run.data + ", step " + options.text("steps") + ", loss " +
                       text_of(run.loss, 4) + ", accuracy " + text_of(100 * run.accuracy, 1) + " %";
  std::printf("%s\none thread, medians of %zu; GB/s = 1e9 bytes of values per second of CPU time\n\n", setting.c_str(),
              how.repetitions);

  const auto fp32 = compare_state("fp32", run, as_fp32, how, report);
  const auto bf16 = compare_state("bf16", run, as_bf16, how, report);
  const auto xor1 = compare_xor("fp32", run, run.ones, as_fp32, how, report);
  compare_xor("fp32", run, run.tens, as_fp32, how, report);
  const auto half_xor1 = compare_xor("bf16", run, run.ones, as_bf16, how, report);
  compare_xor("bf16", run, run.tens, as_bf16, how, report);
  compare_deltas(run, run.ones, how, report);
  const auto deltas = compare_deltas(run, run.tens, how, report);
  const auto symbols = measure_symbols(how);
  std::printf(
      "2-bit symbols at .90, .05, .03, .02: %.3f bits each, entropy %.3f; encode %.2f, decode %.2f GB/s of packed "
      "bytes\n\n",
      symbols.bits, symbols.entropy, symbols.encode, symbols.decode);
  report.number("huffman.encode_gbps", symbols.encode);
  report.number("huffman.decode_gbps", symbols.decode);
  print_breakdown(run.parameters, run.tens, "breakdown", report);

  add_lossless_figures("fp32", fp32.results, 2.5, 1.5, report);
  add_lossless_figures("bf16", bf16.results, 3.0, 1.6, report);
  report.at_least("lossless.xor1.fp32.saved", find(xor1.results, "cairn")->saved(), 40);
  add_lossy_figures(deltas.results, report);
  report.at_most("huffman.bits_over_entropy", symbols.bits / symbols.entropy, 1.1);
  report.print_figures();
  report.write_json(options.text("json"));
  const std::vector<panel> panels{fp32, bf16, xor1, half_xor1, deltas};
  write_chart(options.text("figure"), "Compressing a training state, one core", setting, panels);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const char* const folder = std::getenv("CAIRN_TEST_DATA");
    run_all(bench::arguments(argc, argv,
                             {{"data", folder == nullptr ? "" : folder},
                              {"steps", "400"},
                              {"deltas", "20"},
                              {"reps", "7"},
                              {"json", ""},
                              {"figure", ""},
                              {"wait", "1"}},
                             usage));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "codecs: %s\n", failure.what());
    return 1;
  }
}

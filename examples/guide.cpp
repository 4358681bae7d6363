// SPDX-License-Identifier: MIT
// The code of the guides in docs/. Each snippet there is the text between two marks
// `// [name]` here, which is compiled and run as a test.
#include <cairn/cairn.hpp>
#include <cairn/encode/lc.hpp>
#include <cairn/export.hpp>
#include <cairn/exporter.hpp>
#include <cairn/merge.hpp>
#include <cairn/schedule/policies.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// [plain]
struct linear {
  std::vector<float> weight, bias;
};
struct moments {
  std::vector<float> m, v;
};
struct trainer_state {
  std::vector<linear> layers;           // layers.0.weight, layers.0.bias, ...
  std::map<std::string, moments> adam;  // adam.<key>.m, adam.<key>.v
  std::mt19937_64 rng{1};               // rng
  std::uint64_t step = 0;               // step
};
// [plain]

// [private]
class running_mean {
 public:
  void add(double x) { sum_ += x, ++count_; }
  static auto cairn_fields() {
    return cairn::fields<&running_mean::sum_, &running_mean::count_>{};
  }

 private:
  double sum_ = 0;           // saved as "sum"
  std::uint64_t count_ = 0;  // saved as "count"
};
// [private]

// [scattered]
void resume(std::vector<linear>& layers, moments& adam, std::mt19937_64& rng,
            const std::string& place) {
  // The paths: layers.0.weight, ..., optimizer.adam.m, optimizer.adam.v, rng
  cairn::state all{{"layers", layers}, {"optimizer", {{"adam", adam}}}, {"rng", rng}};
  cairn::checkpointer ckpt{place};
  ckpt.restore(all);
  ckpt.save(all, {.step = 1});
}
// [scattered]

// [skip]
struct cached_layer {
  std::vector<float> weight;
  cairn::skip<std::mutex> lock;  // *lock is the mutex
  std::vector<float> activations;
  float* gradient = nullptr;
  using cairn_skip = cairn::names<"activations", "gradient">;
};
// [skip]

// [polymorphic]
struct layer {
  virtual ~layer() = default;
  int id = 0;
};
struct dense : layer {
  std::vector<float> weight;
  static auto cairn_fields() { return cairn::fields<&layer::id, &dense::weight>{}; }
};
struct dropout : layer {
  double rate = 0.5;
  static auto cairn_fields() { return cairn::fields<&layer::id, &dropout::rate>{}; }
};
template <>
struct cairn::polymorphic<layer>
    : cairn::one_of<dense, cairn::named<"dropout", dropout, "nets::random_zeros">> {};
// [polymorphic]

// [bases]
struct block {
  int id = 0;
};

class embedding : public block {
 public:
  using cairn_bases = cairn::bases<block>;
  static auto cairn_fields() {
    return cairn::fields<&embedding::weight_, &embedding::width_>{};
  }

 private:
  std::vector<float> weight_;
  std::uint64_t width_ = 0;
};
// [bases]

// [is_container]
class counted_list : public std::vector<float> {
 public:
  void count_read() { ++reads_; }

 private:
  std::size_t reads_ = 0;  // not worth a checkpoint
};

template <>
inline constexpr bool cairn::is_container<counted_list> = true;
// [is_container]

// [view_adapter]
class matrix {  // of another library, column-major
 public:
  matrix(std::size_t rows = 0, std::size_t columns = 0)
      : rows_(rows), columns_(columns), values_(rows * columns) {}
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  double* data() { return values_.data(); }

 private:
  std::size_t rows_, columns_;
  std::vector<double> values_;
};

template <>
struct cairn::adapter<matrix> {
  static tensor_view<double> view(matrix& m) {
    return {
        m.data(), {m.rows(), m.columns()}, {1, static_cast<std::int64_t>(m.rows())}};
  }
  static void resize(matrix& m, const extents& shape) {
    m = matrix(shape[0], shape[1]);
  }
};
// [view_adapter]

// [copy_adapter]
class tokenizer {  // of another library, without access to its members
 public:
  std::string to_text() const { return text_; }
  static tokenizer from_text(std::string text) {
    tokenizer made;
    made.text_ = std::move(text);
    return made;
  }

 private:
  std::string text_;
};

template <>
struct cairn::adapter<tokenizer> {
  static std::string get(const tokenizer& t) { return t.to_text(); }
  static void set(tokenizer& t, std::string text) {
    t = tokenizer::from_text(std::move(text));
  }
};
// [copy_adapter]

// [fields_adapter]
class adam {  // of another library, which makes the moments in the first step
 public:
  double& rate() { return rate_; }
  bool has_moments() const { return m_ != nullptr; }
  void make_moments() {
    m_ = std::make_unique<std::vector<float>>(),
    v_ = std::make_unique<std::vector<float>>();
  }
  std::vector<float>& m() { return *m_; }
  std::vector<float>& v() { return *v_; }

 private:
  double rate_ = 1e-3;
  std::unique_ptr<std::vector<float>> m_, v_;
};

template <>
struct cairn::adapter<adam> {
  template <class Field>
  static void fields(adam& a, const Field& field) {
    field("rate", a.rate());
    if (field.purpose() == purpose::apply && field.stored("m") && !a.has_moments())
      a.make_moments();
    if (a.has_moments()) {
      field("m", a.m());
      field("v", a.v());
    } else if (field.stored("m")) {  // the purpose is check: the moments will be made
      field.prototype("m", std::vector<float>());
      field.prototype("v", std::vector<float>());
    }
  }
};
// [fields_adapter]

// [device_adapter]
class gpu_tensor {  // of another library: a handle, which is null if default-made
 public:
  gpu_tensor() = default;
  gpu_tensor(cairn::dtype type, cairn::extents shape);
  explicit operator bool() const { return memory_ != nullptr; }
  cairn::dtype type() const { return type_; }
  const cairn::extents& shape() const { return shape_; }
  void* address() const { return memory_.get(); }

 private:
  cairn::dtype type_{};
  cairn::extents shape_;
  std::shared_ptr<void> memory_;
};

// Stand for functions of a GPU's library. They return when the copy is complete.
void copy_to_host(void* host, const void* device, std::size_t bytes,
                  void* /*context*/) {
  // cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)
  std::memcpy(host, device, bytes);
}
void copy_from_host(void* device, const void* host, std::size_t bytes,
                    void* /*context*/) {
  std::memcpy(device, host, bytes);
}

template <>
struct cairn::adapter<gpu_tensor> {
  static any_tensor_view view(gpu_tensor& t) {
    if (!t) return {};  // an array that does not exist yet
    return {t.type(),
            t.address(),
            t.shape(),
            {},
            {.to_host = copy_to_host, .from_host = copy_from_host}};
  }
  static bool can_be(const extents& shape) { return shape.size() <= 4; }
  static void resize(gpu_tensor& t, const extents& shape, dtype type) {
    t = gpu_tensor(type, shape);
  }
};
// [device_adapter]

gpu_tensor::gpu_tensor(cairn::dtype type, cairn::extents shape)
    : type_(type),
      shape_(std::move(shape)),
      memory_(new char[cairn::element_count(shape_) * size_of(type)],
              [](char* memory) { delete[] memory; }) {}

// [make_adapter]
class generator {  // of another library: null if default-made
 public:
  static generator seeded(std::uint64_t seed) {
    generator made;
    made.engine_ = std::make_shared<std::mt19937_64>(seed);
    return made;
  }
  std::mt19937_64& engine() { return *engine_; }
  const std::mt19937_64& engine() const { return *engine_; }

 private:
  std::shared_ptr<std::mt19937_64> engine_;
};

template <>
struct cairn::adapter<generator> {
  static generator make() { return generator::seeded(0); }
  static std::mt19937_64 get(const generator& g) { return g.engine(); }
  static void set(generator& g, const std::mt19937_64& engine) { g.engine() = engine; }
};
// [make_adapter]

// [per_rank]
struct cursor {
  std::uint64_t epoch = 0, position = 0;
};
struct restart_epoch {  // the value for a rank when the number of ranks has changed
  static cursor redistribute(std::vector<cursor> saved, unsigned /*rank*/,
                             unsigned /*ranks*/) {
    cursor oldest = saved.front();
    for (const auto& each : saved) oldest.epoch = std::min(oldest.epoch, each.epoch);
    oldest.position = 0;
    return oldest;
  }
};
struct rank_state {
  std::vector<float> weights;
  cairn::per_rank<std::mt19937_64> rng;         // no load on another number of ranks
  cairn::per_rank<cursor, restart_epoch> data;  // there, restart_epoch gives the value
};
// [per_rank]

// [policy]
struct when_loss_halves {
  double loss = 1e300, saved_loss = 1e300;
  std::uint64_t step = 0;

  bool should_save(const cairn::moment& now) {
    // the previous step was saved, whichever policy asked for it
    if (now.saved_step == step) saved_loss = loss;
    step = now.step;
    if (now.loss && std::isfinite(*now.loss)) loss = *now.loss;
    // if this save is skipped, it is asked for again at the next step
    return loss <= saved_loss / 2;
  }
  // what the checkpoint of this step stores
  cairn::policy_memory remember() const { return {{"saved_loss", {loss}}}; }
  void recall(const cairn::policy_memory& kept) {
    const auto found = kept.find("saved_loss");
    if (found != kept.end() && found->second.size() == 1)
      loss = saved_loss = found->second[0];
  }
};
// [policy]

// [codec]
struct upper_halves {                                  // of each float
  std::string name() const { return "upper_halves"; }  // the name in the file
  bool uses_parent() const { return false; }           // true: gets its elements, too
  std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const {
    return bytes / 2;
  }

  cairn::encode_result encode(const cairn::encode_request& in,
                              std::span<std::byte> out) const {
    if (in.type != cairn::dtype::f32) return {};  // not a float: not encoded
    double largest = 0, lost = 0, all = 0;
    for (std::size_t i = 0; i < in.values.size() / 4; ++i) {
      float real = 0, kept = 0;
      std::memcpy(&real, &in.values[4 * i], 4);
      std::memcpy(&out[2 * i], &in.values[4 * i + 2], 2);
      std::memcpy(reinterpret_cast<std::byte*>(&kept) + 2, &out[2 * i], 2);
      const double off = static_cast<double>(real) - static_cast<double>(kept);
      largest = std::max(largest, std::abs(off)), lost += off * off,
      all += static_cast<double>(real) * real;
    }
    return {.codec = name(),
            .bytes = in.values.size() / 2,
            .lost = cairn::loss{largest, all > 0 ? std::sqrt(lost / all) : 0}};
  }

  void decode(const cairn::decode_request& from) const {
    // a file may be damaged: check every size
    if (2 * from.payload.size() != from.values.size())
      cairn::fail(cairn::errc::corrupt, {from.where, ": \"", from.path,
                                         "\" has a payload of the wrong size"});
    for (std::size_t i = 0; i < from.payload.size() / 2; ++i) {
      std::memset(&from.values[4 * i], 0, 2);
      std::memcpy(&from.values[4 * i + 2], &from.payload[2 * i], 2);
    }
  }
};
// [codec]

static void smaller_checkpoints(const std::string& place) {
  trainer_state state;
  state.layers.resize(1);
  state.layers[0].weight.resize(10'000, 0.5F);
  state.adam["0"].v.resize(10'000);
  // [codecs]
  using namespace cairn::codecs;
  const cairn::codec_rules chosen{
      {"layers.*", lc<3>{.max_delta_l2 = 0.5}},                // lossy, with a bound
      {"adam.*.v", lc<3>{.delta = cairn::delta_kind::ratio}},  // up to a factor of 2
      {"adam.*.m", lossless{.xor_parent = true}}};             // XOR; other leaves: raw
  cairn::checkpointer ckpt{
      place + "/small",
      {.codecs = chosen,
       .chain = {.anchor_every = 20, .merge = cairn::merging{.every = 5}}}};
  // [codecs]
  ckpt.remove_after(0);  // of an earlier run of this program
  for (state.step = 1; state.step <= 8; ++state.step) {
    for (auto& w : state.layers[0].weight) w *= 0.999F;
    const auto report = ckpt.save(state, {.step = state.step});
    std::cout << report.bytes << " of " << report.state_bytes
              << (report.is_delta ? " bytes, a delta\n" : " bytes\n");
  }
  ckpt.wait();
  // [own_codec]
  const cairn::codec_rules rules{{"layers.*", upper_halves{}}};
  cairn::save(place + "/half", state, {.codecs = rules});
  cairn::load(place + "/half", state, {.codecs = rules});
  // [own_codec]
}

static void one_shot(const std::string& place) {
  trainer_state state;
  state.layers.resize(2);
  // [one_shot]
  cairn::save(place + "/final", state);
  trainer_state loaded;
  const cairn::load_report report = cairn::load(place + "/final", loaded);
  std::cout << report.loaded.size() << " arrays, " << report.bytes << " bytes\n";
  // [one_shot]
}

static void weights_only(const std::string& place) {
  // [weights]
  struct {
    std::vector<linear> layers;  // no optimizer, no random engine
  } model;
  cairn::load(place + "/final", model, {.filter = [](std::string_view path) {
                return path.starts_with("layers.");
              }});
  // [weights]
  assert(!model.layers.empty());
}

static void partial(const std::string& place) {
  // [partial]
  struct finetune_state {
    std::vector<linear> encoder;
    linear head;
  };
  finetune_state state;
  cairn::load_options options;
  options.strict = false;  // a path that only one side has is no error
  options.convert = cairn::conversion::widening;  // F16 -> F32, I32 -> I64, ...
  options.rename = [](std::string_view path) {
    std::string stored(path);
    if (stored.starts_with("encoder")) stored.replace(0, 7, "layers");
    return stored;
  };
  const auto report = cairn::load(place + "/final", state, options);
  for (const auto& path : report.missing)
    std::cout << "kept as it was: " << path << '\n';
  // [partial]
}

static void new_shapes(const std::string& place) {
  trainer_state state;
  state.layers.resize(1);
  state.layers[0].bias = {1, 2};
  cairn::save(place + "/shapes", state);
  state.layers[0].bias = {0, 0, 9};
  // [reshape]
  cairn::load(place + "/shapes", state, {.reshape = [](std::string_view path) {
                return path == "layers.0.bias" ? cairn::reshaping::grow
                                               : cairn::reshaping::none;
              }});
  // [reshape]
  assert((state.layers[0].bias == std::vector<float>{1, 2, 9}));
}

static void run(const std::string& place) {
  trainer_state state;
  // [run]
  cairn::checkpointer ckpt{
      place + "/run",
      {.keep_last = 3,
       .keep_best =
           cairn::keep_best_rule{.metric = "accuracy", .lower_is_better = false},
       .keep_every = 1000,
       .when = cairn::policies::every_steps{100},
       .on_event = cairn::observers::progress_line{}}};
  if (const auto resumed = ckpt.restore(state)) {
    for (const auto& each : resumed->skipped)
      std::cout << each.checkpoint << ": " << each.reason << '\n';
  }
  // [run]
  for (++state.step; state.step <= 300; ++state.step) {
    const double accuracy = 1 - 1.0 / static_cast<double>(state.step);
    // [metrics]
    const auto done =
        ckpt.step(state, {.step = state.step, .metrics = {{"accuracy", accuracy}}});
    // [metrics]
    if (done.stop) break;
  }
  // [errors]
  try {
    ckpt.save(state, {.step = state.step});
  } catch (const cairn::error& failure) {
    // continue after I/O errors, such as a full disk
    if (failure.code() != cairn::errc::io) throw;
    std::cerr << failure.what() << '\n';
  }
  // [errors]
  // [earlier]
  if (const auto best = ckpt.restore_best(state))
    ckpt.remove_after(best->step);  // the run continues from its best checkpoint
  // [earlier]
  assert(ckpt.latest() == state.step);
}

static void data_order(const std::string& place) {
  const std::vector<float> images(1000, 0.5F);
  cairn::checkpointer ckpt{place + "/order",
                           {.keep_last = 2, .when = cairn::policies::every_steps{10}}};
  // [loop]
  struct {
    double weight = 0;
    std::uint64_t step = 0;
    cairn::loop data;
  } state;
  state.data = cairn::loop(images, {.seed = 1, .batch = 64, .epochs = 4});
  ckpt.restore(state);
  for (const cairn::batch& b : state.data) {
    for (const std::uint64_t i : b.items) state.weight += 1e-3 * images[i];
    if (b.ends_epoch) std::cout << "epoch " << b.epoch << ": " << state.weight << '\n';
    // this batch counts as done in the checkpoint
    if (ckpt.step(state, {.step = ++state.step}).stop) break;
  }
  // [loop]
  assert(state.step == 4 * 16);
}

/// Saves in the background, and their options.
static void background(const std::string& place) {
  trainer_state state;
  state.layers.resize(1);
  state.layers[0].weight.resize(1000);
  const auto train = [&] { state.layers[0].weight[state.step++ % 1000] += 1; };
  // [background]
  cairn::checkpointer ckpt{
      place + "/background",
      {.keep_last = 2,
       .when = cairn::policies::every_steps{50},
       .on_event = cairn::observers::json_lines{place + "/events.jsonl"},
       .on_busy = cairn::when_busy::skip,
       .max_staging_bytes = std::uint64_t{8} << 30,
       .max_bytes_per_second = 500e6,
       .preempt = {SIGTERM, SIGUSR1},
       .preempt_deadline = std::chrono::seconds{60}}};
  ckpt.restore(state);
  while (state.step < 1000) {
    train();
    // a signal came, and the state is saved
    if (ckpt.step(state, {.step = state.step}).stop) return;
  }
  ckpt.wait();  // throws if the save in the background has failed
  const auto all = ckpt.stats();
  std::cout << all.saves << " saves, "
            << 1e3 * all.stall_seconds / static_cast<double>(all.saves) << " ms each\n";
  // [background]

  // [handle]
  const cairn::save_handle save = ckpt.step(state, {.step = 1001}).save;
  if (save && !save.done()) std::cout << "still writing\n";
  if (save)
    // get() waits; throws if it failed
    std::cout << save.get().bytes << " bytes in " << save.get().path << '\n';
  // [handle]

  // [poll]
  // a long evaluation, which ends early after a signal
  for (std::size_t i = 0; i < 100 && !ckpt.poll(); ++i) train();
  // [poll]
}

/// Policies and their options.
static void when_to_save(const std::string& place) {
  // [adaptive]
  cairn::checkpointer ckpt{
      place + "/when",
      {.keep_last = 3,
       .when = cairn::policies::adaptive(
           {.budget_percent = 2, .mtbf = {.mtbf = std::chrono::hours{12}}})}};
  // [adaptive]
  trainer_state state;
  ckpt.restore(state);
  const auto train = [&] {
    return std::exp(-1e-2 * static_cast<double>(++state.step));
  };
  // [observation]
  for (int i = 0; i < 500; ++i) {
    const double loss = train();
    if (ckpt.step(state, {.step = state.step, .loss = loss, .workers = 4}).stop) break;
  }
  // [observation]

  // [young]
  using namespace std::chrono_literals;
  cairn::any_policy when = cairn::policies::young(
      {.mtbf = cairn::known_mtbf(8h), .stall = 270ms});  // neither is measured
  // [young]
  // [combined]
  when =
      cairn::policies::any_of{cairn::policies::every_steps{1000}, when_loss_halves{}};
  // [combined]
  cairn::moment now{.step = 1, .seconds = 1, .loss = 1.0, .iteration_seconds = 1};
  assert(when.should_save(now));  // the first loss is a half of none
  now.step = 2;
  now.saved_step = 1;
  assert(!when.should_save(now));
}

static void every_type(const std::string& place) {
  struct {
    running_mean loss;
    std::vector<std::unique_ptr<layer>> net;
    matrix kernel{2, 3};
    tokenizer words = tokenizer::from_text("a b c");
    adam optimizer;
    std::vector<gpu_tensor> on_gpu;
    std::vector<generator> streams;
    rank_state here;
    cached_layer cached;
    embedding tokens;
    counted_list losses;
  } state, loaded;
  state.loss.add(3);
  state.net.push_back(std::make_unique<dropout>());
  state.kernel.data()[5] = 7;
  state.optimizer.make_moments();
  state.optimizer.m() = {1, 2};
  state.on_gpu = {gpu_tensor(cairn::dtype::f32, {2, 3}), gpu_tensor()};
  std::memset(state.on_gpu[0].address(), 1, 24);
  state.streams = {generator::seeded(5)};
  cairn::save(place + "/types", state);
  cairn::load(place + "/types", loaded);
  assert(loaded.kernel.data()[5] == 7 && loaded.words.to_text() == "a b c" &&
         loaded.net.size() == 1);
  assert(loaded.optimizer.m().size() == 2 &&
         loaded.streams[0].engine() == state.streams[0].engine());
  assert(std::memcmp(loaded.on_gpu[0].address(), state.on_gpu[0].address(), 24) == 0 &&
         !loaded.on_gpu[1]);

  std::vector<linear> layers(1);
  moments adam;
  std::mt19937_64 rng;
  resume(layers, adam, rng, place + "/scattered");

  // [memory]
  cairn::checkpointer rollback{cairn::stores::memory{},
                               {.keep_last = 1, .when = when_loss_halves{}}};
  std::ignore = rollback.step(state, {.step = 1, .loss = 4.0});
  // [memory]
}

static void for_other_programs(const std::string& place) {
  trainer_state state;
  state.layers = {{{1, 2, 3}, {4}}};
  cairn::save(place + "/trained", state);
  const std::string hub = place + "/hub";
  // [export]
  cairn::export_safetensors(
      cairn::open(place + "/trained"), hub,
      {.filter = [](std::string_view name) { return name.starts_with("layers."); },
       .rename = [](std::string_view name) { return std::string(name.substr(7)); }});
  // [export]
  assert(cairn::open(hub + "/model.safetensors").read<float>("0.weight").size() == 3);

  {
    // [exporter]
    cairn::checkpointer_options options;
    options.on_event = cairn::observers::exporter({.directory = hub},
                                                  cairn::observers::progress_line());
    // [exporter]
    cairn::checkpointer checkpoints(place + "/exported", options);
    checkpoints.save(state, {.step = 1});
  }  // waits for the export
  assert(cairn::open(hub + "/model.safetensors").contains("layers.0.weight"));
}

int main() {
  const std::string place = "guide-checkpoints";
  std::filesystem::create_directories(place);
  one_shot(place);
  weights_only(place);
  partial(place);
  new_shapes(place);
  run(place);
  smaller_checkpoints(place);
  data_order(place);
  background(place);
  when_to_save(place);
  every_type(place);
  for_other_programs(place);
}

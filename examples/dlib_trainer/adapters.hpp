// SPDX-License-Identifier: MIT
// Saves dlib's tensors, solver and trainer with Cairn: their arrays as arrays, and the
// rest as the bytes that dlib's `serialize` writes.
#pragma once

#include <cairn/cairn.hpp>
#include <dlib/dnn.h>

#include <cstddef>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace dlib_trainer {

template <class... Parts>
std::string to_bytes(const Parts&... parts) {
  using dlib::serialize;
  std::ostringstream out;
  (serialize(parts, out), ...);
  return std::move(out).str();
}

template <class... Parts>
void from_bytes(const std::string& bytes, Parts&... parts) {
  using dlib::deserialize;
  std::istringstream in(bytes);
  (deserialize(parts, in), ...);
}

/// Calls `action(index, parameters)` for each layer.
template <class Net, class Action>
void for_each_layer(Net& net, const Action& action) {
  dlib::visit_layer_parameters(net, [&](std::size_t index, dlib::tensor& parameters) {
    // of this type in all layers of dlib
    action(index, dynamic_cast<dlib::resizable_tensor&>(parameters));
  });
}

/// The solvers, which a load fills. dlib gives access to const ones only.
template <class Net, class Solver>
std::vector<Solver>& solvers_of(dlib::dnn_trainer<Net, Solver>& trainer) {
  return const_cast<std::vector<Solver>&>(trainer.get_solvers());
}

/// Takes the parameters and the solvers out of a trainer, and puts them back at the
/// end.
template <class Net, class Solver>
class lent_arrays {
 public:
  explicit lent_arrays(dlib::dnn_trainer<Net, Solver>& trainer)
      : net_(trainer.get_net(dlib::force_flush_to_disk::no)),
        solvers_(solvers_of(trainer)) {
    swap();
  }
  lent_arrays(const lent_arrays&) = delete;
  lent_arrays& operator=(const lent_arrays&) = delete;
  ~lent_arrays() { swap(); }

  [[nodiscard]] Net& net() { return net_; }

 private:
  void swap() {
    for_each_layer(net_, [&](std::size_t index, auto& parameters) {
      parameters.swap(lent_parameters_.at(index));
    });
    solvers_.swap(lent_solvers_);
  }

  Net& net_;
  std::vector<Solver>& solvers_;
  std::vector<dlib::resizable_tensor> lent_parameters_{Net::num_computational_layers};
  std::vector<Solver> lent_solvers_;
};

/// A trainer without its parameters and solvers: the layers' settings and statistics,
/// the schedule of the learning rate, the latest losses.
template <class Trainer>
struct rest_of {
  std::shared_ptr<Trainer> trainer;
};

/// What dlib writes of a solver.
struct sgd_values {
  std::string version;
  dlib::resizable_tensor velocity;
  float weight_decay = 0, momentum = 0;
};

}  // namespace dlib_trainer

/// One array of four dimensions: samples, channels, rows, columns.
template <>
struct cairn::adapter<dlib::resizable_tensor> {
  static tensor_view<float> view(dlib::resizable_tensor& t) {
    const auto size = [](long long each) { return static_cast<std::uint64_t>(each); };
    return {t.host(), {size(t.num_samples()), size(t.k()), size(t.nr()), size(t.nc())}};
  }
  static void resize(dlib::resizable_tensor& t, const extents& shape) {
    const auto size = [&](std::size_t i) { return static_cast<long long>(shape[i]); };
    t.set_size(size(0), size(1), size(2), size(3));
  }
};

/// Its members are private, so they go through dlib's bytes.
template <>
struct cairn::adapter<dlib::sgd> {
  using values = dlib_trainer::sgd_values;

  static values get(const dlib::sgd& solver) {
    values v;
    dlib_trainer::from_bytes(dlib_trainer::to_bytes(solver), v.version, v.velocity,
                             v.weight_decay, v.momentum);
    return v;
  }
  static void set(dlib::sgd& solver, const values& v) {
    dlib_trainer::from_bytes(
        dlib_trainer::to_bytes(v.version, v.velocity, v.weight_decay, v.momentum),
        solver);
  }
};

template <class Net, class Solver>
struct cairn::adapter<dlib_trainer::rest_of<dlib::dnn_trainer<Net, Solver>>> {
  using trainer = dlib::dnn_trainer<Net, Solver>;
  using rest = dlib_trainer::rest_of<trainer>;

  static std::string get(const rest& object) {
    dlib_trainer::lent_arrays lent(*object.trainer);
    // frees what each step computes again, as dlib does before it writes a trainer to
    // disk
    lent.net().clean();
    return dlib_trainer::to_bytes(*object.trainer);
  }
  static void set(rest& object, const std::string& bytes) {
    dlib_trainer::from_bytes(bytes, *object.trainer);
  }

  /// The trainer on which a load is tried.
  static rest prototype(const rest& /*object*/) {
    struct owner {
      Net net;
      trainer made{net};
    };
    const auto fresh = std::make_shared<owner>();
    return {std::shared_ptr<trainer>(fresh, &fresh->made)};
  }
};

/// With all that dlib's own files have: `layer0`, `layer1`, ... are the parameters,
/// `solvers.0.velocity` their momentum. A load trusts the checkpoint as dlib trusts its
/// files: shapes that do not fit the layers are not found. Networks on several GPUs are
/// not supported.
template <class Net, class Solver>
struct cairn::adapter<dlib::dnn_trainer<Net, Solver>> {
  using trainer = dlib::dnn_trainer<Net, Solver>;

  template <class Field>
  static void fields(trainer& t, const Field& field) {
    // does not own it
    dlib_trainer::rest_of<trainer> rest{
        std::shared_ptr<trainer>(std::shared_ptr<void>(), &t)};
    // first: a load of it makes the parameters and the list of solvers empty
    field("rest", rest);
    dlib_trainer::for_each_layer(t.get_net(dlib::force_flush_to_disk::no),
                                 [&](std::size_t index, auto& parameters) {
                                   field("layer" + std::to_string(index), parameters);
                                 });
    field("solvers", dlib_trainer::solvers_of(t));
  }
};

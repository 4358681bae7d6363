// SPDX-License-Identifier: MIT
// expect: for Mat, Col, Row, Cube and SpMat of Armadillo include cairn/adapters/armadillo.hpp
// expect: "weights: arma::Mat<float>"
#include <cstddef>
#include <vector>

#include "cairn/state/describe.hpp"

namespace arma {
template <class T>
class Mat {  // as that of Armadillo
 public:
  using value_type = T;
  T* begin();
  T* end();
  const T* begin() const;
  const T* end() const;
  std::size_t size() const;
  void resize(std::size_t size);
  void resize(std::size_t rows, std::size_t columns);

 private:
  T* values_;
};
}  // namespace arma

struct state {
  arma::Mat<float> weights;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here

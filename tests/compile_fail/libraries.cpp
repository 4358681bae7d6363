// SPDX-License-Identifier: MIT
// Types of other libraries, without the adapters for them.
// options: -isystem /usr/include/eigen3
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // uBLAS derives from std::iterator
#include <Eigen/Core>
#include <boost/multi_array.hpp>
#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index/sequenced_index.hpp>
#include <boost/multi_index_container.hpp>
#include <boost/numeric/ublas/vector_sparse.hpp>
#include <cstddef>

#include "cairn/state/describe.hpp"

using cairn::detail::describe;
namespace mi = boost::multi_index;
namespace ublas = boost::numeric::ublas;

namespace Eigen {
class like_matrix {  // is not an aggregate, and no range
 public:
  void begin();
  void end();
  void resize(long size);
  using value_type = float;

 private:
  float* values_;
};
}  // namespace Eigen
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

// clang-format off
struct s1 { Eigen::like_matrix weights; };
struct s2 { Eigen::Map<Eigen::VectorXf> weights; };
struct s3 { arma::Mat<float> weights; };
struct s4 { boost::multi_array<double, 2> weights; };
using by_value = mi::ordered_unique<mi::identity<int>>;
struct s5 { mi::multi_index_container<int, mi::indexed_by<by_value, mi::sequenced<>>> all; };
struct s6 { mi::multi_index_container<int, mi::indexed_by<mi::sequenced<>>> list; };
struct s7 { ublas::mapped_vector<double> a; };
struct s8 { ublas::compressed_vector<double> b; };
// clang-format on

// expect: include the adapter for this type: .* eigen.hpp
void check(const s1& s) { (void)describe(s); }  // here "weights: Eigen::like_matrix"
void check(const s2& s) { (void)describe(s); }  // here "weights: Eigen::Map<Eigen::Matrix<.*float, -1,
// expect: cairn/adapters/armadillo.hpp
void check(const s3& s) { (void)describe(s); }  // here "weights: arma::Mat<float>"
// expect: include the adapter for this type: .* boost_multi_array.hpp
void check(const s4& s) { (void)describe(s); }  // here "weights: boost::multi_array<double
// expect: a sequenced or random_access index of a multi_index_container
void check(const s5& s) { (void)describe(s); }  // here "all: boost::multi_index::
void check(const s6& s) { (void)describe(s); }  // here "list: boost::multi_index::
// expect: for a sparse sequence, .* with a map from index to value
void check(const s7& s) { (void)describe(s); }  // here "a: boost::numeric::ublas::
void check(const s8& s) { (void)describe(s); }  // here "b: boost::numeric::ublas::

// SPDX-License-Identifier: MIT
#include "cairn/adapters/eigen/geometry.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

using compact = Eigen::Transform<float, 2, Eigen::AffineCompact>;
using by_rows = Eigen::Transform<double, 3, Eigen::Affine, Eigen::RowMajor>;

struct pose {
  Eigen::Quaternionf rotation = Eigen::Quaternionf::Identity();
  Eigen::Rotation2Dd plane_rotation{0};
  Eigen::AngleAxisd axis{0, Eigen::Vector3d::UnitX()};
  Eigen::Translation3f translation{0, 0, 0};
  Eigen::UniformScaling<double> scaling{1};
  Eigen::Isometry3d isometry = Eigen::Isometry3d::Identity();
  Eigen::Affine2f affine = Eigen::Affine2f::Identity();
  by_rows rows = by_rows::Identity();
  compact short_form = compact::Identity();
  Eigen::AlignedBox3f box;
  Eigen::AlignedBox<double, Eigen::Dynamic> any_box{2};
  Eigen::Hyperplane<float, 3> plane{Eigen::Vector3f::UnitX(), 0};
  Eigen::ParametrizedLine<float, 2> line{Eigen::Vector2f::Zero(), Eigen::Vector2f::UnitY()};
  std::vector<Eigen::Quaterniond> many;
};

pose full() {
  pose made;
  made.rotation = Eigen::Quaternionf(0.5F, 0.5F, -0.5F, 0.5F);
  made.plane_rotation.angle() = 0.25;
  made.axis = Eigen::AngleAxisd(1.5, Eigen::Vector3d::UnitZ());
  made.translation = Eigen::Translation3f(1, 2, 3);
  made.scaling.factor() = 4;
  made.isometry.translate(Eigen::Vector3d(1, 2, 3)).rotate(made.axis);
  made.affine.translate(Eigen::Vector2f(5, 6)).scale(2);
  made.rows.translate(Eigen::Vector3d(7, 8, 9));
  made.short_form.translate(Eigen::Vector2f(1, 0));
  made.box = Eigen::AlignedBox3f(Eigen::Vector3f(0, 1, 2), Eigen::Vector3f(3, 4, 5));
  made.any_box = Eigen::AlignedBox<double, Eigen::Dynamic>(Eigen::Vector4d(0, 1, 2, 3), Eigen::Vector4d(4, 5, 6, 7));
  made.plane = Eigen::Hyperplane<float, 3>(Eigen::Vector3f::UnitY(), 2);
  made.line = Eigen::ParametrizedLine<float, 2>(Eigen::Vector2f(1, 2), Eigen::Vector2f::UnitX());
  made.many = {Eigen::Quaterniond(1, 0, 0, 0), Eigen::Quaterniond(0, 1, 0, 0)};
  return made;
}

}  // namespace

TEST_CASE("eigen: geometry comes back") {
  const auto original = full();
  pose fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.rotation.coeffs() == original.rotation.coeffs());
  CHECK(fresh.plane_rotation.angle() == 0.25);
  CHECK(fresh.axis.axis() == Eigen::Vector3d::UnitZ());
  CHECK(fresh.translation.vector() == original.translation.vector());
  CHECK(fresh.scaling.factor() == 4);
  CHECK(fresh.isometry.matrix() == original.isometry.matrix());
  CHECK(fresh.affine.matrix() == original.affine.matrix());
  CHECK(fresh.rows.matrix() == original.rows.matrix());
  CHECK(fresh.short_form.matrix() == original.short_form.matrix());
  CHECK((fresh.box.max)() == Eigen::Vector3f(3, 4, 5));
  CHECK((fresh.any_box.min)() == Eigen::Vector4d(0, 1, 2, 3));
  CHECK(fresh.plane.coeffs() == original.plane.coeffs());
  CHECK(fresh.line.origin() == Eigen::Vector2f(1, 2));
  REQUIRE(fresh.many.size() == 2);
  CHECK(fresh.many[1].x() == 1);
}

TEST_CASE("eigen: the shapes and paths of geometry") {
  const tests::kept kept(cairn::detail::describe(full()));
  const auto shape = [&](const char* path) { return kept.contents.leaves[kept.contents.find(path)].shape; };
  CHECK(shape("rotation") == cairn::extents{4});
  CHECK(shape("plane_rotation").empty());
  CHECK(shape("isometry") == cairn::extents{4, 4});
  CHECK(shape("short_form") == cairn::extents{2, 3});
  CHECK(shape("axis.angle").empty());
  CHECK(shape("line.direction") == cairn::extents{2});
  float stored[4];
  std::memcpy(stored, kept.bytes.at("rotation").data(), sizeof stored);
  CHECK(stored[3] == 0.5F);  // w is last
  double matrix[16];
  std::memcpy(matrix, kept.bytes.at("isometry").data(), sizeof matrix);
  CHECK(matrix[3] == 1);  // the translation is the last column
}

TEST_CASE("eigen: a map of a quaternion is loaded into its memory") {
  float memory[4] = {1, 2, 3, 4}, other[4] = {};
  Eigen::Map<Eigen::Quaternionf> map(memory), into(other);
  tests::kept(map).load(into);
  CHECK(other[3] == 4);
  CHECK(into.w() == 4);
}

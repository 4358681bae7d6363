#include "cairn/store/write_piece.hpp"

#include "catch.hpp"

TEST_CASE("a piece is stored from the leaf, from its copy, or as its payload") {
  std::byte memory[40];
  cairn::leaf leaf;
  leaf.type = cairn::dtype::f32;
  leaf.shape = {10};
  cairn::encoded_piece encoded;
  encoded.how.codec = "mine";
  encoded.payload.type = cairn::dtype::u8;
  encoded.payload.shape = {3};
  encoded.payload.memory = memory + 1;
  std::vector<cairn::piece> pieces{{0, 0, 2}, {0, 2, 4}, {0, 6, 4}};
  pieces[1].staged = memory;
  pieces[2].encoded = std::make_shared<cairn::encoded_piece>(encoded);
  const auto all = cairn::write_pieces({&leaf, 1}, pieces);
  REQUIRE(all.size() == 3);
  CHECK((all[0].bytes.empty() && all[0].how == nullptr));
  CHECK((all[1].bytes.data() == memory && all[1].bytes.size() == 16 && all[1].how == nullptr));
  CHECK((all[2].bytes.data() == memory + 1 && all[2].bytes.size() == 3 && all[2].how->codec == "mine"));
  CHECK((all[2].leaf == 0 && all[2].first == 6 && all[2].count == 4));
}

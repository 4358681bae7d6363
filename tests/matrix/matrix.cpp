// SPDX-License-Identifier: MIT
// Saves and loads objects of all types of the matrix, empty and filled, in memory: what comes back describes itself by
// the same bytes. The descriptions are those of the golden file, whichever compiler made this program: what one saves
// is what the other loads.
//
//   matrix GOLDEN            checks all types
//   matrix GOLDEN TEXT       checks the types whose names have the text, and prints each name first
//   matrix GOLDEN --write    writes their digests into the golden file
//
// A program has every category in every category, and half of the sample of deeper types: another half with g++ than
// with clang, since each type takes a tenth of a second to compile. `tests/run.sh --long` has all types. After a change
// of what is stored, or of generate.py, write the golden file with the program of all types that g++ made (cmake
// -DCAIRN_MATRIX_PART=0/1), and see that clang's agrees.
#include <iomanip>
#include <iostream>

#include "matrix/row.hpp"
#include "state/kept.hpp"
#include "standard.hpp"

namespace matrix {

std::vector<row> all_rows();  // written by generate.py

namespace {

using tests::kept;

class hash {
 public:
  void add(std::string_view text) {
    for (const char each : text) value_ = (value_ ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
    value_ = (value_ ^ 0x100U) * 0x100000001b3U;
  }
  void add(std::uint64_t number) { add(std::to_string(number)); }
  [[nodiscard]] std::uint64_t value() const { return value_ ^ (value_ >> 29U); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// All that a checkpoint stores of an object: paths, dtypes, shapes, bytes and structure.
std::uint64_t digest_of(const kept& what) {
  hash sum;
  for (const auto& each : what.contents.leaves) {
    sum.add(each.path);
    sum.add(cairn::name(each.type));
    sum.add(cairn::to_string(each.shape));
    const auto& bytes = what.bytes.at(each.path);
    sum.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  for (const auto& [path, entry] : what.contents.structure) {
    sum.add(path);
    sum.add(static_cast<std::uint64_t>(entry.what));
    sum.add(entry.number);
    sum.add(entry.text);
    for (const auto& key : entry.keys) sum.add(key);
  }
  return sum.value();
}

/// An object of the type of a row: as its constructor makes it, or filled.
class object {
 public:
  object(const row& type, unsigned seed) : type_(&type), made_(type.make(), type.destroy) {
    hash sum;
    sum.add(type.name);
    sum.add(seed);
    random from(sum.value());
    if (seed != 0) type.fill(from, made_.get());
  }
  [[nodiscard]] cairn::any_state refer() const { return {made_.get(), type_->walk}; }
  [[nodiscard]] cairn::any_mutable_state refer() { return {{made_.get(), type_->walk}}; }
  [[nodiscard]] std::uint64_t digest() const { return digest_of(kept(refer())); }
  [[nodiscard]] bool is_equal(const object& other) const {
    return !type_->equal || type_->equal(made_.get(), other.made_.get());
  }

 private:
  const row* type_;
  std::unique_ptr<void, void (*)(void*)> made_;
};

constexpr unsigned seeds[] = {0, 1, 2};  // 0: empty

/// What is wrong with the type; empty: nothing.
std::string check(const row& type) {
  std::string wrong;
  for (const unsigned from : seeds)
    for (const unsigned into : {0U, 3U}) {
      const auto fail = [&](const std::string& how) {
        wrong += " (" + std::to_string(from) + " into " + std::to_string(into) + ": " + how + ")";
      };
      try {
        const object original(type, from);
        const kept stored(cairn::detail::describe(original.refer()));
        object loaded(type, into);
        stored.load(loaded.refer());
        if (loaded.digest() != digest_of(stored)) fail("other bytes");
        if (!original.is_equal(loaded)) fail("not equal");
      } catch (const std::exception& error) {
        fail(error.what());
      }
    }
  return wrong;
}

/// The last 16 bits of the digests of an empty and a filled object.
std::string golden_of(const row& type) {
  try {
    hash sum;
    sum.add(object(type, 0).digest());
    sum.add(object(type, 1).digest());
    char text[5];
    std::snprintf(text, sizeof text, "%04x", static_cast<unsigned>(sum.value() & 0xffffU));
    return text;
  } catch (const std::exception&) {
    return "fail";
  }
}

std::vector<std::string> read_golden(const char* file) {
  std::ifstream in(file);
  std::vector<std::string> all;
  for (std::string each; in >> each;) all.push_back(each);
  return all;
}

void write_golden(const char* file, std::vector<std::string> golden, const std::vector<row>& types) {
  for (const auto& type : types) {
    if (golden.size() <= type.number) golden.resize(type.number + 1, "----");
    golden[type.number] = golden_of(type);
  }
  std::ofstream out(file);
  for (std::size_t i = 0; i < golden.size(); ++i) out << golden[i] << (i % 32 == 31 ? '\n' : ' ');
  out << '\n';
}

int run(const char* file, std::string_view select) {
  const auto types = all_rows();
  const auto golden = read_golden(file);
  if (select == "--write") {
    write_golden(file, golden, types);
    return 0;
  }
  std::size_t checked = 0, failed = 0;
  for (const auto& type : types) {
    if (std::string_view(type.name).find(select) == std::string_view::npos) continue;
    if (!select.empty()) std::cout << type.number << ' ' << type.name << std::endl;
    ++checked;
    std::string wrong = check(type);
    if (type.number >= golden.size() || golden[type.number] != golden_of(type)) wrong += " not the golden bytes";
    if (wrong.empty()) continue;
    ++failed;
    std::cout << "FAILED " << type.name << ':' << wrong << std::endl;
  }
  std::cout << checked << " types, " << failed << " failed" << std::endl;
  return failed == 0 && checked > 0 ? 0 : 1;
}

}  // namespace
}  // namespace matrix

int main(int count, char** arguments) {
  if (count < 2) return 2;
  return matrix::run(arguments[1], count > 2 ? arguments[2] : "");
}

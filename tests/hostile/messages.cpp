// SPDX-License-Identifier: MIT
// Whatever name a file has in whatever field, a message is one line of bounded length that a terminal shows as it is.

#include "cairn/cairn.hpp"
#include "cairn/system/json.hpp"
#include "catch.hpp"
#include "hostile/files.hpp"
#include "store/sample.hpp"

namespace {

struct layer {
  virtual ~layer() = default;
};
struct dense : layer {
  int units = 0;
  static auto cairn_fields() { return cairn::fields<&dense::units>{}; }
};
enum class mode : std::uint8_t { off, on };

struct state {
  std::vector<float> weight = {1, 2};
  std::vector<std::vector<int>> lists = {{1}};
  std::map<mode, std::vector<int>> maps;
  std::unique_ptr<layer> first;
  mode now = mode::off;
};

}  // namespace

template <>
struct cairn::polymorphic<layer> : cairn::one_of<dense> {};
template <>
struct cairn::by_name<mode> : cairn::enumerators<mode::off, mode::on> {};

namespace {

/// Names that break messages: as they are, and as JSON has them.
struct hostile_name {
  std::string raw, json;
};

std::string json_of(std::string_view raw) {
  cairn::detail::json_writer json;
  return json.text(raw).take();
}

std::vector<hostile_name> hostile_names() {
  std::vector<hostile_name> names;
  for (const auto& raw : {std::string("\0end", 4), std::string("\x1b[2J\x1b]0;title\x07"), std::string("a\nb\rc\x7f"),
                          std::string("\u009b2J\u202egnp.exe\u2066"), std::string(100'000, 'x'),
                          std::string(60'000, '\x01'), std::string(3'000, ' ')})
    names.push_back({raw, json_of(raw)});
  return names;
}

bool is_shown_as_it_is(std::string_view text) { return cairn::detail::printable(text) == text; }

/// A place in a file for a hostile name, given as JSON with its quotes.
struct place {
  std::string what;
  std::function<std::string(const std::string& name)> file;
  bool is_index = false;
};

const std::string tensor = R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})";

std::vector<place> places() {
  const auto metadata = [](const std::string& field, const auto& text) {
    return [field, text](const std::string& name) {
      return hostile::shard_file(",\"" + field + "\":" + hostile::as_json_text(text(name)));
    };
  };
  const auto structure = [](const auto& text) {
    return [text](const std::string& name) {
      const std::string object = text(name);
      return hostile::index_file("", "", "", "", "", object.substr(1, object.size() - 2));
    };
  };
  const auto leaf = [](const std::string& members) {
    return hostile::index_file(
        "", "", R"({"file":"shard-00000-of-00001.safetensors","bytes":1,"header_xxh3":"0000000000000000"})", "",
        "{" + members + "}");
  };
  const auto empty_tensor = [](const std::string& name) {
    return "," + name + R"(:{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  };
  const std::string one_shard =
      R"({"file":"shard-00000-of-00001.safetensors","bytes":1,"header_xxh3":"0000000000000000"})";
  return {
      {"a key", [](const std::string& n) { return hostile::lone_file("{" + n + ":" + tensor + "}", 12); }},
      {"a key that is malformed", [](const std::string& n) { return hostile::lone_file("{" + n + ":1}"); }},
      {"a key of a wrong size",
       [](const std::string& n) { return hostile::lone_file("{" + n + ":" + tensor + "}", 11); }},
      {"a key twice",
       [](const std::string& n) {
         return hostile::lone_file("{" + n + ":" + tensor + "," + n + ":" + tensor + "}", 12);
       }},
      {"a dtype",
       [](const std::string& n) {
         return hostile::lone_file("{\"weight\":{\"dtype\":" + n + R"(,"shape":[3],"data_offsets":[0,12]}})", 12);
       }},
      {"a field of a tensor", [](const std::string& n) { return hostile::lone_file("{\"weight\":{" + n + ":1}}"); }},
      {"a metadata key", [](const std::string& n) { return hostile::shard_file(",\"cairn." + n.substr(1) + ":\"\""); }},
      {"a step",
       [](const std::string& n) {
         return hostile::lone_file(R"({"__metadata__":{"cairn.format":")" + std::string(cairn::detail::format_version) +
                                   R"(","cairn.step":)" + n + "}}");
       }},
      {"a format",
       [](const std::string& n) { return hostile::lone_file(R"({"__metadata__":{"cairn.format":)" + n + "}}"); }},
      {"a block size",
       [](const std::string& n) {
         return hostile::lone_file(R"({"__metadata__":{"cairn.format":")" + std::string(cairn::detail::format_version) +
                                   R"(","cairn.block_bytes":)" + n + "}}");
       }},
      {"a path in the structure", structure([](const std::string& n) { return "{" + n + ":{\"size\":1}}"; }), true},
      {"a kind in the structure", structure([](const std::string& n) { return "{\"lists\":{" + n + ":1}}"; }), true},
      {"a key of a map", structure([](const std::string& n) { return "{\"maps\":{\"keys\":[" + n + "]}}"; }), true},
      {"a type", structure([](const std::string& n) { return "{\"first\":{\"type\":" + n + "}}"; }), true},
      {"a tie", structure([](const std::string& n) { return "{\"weight\":{\"same\":" + n + "}}"; }), true},
      {"names of an enum", structure([](const std::string& n) { return "{\"now.@names\":{\"names\":[" + n + "]}}"; }),
       true},
      {"a slice", metadata("cairn.slices",
                           [](const std::string& n) {
                             return "{" + n + ":{\"leaf\":" + n + R"(,"shape":[3],"first":0,"count":3}})";
                           })},
      {"a table",
       metadata("cairn.tables", [](const std::string& n) { return "{" + n + ":\"" + std::string(256, '0') + "\"}"; })},
      {"a parent",
       [](const std::string& n) {
         auto text = hostile::index_file("", "", "", "");
         const std::string at = "\"total_size\":0";
         return text.replace(text.find(at), at.size(),
                             at + ",\"parent\":{\"name\":" + n + R"(,"id":"0000000000000000"})");
       },
       true},
      {"a leaf",
       [leaf](const std::string& n) { return leaf("\"path\":" + n + R"(,"dtype":"F32","shape":[3],"shard":1)"); },
       true},
      {"a dtype of a leaf",
       [leaf](const std::string& n) { return leaf(R"("path":"weight","shape":[3],"shard":0,"dtype":)" + n); }, true},
      {"a member of a leaf", [leaf](const std::string& n) { return leaf(n + ":1"); }, true},
      {"a role",
       [](const std::string& n) {
         return hostile::index_file(
             "", "",
             R"({"file":"shard-00000-of-00001.safetensors","bytes":1,"header_xxh3":"0000000000000000","role":)" + n +
                 "}",
             "");
       },
       true},
      {"a codec",
       [](const std::string& n) {
         return hostile::shard_file(",\"cairn.encoded\":" + hostile::as_json_text("{\"weight\":{\"codec\":" + n +
                                                                                  R"(,"dtype":"F32","shape":[2]}})"),
                                    R"(,"weight":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})", 1);
       }},
      {"a codec of a wrong size",
       [empty_tensor](const std::string& n) {
         return hostile::shard_file(
             ",\"cairn.encoded\":" +
                 hostile::as_json_text("{" + n + R"(:{"codec":"a","dtype":"F32","shape":[1000000]}})"),
             empty_tensor(n));
       }},
      {"a version of the index",
       [](const std::string& n) {
         auto text = hostile::index_file("", "", "", "");
         const auto version = "\"version\":\"" + std::string(cairn::detail::format_version) + "\"";
         return text.replace(text.find(version), version.size(), "\"version\":" + n);
       },
       true},
      {"a format of the index",
       [](const std::string& n) {
         auto text = hostile::index_file("", "", "", "");
         return text.replace(text.find("\"cairn\""), 7, n);
       },
       true},
      {"a metric", [](const std::string& n) { return hostile::index_file(n + ":1," + n + ":1", "", "", ""); }, true},
      {"a metric's value", [](const std::string& n) { return hostile::index_file("\"a\":" + n, "", "", ""); }, true},
      {"a note", [](const std::string& n) { return hostile::index_file("", n + ":1", "", ""); }, true},
      {"a shard",
       [](const std::string& n) {
         return hostile::index_file("", "", "{\"file\":" + n + R"(,"bytes":1,"header_xxh3":"0000000000000000"})", "");
       },
       true},
      {"a checksum",
       [](const std::string& n) {
         return hostile::index_file(
             "", "", R"({"file":"shard-00000-of-00001.safetensors","bytes":1,"header_xxh3":)" + n + "}", "");
       },
       true},
      {"a tensor of the index",
       [one_shard](const std::string& n) { return hostile::index_file("", "", one_shard, n + ":1"); }, true},
  };
}

}  // namespace

TEST_CASE("a name from a file is shown in one line of bounded length, in whatever field it is") {
  const sample::scratch scratch;
  for (const auto& [what, file, is_index] : places())
    for (const auto& [raw, json] : hostile_names()) {
      INFO(what << ": " << cairn::detail::printable(raw.substr(0, 20)));
      for (const bool strict : {true, false}) {
        std::string said;
        state target;
        const cairn::load_options options{.strict = strict};
        try {
          if (is_index) {
            cairn::any_store store = cairn::stores::memory();
            sample::put(store, "step-000000001", {{"index.json", hostile::signed_index(file(json))}});
            cairn::load(store, "step-000000001", target, options);
          } else {
            sample::spill(scratch.path("lone.safetensors"), file(json));
            cairn::load(scratch.path("lone.safetensors"), target, options);
          }
        } catch (const cairn::error& error) {
          said = error.what();
          CHECK(said == "cairn: " + std::string(error.sentence()));
        }
        CHECK((said.size() > 20 || !strict));
        CHECK(said.size() < 4 * cairn::error::most_bytes);
        CHECK(is_shown_as_it_is(said));
        if (what == "a codec" && !strict) CHECK(said.find("codec") != std::string::npos);
      }
    }
}

TEST_CASE("a directory's name is shown in one line too, by errors and by the progress line") {
  const sample::scratch scratch;
  const std::string name = "step-\x1b[2J\n\u202e";
  state saved;
  cairn::save(scratch.path(name), saved);
  std::filesystem::resize_file(scratch.path(name) + "/index.json", 100);
  const auto failure = sample::failure_of([&] { cairn::load(scratch.path(name), saved); });
  CHECK(failure.says("step-\\x1b[2J\\x0a\\u202e"));
  CHECK(is_shown_as_it_is(failure.sentence));

  std::FILE* const file = std::tmpfile();
  cairn::observers::progress_line{file}({.what = cairn::event::kind::fell_back, .checkpoint = name});
  std::rewind(file);
  std::string line(200, '\0');
  line.resize(std::fread(line.data(), 1, line.size(), file));
  std::fclose(file);
  CHECK(line.ends_with("step-\\x1b[2J\\x0a\\u202e\n"));
}

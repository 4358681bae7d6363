# SPDX-License-Identifier: MIT
"""The package against checkpoints of its own, and of a trainer in C++."""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

import cairn
import cairn.convert
import numpy as np
import pytest

TYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "u2", "I16": "i2", "F16": "f2", "U32": "u4", "I32": "i4", "F32": "f4",
         "U64": "u8", "I64": "i8", "F64": "f8"}
BITS = {"BF16": "u2", "F8_E4M3": "u1", "F8_E5M2": "u1"}


def train(place):
    return subprocess.run([os.environ["CAIRN_TRAINER"], str(place)], check=True, capture_output=True, text=True).stdout


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("lossless", [False, True])
def test_round_trip_of_every_type(tmp_path, lossless):
    random = np.random.default_rng(1)
    arrays = {name: random.integers(0, 2, (3, 70)).astype(kind) for name, kind in {**TYPES, **BITS}.items()}
    arrays |= {"weights": random.normal(0, 0.03, 100_000).astype("f4"), "scalar": np.float64(2.5), "empty": np.empty((0, 3), "i4"),
               "transposed": np.arange(12, dtype="f8").reshape(3, 4).T, "reversed": np.arange(5, dtype="i2")[::-1],
               "ünïcode.0": np.zeros((1, 1, 2), "u4")}
    written = cairn.save(tmp_path / "a", arrays, step=3, metrics={"loss": 0.5}, metadata={"by": "test"}, dtypes={k: k for k in BITS}, lossless=lossless)
    assert written == sum(each.stat().st_size for each in (tmp_path / "a").iterdir())
    with cairn.open(tmp_path / "a") as opened:
        assert (opened.step, opened.metrics, opened.metadata) == (3, {"loss": 0.5}, {"by": "test"})
        assert list(opened) == sorted(arrays) and len(opened) == len(arrays) and "scalar" in opened and 7 not in opened
        for name, array in arrays.items():
            assert same(opened[name], np.ascontiguousarray(array).reshape(np.shape(array))), name
            others = {"weights": "F32", "scalar": "F64", "empty": "I32", "transposed": "F64", "reversed": "I16", "ünïcode.0": "U32"}
            assert opened.info(name)["dtype"] == others.get(name, name)
        assert (opened.info("weights")["codec"] != "") == lossless
        opened.verify()
    assert same(cairn.load_dict(tmp_path / "a", ["reversed"])["reversed"], arrays["reversed"].copy())


def test_a_state_of_cpp_is_read_changed_and_restored(tmp_path):
    train(tmp_path / "run")
    runs = cairn.runs(tmp_path / "run")
    assert [run.step for run in runs] == [1, 2, 3, 4]
    infos = [cairn.open(run.path).info("layers.in.weight") for run in runs]
    assert [info["is_delta"] for info in infos] == [False, True, True, False]
    cairn.verify(runs[2].path)
    opened = cairn.open(tmp_path / "run")
    assert opened.step == 4 and opened.metrics == {"loss": 0.25}
    assert opened["numbers.u64"].tolist() == [1, 1 << 63] and opened["numbers.bf16"].tolist() == [0x3F00, 0xC000]
    arrays = dict(opened)
    arrays["layers.in.weight"] = arrays["layers.in.weight"] + np.float32(1)
    arrays["layers.out.moment"] = arrays["layers.out.moment"] * 2
    types = {name: opened.info(name)["dtype"] for name in opened}
    cairn.save(tmp_path / "changed" / "step-000000004", arrays, step=4, like=opened, dtypes=types)
    assert train(tmp_path / "changed").startswith("restored step 4\n")
    again = cairn.open(cairn.runs(tmp_path / "changed")[1].path)  # of step 5, which C++ has saved
    for name in opened:
        if name.startswith("numbers."):
            assert same(again[name], opened[name]), name
    assert same(again["layers.out.moment"], arrays["layers.out.moment"] + 1e-4 * (np.arange(3000) % 5))
    assert np.abs(again["layers.in.weight"] - arrays["layers.in.weight"]).max() < 0.05  # it is stored with loss


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    examples = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(examples) == 2
    monkeypatch.chdir(tmp_path)
    cairn.save("run/step-000000001", {"model.weight": np.arange(3, dtype="f4"), "epoch": np.int64(1)}, step=1)
    for example in examples:
        exec(example, {"cairn": cairn})
    with cairn.open("changed") as changed:
        assert changed.step == 7 and changed.metrics == {"loss": 0.25} and changed["model.weight"].tolist() == [0, 1, 2]
    assert cairn.load_dict("model.safetensors").keys() == {"weight"}  # epoch was left out


def test_a_damaged_checkpoint_is_listed(tmp_path):
    train(tmp_path / "run")
    (tmp_path / "run" / "step-000000004" / "index.json").write_text("{}")
    runs = cairn.runs(tmp_path / "run")
    assert [run.step for run in runs] == [1, 2, 3, 4]
    assert [bool(run.problem) for run in runs] == [False, False, False, True] and "index.json" in runs[3].problem
    assert train(tmp_path / "run").startswith("restored step 3\n")


def test_a_delta_is_decoded_as_in_cpp(tmp_path):
    train(tmp_path / "run")
    delta, whole = (cairn.open(cairn.runs(tmp_path / "run")[i].path) for i in (2, 3))
    assert np.abs(delta["layers.in.weight"] - whole["layers.in.weight"]).max() < 0.05
    assert same(delta["layers.out.moment"] + 1e-4 * (np.arange(3000) % 5), whole["layers.out.moment"])


def with_checksum(index):
    """The text of an index with its own checksum: XXH3 of the text, with zeros for the checksum."""
    begin = len('{"metadata":{"checksum":"')
    zeros = (index[:begin] + 16 * "0" + index[begin + 16:]).encode()
    xxhash = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxhash.restype, xxhash.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)
    return index[:begin] + f"{xxhash(zeros, len(zeros)):016x}" + index[begin + 16:]


def test_errors(tmp_path):
    def code(act, *arguments, **named):
        with pytest.raises(cairn.Error) as failure:
            act(*arguments, **named)
        assert str(failure.value).startswith("cairn: ")
        return failure.value.code

    assert code(cairn.open, tmp_path / "nowhere") == "not_found"
    one = {"a": np.arange(1000, dtype="f4")}
    cairn.save(tmp_path / "a", one)
    opened = cairn.open(tmp_path / "a")
    with pytest.raises(KeyError):
        opened["b"]
    assert code(cairn.save, tmp_path / "b", {"b": one["a"]}, like=opened) == "mismatch"
    assert code(cairn.save, tmp_path / "b", {"a": one["a"].astype("f8")}, like=opened) == "mismatch"
    assert code(cairn.save, tmp_path / "b", {"a": one["a"][:5]}, like=opened) == "mismatch"
    assert code(cairn.save, tmp_path / "b", {"": one["a"]}) == "invalid"
    assert code(cairn.save, "/proc/cairn", one) == "io"  # where nothing can be written
    for array in (np.array(["text"]), np.array([1j]), np.arange(3, dtype=">f4"), np.array([None])):
        with pytest.raises(TypeError):
            cairn.save(tmp_path / "b", {"a": array})
    with pytest.raises(TypeError):
        cairn.save(tmp_path / "b", one, dtypes={"a": "BF16"})
    assert not (tmp_path / "b").exists()
    shard = next((tmp_path / "a").glob("*.safetensors"))
    damaged = bytearray(shard.read_bytes())
    damaged[-1] ^= 1
    shard.write_bytes(damaged)
    assert code(cairn.verify, tmp_path / "a") == "corrupt"
    assert code(cairn.load_dict, tmp_path / "a") == "corrupt"
    assert code(cairn.runs, tmp_path / "nowhere") == "not_found"
    index = tmp_path / "a" / "index.json"
    index.write_text(with_checksum(index.read_text().replace('"version":"2"', '"version":"99"')))
    assert code(cairn.open, tmp_path / "a") == "unsupported"
    index.write_text("{}")
    assert code(cairn.open, tmp_path / "a") == "corrupt"
    file = tmp_path / "file"
    file.write_text("")
    assert code(cairn.save, file / "x", one) == "io"


def test_no_object_is_made_without_a_checkpoint():
    for kind in (cairn.Checkpoint, cairn._cairn.Checkpoint):
        with pytest.raises(TypeError):
            kind.__new__(kind)
        for made in (kind, type("derived", (kind,), {})):
            with pytest.raises(TypeError, match="cairn.open"):
                made()
    with pytest.raises(TypeError, match="cairn.open"):
        cairn.Checkpoint("run")
    for base in cairn._cairn.Checkpoint.__mro__[1:]:
        with pytest.raises(TypeError):
            base.__new__(cairn._cairn.Checkpoint)


def test_names_that_are_not_there_are_errors(tmp_path):
    one = {"a": np.arange(3, dtype="u2")}
    with pytest.raises(KeyError, match="weihgt"):
        cairn.save(tmp_path / "a", one, dtypes={"a": "BF16", "weihgt": "BF16"})
    assert not (tmp_path / "a").exists()
    cairn.save(tmp_path / "a", one)
    opened = cairn.open(tmp_path / "a")
    for name in ("missing", 7, "\udcff"):
        for act in (opened.info, opened.get_tensor, opened.__getitem__):
            with pytest.raises(KeyError):
                act(name)
    with pytest.raises(KeyError):
        cairn.load_dict(tmp_path / "a", ["a", "missing"])


def test_like_a_checkpoint_without_arrays_is_not_ignored(tmp_path):
    cairn.save(tmp_path / "empty", {})
    empty = cairn.open(tmp_path / "empty")
    with pytest.raises(cairn.Error) as refused:
        cairn.save(tmp_path / "a", {"a": np.arange(3)}, like=empty)
    assert refused.value.code == "mismatch" and not (tmp_path / "a").exists()
    cairn.save(tmp_path / "a", {}, like=empty)


@pytest.mark.parametrize("wrong, says", [
    ({"step": -1}, "step"), ({"step": "7"}, "step"), ({"step": 1.5}, "step"), ({"step": 1 << 64}, "step"),
    ({"metrics": {"loss": "low"}}, "'loss'"), ({"metrics": {"loss": None}}, "'loss'"), ({"metrics": {7: 1.0}}, "metrics"), ({"metrics": 7}, "metrics"),
    ({"metadata": {"by": 7}}, "metadata"), ({"metadata": {"by": "\udcff"}}, "metadata"), ({"metadata": 7}, "metadata"),
    ({"dtypes": {"a": 7}}, "dtypes"), ({"dtypes": {"a": "BF61"}}, "BF61"), ({"like": "run"}, "like")])
def test_wrong_arguments_are_named(tmp_path, wrong, says):
    with pytest.raises(TypeError, match=says) as refused:
        cairn.save(tmp_path / "a", {"a": np.arange(3)}, **wrong)
    assert "incompatible" not in str(refused.value) and not (tmp_path / "a").exists()


def test_other_wrong_arguments_are_named(tmp_path):
    cairn.save(tmp_path / "a", {"a": np.arange(3)}, step=np.int64(3), metrics={"loss": np.float32(0.5)})
    opened = cairn.open(tmp_path / "a")
    assert opened.step == 3 and opened.metrics == {"loss": 0.5}
    for act in (lambda: cairn.save(tmp_path / "b", {7: np.arange(3)}), lambda: cairn.save(tmp_path / "b", [np.arange(3)]),
                lambda: cairn.save("\udcff", {}), lambda: cairn.open(7), lambda: cairn.open(b"a"), lambda: cairn.runs(None),
                lambda: cairn.verify("\udcff"), lambda: opened.verify(-1), lambda: opened.verify("all"),
                lambda: cairn.export_safetensors(opened, tmp_path / "b", file_bytes=1 << 64)):
        with pytest.raises(TypeError) as refused:
            act()
        assert "incompatible" not in str(refused.value) and "_cairn" not in str(refused.value)
    assert not (tmp_path / "b").exists()


def test_raw_checkpoints_are_safetensors_for_numpy_alone(tmp_path):
    values = np.arange(6, dtype="f4").reshape(2, 3)
    cairn.save(tmp_path / "a", {"w": values})
    shard = next((tmp_path / "a").glob("*.safetensors"))
    header = int.from_bytes(shard.read_bytes()[:8], "little")
    assert same(np.frombuffer(shard.read_bytes(), "f4", 6, 8 + header).reshape(2, 3), values)
    assert same(cairn.open(shard)["w"], values)


def test_threads_read_at_the_same_time(tmp_path):
    arrays = {str(i): np.full(100_000, i, "f4") for i in range(8)}
    cairn.save(tmp_path / "a", arrays)
    opened, failures = cairn.open(tmp_path / "a"), []
    threads = [threading.Thread(target=lambda: [failures.append(n) for n in arrays if not same(opened[n], arrays[n])]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures


def test_habits_of_safetensors(tmp_path):
    cairn.save(pathlib.Path(tmp_path / "a"), {"w": np.ones(3, "f4")})
    with cairn.safe_open(tmp_path / "a", framework="np", device="cpu") as opened:
        assert {name: opened.get_tensor(name).tolist() for name in opened.keys()} == {"w": [1, 1, 1]}
    with pytest.raises(ValueError):
        cairn.safe_open(tmp_path / "a", framework="pt")


def test_arrays_become_tensors_of_torch(tmp_path):
    torch = pytest.importorskip("torch")
    cairn.save(tmp_path / "a", {"w": np.arange(3, dtype="f4"), "b": np.array([0x3F80], "u2")}, dtypes={"b": "BF16"})
    opened = cairn.open(tmp_path / "a")
    assert torch.from_numpy(opened["w"]).tolist() == [0, 1, 2]
    assert torch.from_numpy(opened["b"].view("i2")).view(torch.bfloat16).tolist() == [1]


def test_everything_public_has_a_docstring():
    for name in cairn.__all__:
        assert getattr(cairn, name).__doc__, name
    for name, member in vars(cairn.Checkpoint).items():
        if not name.startswith("_"):
            assert member.__doc__, name


def read_by_numpy_alone(file):
    """The arrays of a safetensors file, by their names, without Cairn."""
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + length])
    assert header.pop("__metadata__") == {"format": "pt"}
    data = content[8 + length:]
    return {name: np.frombuffer(data[slice(*each["data_offsets"])], {**TYPES, **BITS}[each["dtype"]]).reshape(each["shape"])
            for name, each in header.items()}


def test_numpy_alone_reads_an_exported_chain(tmp_path):
    train(tmp_path / "run")
    opened = cairn.open(cairn.runs(tmp_path / "run")[2].path)
    assert opened.info("layers.in.weight")["is_delta"]
    assert cairn.export_safetensors(opened, tmp_path / "all.safetensors") == [str(tmp_path / "all.safetensors")]
    exported = read_by_numpy_alone(tmp_path / "all.safetensors")
    assert exported.keys() == set(opened) and all(same(exported[name], opened[name]) for name in opened)

    def layers_alone(name):
        return name.removeprefix("layers.") if name.startswith("layers.") else None

    files = cairn.export_safetensors(tmp_path / "run", tmp_path / "hub", rename=layers_alone, file_bytes=20_000)
    assert [pathlib.Path(each).name for each in files[-2:]] == ["model-00003-of-00003.safetensors", "model.safetensors.index.json"]
    index = json.loads((tmp_path / "hub" / "model.safetensors.index.json").read_text())
    newest = cairn.open(tmp_path / "run")
    assert index["metadata"]["total_size"] == sum(newest["layers." + name].nbytes for name in index["weight_map"])
    assert set(index["weight_map"]) == {"in.weight", "out.weight", "out.moment"}
    for name, file in index["weight_map"].items():
        assert same(read_by_numpy_alone(tmp_path / "hub" / file)[name], newest["layers." + name])
    with pytest.raises(cairn.Error) as clash:
        cairn.export_safetensors(newest, tmp_path / "x.safetensors", rename=lambda name: "same")
    assert clash.value.code == "invalid" and not (tmp_path / "x.safetensors").exists()
    for wrong in ({"rename": lambda name: 7}, {"rename": lambda name: "\udcff"}, {"rename": lambda name: b"x"}, {"metadata": {"x": 1}},
                  {"file_bytes": 5e9}, {"file_bytes": -1}):
        with pytest.raises(TypeError) as refused:
            cairn.export_safetensors(newest, tmp_path / "x.safetensors", **wrong)
        assert "incompatible" not in str(refused.value)
    for path in (None, b"x"):
        with pytest.raises(TypeError):
            cairn.export_safetensors(newest, path)
    assert "\udcff" not in newest
    with pytest.raises(KeyError):
        newest["\udcff"]


def test_files_of_numpy_become_safetensors(tmp_path):
    arrays = {"weight": np.arange(6, dtype="f4").reshape(2, 3), "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "step": np.int64(-7),
              "big": np.arange(3, dtype=">i2"), "flags": np.array([True, False]), "empty": np.empty((0, 3), "f2")}
    np.savez(tmp_path / "a.npz", **arrays)
    assert cairn.convert.convert(tmp_path / "a.npz", tmp_path / "a.safetensors") == []
    opened = cairn.open(tmp_path / "a.safetensors")
    assert set(opened) == set(arrays)
    for name, array in arrays.items():
        assert opened[name].shape == array.shape and opened[name].tolist() == array.tolist()
    np.save(tmp_path / "a.npy", arrays["weight"])
    subprocess.run([sys.executable, "-m", "cairn.convert", tmp_path / "a.npy", tmp_path / "one.safetensors"], check=True)
    assert same(cairn.open(tmp_path / "one.safetensors")["array"], arrays["weight"])
    for wrong in (np.array([None], dtype=object), np.array([1j])):
        np.savez(tmp_path / "wrong.npz", wrong)
        ended = subprocess.run([sys.executable, "-m", "cairn.convert", tmp_path / "wrong.npz", tmp_path / "wrong.safetensors"], capture_output=True, text=True)
        assert ended.returncode == 1 and "cannot be converted" in ended.stderr and "Traceback" not in ended.stderr
    assert not (tmp_path / "wrong.safetensors").exists()


def test_a_small_file_of_large_arrays_is_refused(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "zeros.npz", a=np.zeros(3000, "u1"), b=np.zeros(3000, "u1"))
    assert cairn.convert.convert(tmp_path / "zeros.npz", tmp_path / "zeros.safetensors") == []
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 1000, "SC_PHYS_PAGES": 5}.__getitem__)
    with pytest.raises(ValueError, match="and this machine has 5000"):
        cairn.convert.convert(tmp_path / "zeros.npz", tmp_path / "bomb.safetensors")
    assert not (tmp_path / "bomb.safetensors").exists()


def test_a_small_file_of_many_values_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cairn.convert, "MOST_VALUES", 1000)
    shared = [1]
    for _ in range(40):
        shared = [shared, shared]
    monkeypatch.setattr(cairn.convert, "_read", lambda path: {"a": shared})
    with pytest.raises(ValueError, match="more than 1000 values"):
        cairn.convert.convert(tmp_path / "list.pt", tmp_path / "list.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.zeros(100))
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(OSError, match="full"):
        cairn.convert.convert(tmp_path / "a.npy", tmp_path / "a.safetensors")
    assert [each.name for each in tmp_path.iterdir()] == ["a.npy"]


class Evil:
    def __init__(self, made):
        self.made = made

    def __reduce__(self):
        return os.mkdir, (self.made,)


def test_files_of_pytorch_become_safetensors(tmp_path):
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(3, 2))
    weight = model[0].weight.detach()
    torch.save({"model": model.state_dict(), "epoch": 3, "rates": [2, True], "name": "x", "bf16": torch.tensor([1.5]).bfloat16(), "transposed": weight.t(),
                "scalar": torch.tensor(2.5, dtype=torch.float64)}, tmp_path / "a.pt")
    assert cairn.convert.convert(tmp_path / "a.pt", tmp_path / "a.safetensors") == ["name"]
    opened = cairn.open(tmp_path / "a.safetensors")
    assert set(opened) == {"model.0.weight", "model.0.bias", "epoch", "rates.0", "rates.1", "bf16", "transposed", "scalar"}
    assert same(opened["model.0.weight"], weight.numpy()) and opened["transposed"].tolist() == weight.t().tolist()
    assert opened["epoch"] == 3 and opened["rates.0"] == 2 and opened["rates.1"] and opened["scalar"] == 2.5
    assert opened["bf16"].tolist() == [0x3FC0] and opened.info("bf16")["dtype"] == "BF16"
    torch.save({"w": weight, "evil": Evil(str(tmp_path / "made"))}, tmp_path / "evil.pt")
    for file, says in (("evil.pt", "cannot be converted"), ("nowhere.pt", "nowhere")):
        ended = subprocess.run([sys.executable, "-m", "cairn.convert", tmp_path / file, tmp_path / "b.safetensors"], capture_output=True, text=True)
        assert ended.returncode == 1 and says in ended.stderr and not (tmp_path / "made").exists()
    torch.save({"complex": torch.zeros(2, dtype=torch.complex64)}, tmp_path / "complex.pt")
    torch.save({"a": torch.zeros(1).expand(2**44), "b": weight}, tmp_path / "expanded.pt")
    torch.save({"a.b": weight, "a": {"b": weight}}, tmp_path / "twice.pt")
    torch.save({"name": "x"}, tmp_path / "none.pt")
    for file, says in (("complex.pt", "complex64"), ("twice.pt", "a.b"), ("none.pt", "no array"), ("expanded.pt", "and this machine has")):
        with pytest.raises(ValueError, match=says):
            cairn.convert.convert(tmp_path / file, tmp_path / "b.safetensors")
    assert not (tmp_path / "b.safetensors").exists()

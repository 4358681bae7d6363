# SPDX-License-Identifier: MIT
"""An independent reader: knows the rules of safetensors and nothing of Cairn. Usage: read_safetensors.py <folder>

Every *.safetensors below the folder is read by the rules and each of its tensors is compared with what the writing program
said of it in expected.txt, one line per tensor: file, key, dtype, shape, number of elements, sum of values, sum of bytes.
"""

import json
import sys
from pathlib import Path

import numpy as np

DTYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2", "U32": "<u4", "I32": "<i4", "F32": "<f4",
          "U64": "<u8", "I64": "<i8", "F64": "<f8", "BF16": None, "F8_E4M3": None, "F8_E5M2": None}


def once(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), "a key appears twice"
    return dict(pairs)


def read(path):
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length].decode("utf-8"), object_pairs_hook=once)
    data, end = memoryview(raw)[8 + length :], 0
    assert raw[8:9] == b"{" and all(isinstance(v, str) for v in header.pop("__metadata__", {}).values())
    for key, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        assert begin == end and set(entry) == {"dtype", "shape", "data_offsets"}, f"{key}: a hole or an overlap"
        end, raw_bytes = stop, np.frombuffer(data[begin:stop], "u1")
        if entry["dtype"] == "BF16":  # the upper half of a float32
            values = (np.frombuffer(data[begin:stop], "<u2").astype("<u4") << 16).view("<f4")
        else:
            values = np.frombuffer(data[begin:stop], DTYPES[entry["dtype"]] or "u1")
        yield key, entry["dtype"], values.reshape(entry["shape"]), int(raw_bytes.astype("u8").sum())
    assert end == len(data), "the data section is longer than its tensors"


folder, seen = Path(sys.argv[1]), 0
expected = [line.split("\t") for line in (folder / "expected.txt").read_text().splitlines()]
tensors = {(str(p.relative_to(folder)), key): rest for p in folder.rglob("*.safetensors") for key, *rest in read(p)}
assert len(tensors) == len(expected), f"{len(tensors)} tensors, {len(expected)} expected"
for file, key, dtype, shape, count, total, byte_sum in expected:
    kind, values, read_byte_sum = tensors[file, key]
    assert (kind, str(list(values.shape)), values.size, read_byte_sum) == (dtype, shape, int(count), int(byte_sum)), key
    assert np.isclose(values.astype("f8").sum(), float(total), rtol=1e-9), f"{key}: {values.sum()} is not {total}"
print(f"{len(expected)} tensors in {len({e[0] for e in expected})} files are what was written")

# SPDX-License-Identifier: MIT
"""npz and HDF5 of the arrays in one file, as Chainer writes them; run by bench/study. Usage: peers.py MANIFEST ARRAYS FOLDER REPETITIONS

MANIFEST has a line `name shape...` for each array of fp32, in the order of ARRAYS. Prints `format: save seconds, load seconds, bytes` for each format:
medians, durable saves, loads from the page cache. What is loaded is compared with what was saved.
"""

import os
import statistics
import sys
import time
from pathlib import Path

import h5py
import numpy as np


def read_arrays(manifest, data):
    arrays, first = {}, 0
    values = np.fromfile(data, np.float32)
    for line in Path(manifest).read_text(encoding="utf-8").splitlines():
        name, *shape = line.split()
        shape = tuple(map(int, shape))
        count = int(np.prod(shape))
        arrays[name] = values[first:first + count].reshape(shape)
        first += count
    assert first == values.size
    return arrays


def save_npz(file, arrays):
    np.savez(file, **arrays)


def save_npz_compressed(file, arrays):
    np.savez_compressed(file, **arrays)


def load_npz(file):
    with np.load(file) as archive:
        return {name: archive[name] for name in archive.files}


def save_hdf5(file, arrays, **how):
    with h5py.File(file, "w") as out:
        for name, array in arrays.items():
            out.create_dataset(name, data=array, **how)


def save_hdf5_compressed(file, arrays):
    save_hdf5(file, arrays, compression="gzip", compression_opts=4)


def load_hdf5(file):
    found = {}
    with h5py.File(file, "r") as archive:
        archive.visititems(lambda name, node: found.update({name: node[...]}) if isinstance(node, h5py.Dataset) else None)
    return found


# Chainer's serializers compress by default: npz with zlib's level 6, HDF5 with level 4.
FORMATS = {
    "npz": (save_npz, load_npz, "npz"),
    "npz_compressed": (save_npz_compressed, load_npz, "npz"),
    "hdf5": (save_hdf5, load_hdf5, "h5"),
    "hdf5_compressed": (save_hdf5_compressed, load_hdf5, "h5"),
}


def durable(save, file, arrays):
    save(file, arrays)
    with open(file, "rb") as written:
        os.fsync(written.fileno())


def seconds_of(action):
    began = time.perf_counter()
    made = action()
    return time.perf_counter() - began, made


def main():
    arrays = read_arrays(*sys.argv[1:3])
    for name, (save, load, ending) in FORMATS.items():
        file = Path(sys.argv[3]) / f"peer.{ending}"
        saves, loads = [], []
        for _ in range(int(sys.argv[4])):
            file.unlink(missing_ok=True)
            saves.append(seconds_of(lambda: durable(save, file, arrays))[0])
            seconds, loaded = seconds_of(lambda: load(file))
            loads.append(seconds)
            for key, array in arrays.items():
                if loaded[key].shape != array.shape or not np.array_equal(loaded[key].view(np.uint32), array.view(np.uint32)):
                    sys.exit(f"{name}: {key} has other values")
            del loaded
        print(f"{name}: {statistics.median(saves)} {statistics.median(loads)} {file.stat().st_size}")
        file.unlink()


main()

# SPDX-License-Identifier: MIT
"""What loads cost in Python: raw arrays against numpy, which reads the same bytes, and encoded ones against C++.

    PYTHONPATH=build/release/examples/python python3 bench/python/load.py --cpp-loader build/bench/bench/load_arrays [--mib 512] [--reps 9] [--json FILE]

The files are in the page cache. Cairn verifies all checksums; numpy has none. Needs the Python package built with optimization: `cmake --preset release`, target cairn_python.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import cairn

ARRAY = 2 << 20  # elements


def seconds_of(action):
    began = time.perf_counter()
    made = action()
    del made  # frees the memory, as the peer does
    return time.perf_counter() - began


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cpp-loader", required=True, help="the program load_arrays")
    arguments.add_argument("--mib", type=int, default=512)
    arguments.add_argument("--reps", type=int, default=9)
    arguments.add_argument("--json")
    options = arguments.parse_args()
    count = options.mib * (1 << 20) // (4 * ARRAY)
    random = np.random.default_rng(1)
    arrays = {f"layer.{i}.weight": (random.standard_normal(ARRAY) * 0.02).astype(np.float32) for i in range(count)}
    times = {name: [] for name in ("cairn raw", "numpy", "cairn lossless", "C++ lossless")}
    with tempfile.TemporaryDirectory() as work:
        raw, lossless = f"{work}/raw", f"{work}/lossless"
        cairn.save(raw, arrays, durable=False)
        cairn.save(lossless, arrays, lossless=True, durable=False)
        for path in raw, lossless:
            loaded = cairn.load_dict(path)
            assert all(np.array_equal(loaded[name].view(np.uint32), each.view(np.uint32)) for name, each in arrays.items())
        shards = [file for file in sorted(Path(raw).iterdir()) if file.suffix == ".safetensors"]

        def numpy_reads():  # as many bytes of the same files, in arrays of the same size
            return [np.fromfile(file, np.float32, ARRAY, offset=at) for file in shards for at in range(0, file.stat().st_size - 4 * ARRAY + 1, 4 * ARRAY)]

        with subprocess.Popen([options.cpp_loader, lossless], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:

            def peer_loads():
                peer.stdin.write("\n")
                peer.stdin.flush()
                return float(peer.stdout.readline())

            methods = {
                "cairn raw": lambda: seconds_of(lambda: cairn.load_dict(raw)),
                "numpy": lambda: seconds_of(numpy_reads),
                "cairn lossless": lambda: seconds_of(lambda: cairn.load_dict(lossless)),
                "C++ lossless": peer_loads,
            }
            for repetition in range(options.reps + 1):  # the first one is not counted
                order = list(methods)[repetition % 4 :] + list(methods)[: repetition % 4]
                for name in order:
                    methods[name]()  # not timed: the next call finds the memory and the processor of its process as all others do
                    seconds = methods[name]()
                    if repetition > 0:
                        times[name].append(seconds)
            peer.stdin.close()
    for name, seconds in times.items():
        print(f"{name:16} {statistics.median(seconds):.4f} s")
    figures = {}
    for figure, over, bound in ("python.load_over_numpy", ("cairn raw", "numpy"), 1.3), ("python.decode_over_cpp", ("cairn lossless", "C++ lossless"), 1.1):
        figures[f"bound.at_most.{figure}"] = bound
        figures[figure] = statistics.median(a / b for a, b in zip(times[over[0]], times[over[1]]))
        print(f"{figure:24} {figures[figure]:.3f}  <= {bound}  {'yes' if figures[figure] <= bound else 'NO'}")
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

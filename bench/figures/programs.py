# SPDX-License-Identifier: MIT
"""The bench programs: how each is run, and which of its numbers are drawn."""

import dataclasses
import os
import subprocess
import time


@dataclasses.dataclass(frozen=True)
class Bars:
    """One bar for each entry of `labels`: the number `name` with the entry's key in the place of {}."""

    title: str
    unit: str
    name: str
    labels: dict
    more_is_better: bool | None = True  # None: neither

    def points(self, numbers):
        """(label, value or None where it was not measured, whether it is Cairn's)."""
        return [(label, numbers.get(self.name.format(key)), label.startswith("Cairn")) for key, label in self.labels.items()]


@dataclasses.dataclass(frozen=True)
class Lines:
    """One line for each entry of `labels`: all numbers whose names are `name` with the entry's key and a count in the places of {}."""

    title: str
    unit: str
    x_unit: str
    name: str
    labels: dict

    def series(self, numbers):
        """(label, [(x, y), ...], whether it is drawn as Cairn's)."""
        found = []
        for number, (key, label) in enumerate(self.labels.items()):
            start = self.name.format(key, "")
            counts = (name.removeprefix(start) for name in numbers if name.startswith(start))
            found.append((label, sorted((int(n), numbers[start + n]) for n in counts if n.isdigit()), number == 0))
        return found


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    what: str
    quick: str  # options of a short run
    panels: tuple = ()
    takes_data: bool = False
    launcher: tuple = ()

    def command(self, build, release, data, json_file, is_quick):
        options = self.quick.split() if is_quick else []
        if self.takes_data and data:
            options += ["--data", str(self.data_of(data))]
        return [*self.launcher, str(build / "bench" / self.name), *options, *self.more_options(release), "--json", str(json_file)]

    def data_of(self, mnist):
        return mnist

    def more_options(self, release):
        return []

    def environment(self, release):
        return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Rework(Program):
    """Takes the folder that has mnist/ and jester/."""

    def data_of(self, mnist):
        return mnist.parent


class CairnProgram(Program):
    """Runs the program cairn of the build folder `release`."""

    def more_options(self, release):
        return ["--program", str(release / "examples" / "cairn" / "cairn")]


class PythonProgram(Program):
    """bench/python/<name>.py, which measures the Python package of the build folder `release`."""

    def command(self, build, release, data, json_file, is_quick):
        script = os.path.join(os.path.dirname(__file__), "..", "python", f"{self.name}.py")
        options = self.quick.split() if is_quick else []
        loader = ["--cpp-loader", str(build / "bench" / "load_arrays")]
        return ["python3", os.path.normpath(script), *loader, *options, "--json", str(json_file)]

    def environment(self, release):
        return {**os.environ, "PYTHONPATH": str(release / "examples" / "python")}


METHODS = {"cairn": "Cairn", "cairn-lossless": "Cairn, lossless", "plain": "writev, readv", "plain-two": "the same, two threads", "cereal": "cereal",
           "boost": "Boost.Serialization", "hdf5": "HDF5", "libtorch": "libtorch"}
WAYS = {"cairn": "Cairn, step", "cairn_raw": "Cairn, step, raw", "cairn_blocking": "Cairn, save", "fork": "fork",
        "libtorch_blocking": "torch::save", "libtorch_joined": "torch::save in a thread", "libtorch_cloned": "clone, then a thread"}
CODECS = {"cairn": "Cairn, lossless", "planes_zstd_1": "byte planes, zstd -1", "zstd_1": "zstd -1", "zstd_3": "zstd -3", "lz4": "lz4", "blosc_zstd": "blosc, zstd"}
MODELS = {"bert_large": "BERT-large", "gpt3": "GPT-3", "gpt2_xl": "GPT-2 XL", "lenet": "LeNet-5"}
PIECES = {"pieces": "Cairn", "pieces_of_intervals": "equal intervals"}
FORMATS = {"cairn": "Cairn, lossless", "cairn_raw": "Cairn, raw", "libtorch": "PyTorch zip", "npz": "npz", "npz_compressed": "npz, compressed", "hdf5": "HDF5",
           "hdf5_compressed": "HDF5, gzip", "index_shards": "index and shards", "safetensors": "safetensors"}
REWORK = {"lc2": "Cairn, lc2", "lc3": "Cairn, lc3", "lossless": "Cairn, lossless", "scar": "SCAR", "topn": "TOPN", "full": "whole checkpoints"}
BUCKETS = {str(exponent): f"2^-{exponent}" for exponent in range(10, 19)}
ALONE = ("libtorch", "npz", "npz_compressed", "hdf5", "hdf5_compressed")  # written by rank 0, whatever the number of ranks


def seconds_of_format(size, ranks):
    """The names of the numbers for each format of a model of `size` million parameters."""
    return {f"{key}.{size}m" + ("" if key in ALONE else f".{ranks}"): label for key, label in FORMATS.items()}


ITEMS = {"nothing": "nothing left out", "first_moment": "momentum", "second_moment": "second moment", "adam_step": "Adam's step", "optimizer": "the whole optimizer",
         "rng": "random numbers", "data_position": "data position", "order": "shuffle order", "buffers": "buffers", "loss_scale": "loss scale",
         "schedule": "learning-rate schedule", "threads": "1 thread, same sums", "parts": "2 partial sums, not 4", "reversed": "sums in reverse"}
RULES = {"ours": "Cairn", "ours_untold": "Cairn, without an MTBF", "checkfreq": "CheckFreq", "coci": "COCI", "every_epoch": "every epoch", "none": "no checkpoints"}

PROGRAMS = (
    Program("save_load", "Saves and loads of a transformer and both Adam moments, beside other libraries", "--mib 64 --reps 2 --wait 0",
            tuple(Bars(title, "GB/s", f"gbps.{key}.{{}}", METHODS) for key, title in (
                ("save", "Save, to the page cache"), ("save_durable", "Save, durable"), ("load", "Load"), ("load_cold", "Load, cold"), ("load_fresh", "Load, fresh process")))),
    Program("stall", "What a trainer waits for a save", "--quick yes --wait 0",
            (Bars("The trainer waits", "seconds", "seconds.{}.waits", WAYS, False),
             Bars("The steps after it are slower by", "seconds", "seconds.{}.steps_slower", WAYS, False))),
    Program("codecs", "Sizes and speeds of the codecs, beside other compressors", "--steps 40 --deltas 4 --reps 1 --wait 0",
            tuple(Bars(f"{title}, {kind}", unit, f"lossless.{kind}.all.{{}}.{key}", CODECS) for kind in ("fp32", "bf16") for key, title, unit in (
                ("ratio", "Bytes over stored bytes", "ratio"), ("compress_gbps", "Compression", "GB/s"), ("decompress_gbps", "Decompression", "GB/s"))),
            takes_data=True),
    Program("schedule", "Rules that choose when to save, in simulations and under SIGKILLs",
            "--sections rules,fit,speed --jobs 4 --fit-seeds 2 --wait 0",
            (Bars("Time lost under SIGKILLs, LeNet-5", "% of the run", "real_run.{}.lost_percent", RULES, False),), takes_data=True),
    Program("partition", "How ranks divide a state that all hold", "--leaves 10000 --reps 3",
            (Lines("Pieces of BERT-large with Adam: largest over mean", "ratio", "ranks", "{}.adam.{}", PIECES),)),
    Program("simulate", "Predicted saves on many ranks", "--reps 2 --wait 0",
            (Lines("Large machine: speed-up over one rank", "times", "ranks", "speed_up.large.{}.{}", MODELS),
             Lines("Small machine: speed-up over one rank", "times", "ranks", "speed_up.small.{}.{}", MODELS))),
    Program("mpi_save", "Ranks of an MPI job that save together", "--mib 64 --repetitions 1 --steps 100 --reads 16 --wait 0",
            (Bars("Seconds of each way over Cairn's", "times", "mpi_save.{}",
                  {"over_rank0": "rank 0 writes, 2 ranks", "over_gather": "gather, then write, 2 ranks", "over_mpi_io": "MPI-IO", "over_mpi_io.durable": "MPI-IO, durable",
                   "over_parallel_hdf5": "parallel HDF5", "over_parallel_hdf5.durable": "parallel HDF5, durable", "over_plain_mpi_write": "a plain file of each rank, durable"}),),
            launcher=("mpiexec", "-n", "4")),
    Program("torch_trainer", "A trainer with libtorch: Cairn beside torch::save and torch::load", "--mib 32 --reps 1"),
    Program("study", "Checkpoints in the formats of deep-learning frameworks, and restarts that leave something out",
            "--sizes 8 --ranks 1,2 --reps 1 --training 20 --wait 0 --steps 120 --seeds 1",
            (Bars("Bytes over 4 bytes per number", "8 M parameters", "study.size_over_ideal.{}.8m", FORMATS, False),
             Bars("Save, 1 rank, durable", "seconds", "study.save_seconds.{}", seconds_of_format(8, 1), False),
             Bars("Load", "seconds", "study.load_seconds.{}", seconds_of_format(8, 1), False),
             Bars("Restarts whose weights differ", "of all restarts", "study.ablation.{}.breaks", ITEMS, None),
             Bars("Accuracy at the end: change", "points, mean", "study.ablation.{}.points_at_end", ITEMS)), takes_data=True),
    Rework("rework", "What restarts from lossy checkpoints cost", "--models lr --seeds 1 --failures 2",
           (*(Bars(f"{title}: rework with 5 % of the bytes", "periods", f"rework.{model}.measured.{{}}.5", REWORK, False) for model, title in (
               ("lr", "Logistic regression"), ("mf", "Matrix factorization"), ("lenet", "LeNet-5"), ("alexnet", "AlexNet"), ("gpt", "GPT"))),
            *(Bars(f"One bucket dropped: change of the loss, {sign}", "logistic regression", f"importance.lr.{key}.m{{}}", BUCKETS, None)
              for key, sign in (("plus", "increases"), ("minus", "decreases")))), takes_data=True),
    Program("many_leaves", "Deltas per anchor of a state of 200 large arrays", "--saves 11"),
    CairnProgram("program", "The program cairn: lists and verifies", "--mib 64 --reps 1"),
    Program("compile_time", "What Cairn costs the compiler", "--reps 1",
            (Bars("A unit that saves and loads 50 fields", "CPU seconds", "seconds.{}",
                  {"cairn_save_and_load": "Cairn", "cereal_save_and_load": "cereal"}, False),
             Bars("The quickstart", "CPU seconds", "seconds.{}",
                  {"cairn_quickstart": "Cairn", "cereal_quickstart": "cereal"}, False))),
    PythonProgram("load", "Loads in Python, beside numpy and C++", "--mib 64 --reps 1"),
)


def run(program, build, release, data, folder, is_quick):
    """Runs one program in `folder`, where <name>.json and <name>.log go. Returns what is known of the run."""
    json_file, log_file = folder / f"{program.name}.json", folder / f"{program.name}.log"
    json_file.unlink(missing_ok=True)
    began = time.monotonic()
    with open(log_file, "w", encoding="utf-8") as log:
        try:
            done = subprocess.run(program.command(build, release, data, json_file, is_quick), cwd=folder, env=program.environment(release),
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False)
            failure = "" if done.returncode == 0 else f"ended with status {done.returncode}"
        except OSError as error:
            failure = f"cannot be run: {error.strerror}"
            log.write(failure + "\n")
    if not failure and not json_file.exists():
        failure = "wrote no numbers"
    return {"seconds": round(time.monotonic() - began, 1), "failure": failure, "quick": is_quick}

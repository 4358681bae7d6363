# SPDX-License-Identifier: MIT
"""The bench programs: what each measures, how it is run, and which of its numbers are drawn."""

import dataclasses
import os


@dataclasses.dataclass(frozen=True)
class Bars:
    """One bar for each entry of `labels`: the number `name` with the entry's key in the place of {}."""

    title: str
    unit: str
    name: str
    labels: dict
    more_is_better: bool | None = True  # None: neither

    def points(self, numbers):
        """(label, value or None where it was not measured)."""
        return [(label, numbers.get(self.name.format(key))) for key, label in self.labels.items()]


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    name: str
    about: str  # of RESULTS.md
    quick: str  # options of a short run
    words: str = "{bench}/{name}"
    data: str = ""  # options where there is data
    panels: tuple = ()
    pictures: dict = dataclasses.field(default_factory=dict)  # files that the program draws, by option
    left_out: str = ""  # titles of printed tables that RESULTS.md leaves out: a regular expression

    def command(self, options, json_file):
        words = self.words.split() + (self.quick.split() if options.quick else []) + (self.data.split() if options.data else [])
        places = {"name": self.name, "bench": options.build.resolve() / "bench", "release": options.release.resolve(), "data": options.data and options.data.resolve(),
                  "python": os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python")}
        return [word.format(**places) for word in words] + [word for pair in self.pictures.items() for word in pair] + ["--json", str(json_file)]


def environment(options):
    """Of all programs. Open MPI refuses root, and more ranks than cores, unless it is told."""
    path = os.pathsep.join(filter(None, [str(options.release.resolve() / "examples" / "python"), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


METHODS = {"cairn": "Cairn", "cairn-lossless": "Cairn, lossless", "plain": "writev, readv", "plain-two": "the same, two threads", "cereal": "cereal",
           "boost": "Boost.Serialization", "hdf5": "HDF5", "libtorch": "libtorch"}
WAYS = {"cairn": "Cairn, step", "cairn_raw": "Cairn, step, raw", "cairn_blocking": "Cairn, save", "fork": "fork",
        "libtorch_blocking": "torch::save", "libtorch_joined": "torch::save in a thread", "libtorch_cloned": "clone, then a thread"}
FORMATS = {"cairn": "Cairn, lossless", "cairn_raw": "Cairn, raw", "libtorch": "PyTorch zip", "npz": "npz", "npz_compressed": "npz, compressed", "hdf5": "HDF5",
           "hdf5_compressed": "HDF5, gzip", "index_shards": "index and shards", "safetensors": "safetensors"}
REWORK = {"lc2": "Cairn, lc2", "lc3": "Cairn, lc3", "lossless": "Cairn, lossless", "scar": "SCAR", "topn": "TOPN", "full": "whole checkpoints"}
BUCKETS = {str(exponent): f"2^-{exponent}" for exponent in range(10, 19)}
ALONE = ("libtorch", "npz", "npz_compressed", "hdf5", "hdf5_compressed")  # written by rank 0, whatever the number of ranks
OF_ONE_RANK = {f"{key}.8m" + ("" if key in ALONE else ".1"): label for key, label in FORMATS.items()}
MPI_PEERS = {"over_rank0": "rank 0 writes, 2 ranks", "over_gather": "gather, then write, 2 ranks", "over_mpi_io": "MPI-IO", "over_mpi_io.durable": "MPI-IO, durable",
             "over_parallel_hdf5": "parallel HDF5", "over_parallel_hdf5.durable": "parallel HDF5, durable", "over_plain_mpi_write": "a file of each rank, durable"}
ITEMS = {"nothing": "nothing left out", "first_moment": "momentum", "second_moment": "second moment", "adam_step": "Adam's step", "optimizer": "the whole optimizer",
         "rng": "random numbers", "data_position": "data position", "order": "shuffle order", "buffers": "buffers", "loss_scale": "loss scale",
         "schedule": "learning-rate schedule", "threads": "1 thread, same sums", "parts": "2 partial sums, not 4", "reversed": "sums in reverse"}

PROGRAMS = (
    Program(
        "save_load", """\
Saves and loads of a transformer and both Adam moments, 1,200 tensors of 1.8 KB to 37 MB. `cairn` stores them as they are
(`codecs::raw`), with checksums, and loads in one pass; `cairn-verify-first` is the default of `cairn::load`. `plain` is
`writev` and `readv` of the bytes alone by one thread, `plain-two` by two with a file each. Durable: until `fsync` has
returned; cold: not in the page cache; fresh: the first load of a process; extra memory: peak, over the bytes of the
state. `background` is a save of `step` from its copy on. `restore`: bytes read over those of the arrays that are loaded.
`open` is over what RapidJSON takes for the same index; `columns`: ten million records of three fields, saved to memory,
over `memcpy`; `small` and `engines`: CPU time and bytes over those of cereal, and CPU time over that of plain words.""",
        "--mib 64 --reps 2 --wait 0",
        panels=tuple(Bars(title, "GB/s", f"gbps.{key}.{{}}", METHODS) for key, title in (
            ("save", "Save, to the page cache"), ("save_durable", "Save, durable"), ("load", "Load"), ("load_cold", "Load, cold"), ("load_fresh", "Load, fresh process")))),
    Program(
        "stall", """\
What a trainer that rewrites its whole state, 512 MiB, in every step waits for a durable save. "Waits" is what it waits in
the call, "slower" by how much the steps until the save is durable are longer; the stall of a fork is both together.
`over_memcpy` is over two threads that copy the same bytes, `over_libtorch` over `torch::save` in a thread that is joined
before the state is rewritten. `peak_memory` is over the bytes of the state; `throughput_loss`, in percent, is of a
training of 512 MiB with a save always running; `poll` is in nanoseconds.""",
        "--quick yes --wait 0",
        panels=(Bars("The trainer waits", "seconds", "seconds.{}.waits", WAYS, False),
                Bars("The steps after it are slower by", "seconds", "seconds.{}.steps_slower", WAYS, False))),
    Program(
        "codecs", """\
Sizes and speeds of the codecs on the weights and both Adam moments of a network of 6 million parameters, trained for 400
steps: as fp32 and bf16, as differences (XOR) to those 1 and 10 steps before, and, with loss, in chains of 20 deltas. One
thread; GB/s are bytes of values per second of its CPU time. "planes + zstd -1" are byte planes with a zstd frame each.
zfp gets the largest error that the chain has. The published numbers are of other models.""",
        "--steps 40 --deltas 4 --reps 1 --wait 0", data="--data {data}", pictures={"--figure": "codecs.svg"},
        left_out=r"\w+ (weights|first moment|second moment), [\d.]+ MB"),
    Program(
        "schedule", """\
Rules that choose when to save: in simulated jobs, over an optimum that is exact, and in a training of LeNet-5 that is
killed again and again. [schedule/README.md](schedule/README.md) describes the rules, the objectives and each figure.""",
        "--sections rules,places,fit,speed --jobs 4 --fit-seeds 2 --wait 0", data="--data {data}",
        pictures={"--chart": "schedule.svg", "--run-chart": "real_run.svg"}, left_out="kills of seed"),
    Program(
        "partition", """\
How ranks divide a state that all hold. `balance`: the largest share over the mean, in bytes, of BERT-large with both Adam
moments; `balance_tensors`: of the number of pieces; `balance_encoded`: of the encoded shards of LeNet-5 that four ranks
write, from the second save on. "Equal intervals" are what equal intervals of all bytes give. `plan`: seconds of the plan,
its hash and the pieces of all ranks, one thread; `plan.growth`: time per leaf, a million leaves over ten thousand.""",
        "--leaves 10000 --reps 3"),
    Program(
        "simulate", """\
Saves by 1 to 16,384 ranks as a model predicts them, for two imaginary machines, and how far such predictions are from saves
by 1, 2 and 4 threads here: `simulate.error` is the worst, in percent. The model is fitted to saves of other states without
ranks. Its predictions have not been compared with a cluster.""",
        "--reps 2 --wait 0", pictures={"--figure": "simulate.svg"}, left_out=".*: seconds of each part"),
    Program(
        "mpi_save", """\
Ranks of an MPI job, on one machine, that save and restore the state of `save_load`: the same state at all ranks, or a box of
each array at each (`sharded`). Seconds of each way over those of Cairn, which stores raw with checksums; `plain_mpi_write`
and `blobs`: each rank writes a part into a file of its own. `mpi_step`: a step that saves nothing; its bound is 1.2 times
a loop with one reduction. `mpi_stall`: what `step` waits with 2 ranks over 1; `mpi_copied`: the part of the state that a
rank copies. `mpi_load`: each rank loads alone, over `restore` of the group; bytes read over those needed.""",
        "--mib 64 --repetitions 1 --steps 100 --reads 16 --wait 0", "mpiexec -n 4 {bench}/{name}",
        panels=(Bars("Seconds of each way over Cairn's", "times", "mpi_save.{}", MPI_PEERS),)),
    Program(
        "levels", """\
A second place for checkpoints. `step_extra`: a step that saves nothing, over one with a single place; `slowdown`: iterations
that keep two cores busy, beside a copy of 200 MB/s, over those alone; `upload` and `download`: 1 GiB to a bucket and back into
a state, verified, over the time that plain libcurl takes for as many bytes, which compares nothing. The bucket is that of the
server which `AWS_ENDPOINT_URL_S3` and `CAIRN_S3_BUCKET` name.""",
        "--quick yes --wait 0"),
    Program(
        "torch_trainer", """\
A module and Adam of libtorch, 512 MiB. `torch_stall`: what `step` waits for a durable save in the background, over
`torch::save` to the page cache. `torch_load`: `torch::load`, which verifies nothing, over a verified `restore`.""",
        "--mib 32 --reps 1"),
    Program(
        "study", """\
Formats: seconds and bytes of a checkpoint of a network and both Adam moments, as other frameworks store it; npz and HDF5
are written by Python. Restarts: LeNet-5 with Adam is restarted without one item of its state, and compared with the
undisturbed run. Without the second moment alone Adam divides by too small a number, and its steps are much too large.""",
        "--sizes 8 --ranks 1,2 --reps 1 --training 20 --wait 0 --steps 120 --seeds 1", data="--data {data}",
        panels=(Bars("Bytes over 4 bytes per number", "8 M parameters", "study.size_over_ideal.{}.8m", FORMATS, False),
                Bars("Save, 1 rank, durable", "seconds", "study.save_seconds.{}", OF_ONE_RANK, False),
                Bars("Load", "seconds", "study.load_seconds.{}", OF_ONE_RANK, False),
                Bars("Restarts whose weights differ", "of all restarts", "study.ablation.{}.breaks", ITEMS, None),
                Bars("Accuracy at the end: change", "points, mean", "study.ablation.{}.points_at_end", ITEMS)),
        left_out="(1|32) million parameters"),
    Program(
        "rework", """\
What a restart from a lossy checkpoint costs, as in the experiments of LC-Checkpoint (Chen et al., ICML 2020). A run fails
right after a checkpoint; rework is the time until a restarted run has the loss that the first one had, in periods between
two checkpoints. Methods get 5 or 10 % of the fp32 bytes per period, where a limit is named. SCAR saves the rows that have
changed most, TOPN the elements. A method that does not reach the loss in every restart has no mean. `accuracy_loss`:
points of accuracy (of a GPT: percent of the loss) lost by ten restarts in one run.""",
        "--models lr --seeds 1 --failures 2", data="--data {data}/..",
        panels=(*(Bars(f"{title}: rework with 5 % of the bytes", "periods", f"rework.{model}.measured.{{}}.5", REWORK, False) for model, title in (
                    ("lr", "Logistic regression"), ("mf", "Matrix factorization"), ("lenet", "LeNet-5"), ("alexnet", "AlexNet"), ("gpt", "GPT"))),
                *(Bars(f"One bucket dropped: change of the loss, {sign}", "logistic regression", f"importance.lr.{key}.m{{}}", BUCKETS, None)
                  for key, sign in (("plus", "increases"), ("minus", "decreases")))),
        left_out=r"\w+: one bucket dropped"),
    Program("many_leaves", "Deltas per anchor of a state of 200 large arrays, with lossy codecs.", "--saves 11"),
    Program(
        "compile_time", """\
CPU seconds of the compiler for the same programs with Cairn and with cereal: a unit that saves and loads 50 fields in nine
structs, the include alone, and `examples/quickstart.cpp`. `definitions`: all definitions of Cairn, once, in wall time
with two units at a time. `compile_torch`: a trainer with libtorch over the same without the lines of Cairn.""",
        "--reps 1",
        panels=(Bars("A unit that saves and loads 50 fields", "CPU seconds", "seconds.{}", {"cairn_save_and_load": "Cairn", "cereal_save_and_load": "cereal"}, False),
                Bars("The quickstart", "CPU seconds", "seconds.{}", {"cairn_quickstart": "Cairn", "cereal_quickstart": "cereal"}, False))),
    Program(
        "program", """\
The [program `cairn`](../docs/program.md): `ls` of 1,000 checkpoints of 41 arrays over `cat` of their indexes, in seconds,
and the rate of `verify` of 1 GiB over that of a load in one pass.""",
        "--mib 64 --reps 1", "{bench}/{name} --program {release}/examples/cairn/cairn"),
    Program(
        "load", """\
Loads in Python from the page cache, arrays of 8 MiB: `cairn.load_dict` of a raw checkpoint, verified, over
`numpy.fromfile`, and of a lossless one over a C++ program that reads the same arrays.""",
        "--mib 64 --reps 1", "python3 {python}/{name}.py --cpp-loader {bench}/load_arrays"),
)

#!/usr/bin/python3
"""compare.py [options] -- PROGRAM ARGUMENT...

Runs a program under several allocators, all arms once per round in rotated order, the first round thrown away, and
compares CPU time (user + system, of the program and all its children, from wait4) with a baseline, round by round.
Prints for each arm the median, the median of the paired ratios with its bootstrap 95 % interval, the smallest and the
largest ratio, and VmHWM (hwm.c; never ru_maxrss).
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MIMALLOC = "libmimalloc.so.2"
POOLMARK = os.path.join(HERE, "../../build/libpoolmark.so")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--rounds", type=int, default=11, help="measured rounds (default 11)")
    parser.add_argument("--arm", action="append", metavar="NAME=LIB[,ENV=VAL...]",
                        help="an allocator; LIB may be empty. Default: none, mimalloc, poolmark")
    parser.add_argument("--baseline", default="mimalloc", metavar="NAME", help="what the others are compared with")
    parser.add_argument("--env", action="append", default=[], metavar="ENV=VAL", help="for every arm")
    parser.add_argument("--stdin", metavar="FILE", default=os.devnull)
    parser.add_argument("--memory-runs", type=int, default=3, help="runs for VmHWM (default 3, 0: none)")
    parser.add_argument("--json", action="store_true", help="every sample, on stdout")
    parser.add_argument("--max-ratio", action="append", default=[], metavar="NAME=RATIO", help="else exit status 1")
    parser.add_argument("--max-kib", action="append", default=[], metavar="NAME=KIB", help="of VmHWM; else exit status 1")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    if options.program[:1] == ["--"]:
        del options.program[0]
    if not options.program:
        parser.error("no program")
    return options


def make_arms(options):
    """Name -> environment."""
    arms = {}
    for text in options.arm or ["none=", "mimalloc=" + MIMALLOC, "poolmark=" + POOLMARK]:
        name, _, rest = text.partition("=")
        library, *settings = split_settings(rest)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("POOL_")}
        environment.update(setting.split("=", 1) for setting in options.env + settings)
        if "/" in library and not os.path.exists(library):
            sys.exit("compare: no such library: " + library)
        if library:
            environment["LD_PRELOAD"] = os.path.realpath(library) if "/" in library else library
        arms[name] = environment
    if options.baseline not in arms:
        sys.exit("compare: the baseline %s is no arm (%s)" % (options.baseline, " ".join(arms)))
    return arms


def split_settings(text):
    """LIB,ENV=VAL,ENV=VAL: a comma starts a setting only where a name and = follow; routes have commas too."""
    parts = []
    for piece in text.split(","):
        if parts and not piece.split("=")[0].isupper() and not piece.split("=")[0].replace("_", "").isupper():
            parts[-1] += "," + piece
        else:
            parts.append(piece)
    return parts


def find_program(name):
    return name if "/" in name else shutil.which(name)


def run(options, environment, prefix=()):
    """CPU seconds and faults of one run; the program must end as it always does (checked by the caller)."""
    with open(options.stdin, "rb") as stdin, open(os.devnull, "wb") as null:
        process = subprocess.Popen([*prefix, *options.program], env=environment, stdin=stdin, stdout=null, stderr=null)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return {"cpu": usage.ru_utime + usage.ru_stime, "user": usage.ru_utime, "faults": usage.ru_minflt,
            "status": process.returncode}


def measure_time(options, arms):
    samples = {name: [] for name in arms}
    names = list(arms)
    for turn in range(options.rounds + 1):
        shift = turn % len(names)
        order = names[shift:] + names[:shift]
        for name in order[::-1] if turn % 2 else order:
            sample = run(options, arms[name])
            if turn:
                samples[name].append(sample)
    statuses = {name: sorted({sample["status"] for sample in rows}) for name, rows in samples.items()}
    if len({tuple(found) for found in statuses.values()}) > 1 or any(len(found) > 1 for found in statuses.values()):
        sys.exit("compare: exit statuses differ: %s" % statuses)
    return samples


def measure_memory(options, arms):
    """Name -> list of {"root", "largest", "program"}."""
    memory = {name: [] for name in arms}
    with tempfile.TemporaryDirectory() as folder:
        helper, out = os.path.join(folder, "hwm"), os.path.join(folder, "out")
        subprocess.check_call(["gcc", "-O1", "-o", helper, os.path.join(HERE, "hwm.c")])
        for _ in range(options.memory_runs):
            for name in arms:
                run(options, arms[name], (helper, "-o", out))
                with open(out, encoding="ascii") as file:
                    memory[name].append(json.load(file))
    return memory


def bootstrap(ratios, draws=4000):
    """The 95 % interval of the median, by resampling rounds."""
    source = random.Random(1)
    medians = sorted(statistics.median(source.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[int(draws * 0.025)], medians[int(draws * 0.975)]


def summarise(options, samples, memory):
    base = [sample["cpu"] for sample in samples[options.baseline]]
    rows = {}
    for name, taken in samples.items():
        ratios = [sample["cpu"] / other for sample, other in zip(taken, base)]
        kib = [found["largest"] for found in memory[name]]
        rows[name] = {
            "cpu": statistics.median(sample["cpu"] for sample in taken), "ratio": statistics.median(ratios),
            "interval": bootstrap(ratios), "min": min(ratios), "max": max(ratios),
            "faults": statistics.median(sample["faults"] for sample in taken),
            "hwm_kib": statistics.median(kib) if kib else None,
        }
    return rows


def exceeded(limits, rows, key):
    for text in limits:
        name, _, limit = text.partition("=")
        if rows[name][key] > float(limit):
            yield "%s: %s is %.4g, more than %s" % (name, key, rows[name][key], limit)


def main(argv):
    options = parse_arguments(argv)
    arms = make_arms(options)
    load = os.getloadavg()[0]
    samples, memory = measure_time(options, arms), measure_memory(options, arms)
    rows = summarise(options, samples, memory)
    if options.json:
        print(json.dumps({"program": options.program, "baseline": options.baseline, "load": load, "summary": rows,
                          "samples": samples, "memory": memory}, indent=1))
    else:
        print("%-14s %9s  %-7s %-17s %-15s %8s %10s" % (
            "", "CPU s", "ratio", "95 % interval", "min..max", "faults", "VmHWM KiB"))
        for name, row in rows.items():
            print("%-14s %9.4f  %-7.3f [%.3f, %.3f]    %.3f..%-7.3f %8d %10s" % (
                name, row["cpu"], row["ratio"], *row["interval"], row["min"], row["max"], row["faults"],
                "-" if row["hwm_kib"] is None else "%d" % row["hwm_kib"]))
    if load > 1:
        print("compare: warning: load average was %.2f" % load, file=sys.stderr)
    faults = [*exceeded(options.max_ratio, rows, "ratio"), *exceeded(options.max_kib, rows, "hwm_kib")]
    for fault in faults:
        print("compare: " + fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

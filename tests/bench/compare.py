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
import statistics
import sys
import tempfile

import paired

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
        library, *settings = paired.split_settings(rest)
        environment = paired.plain_environment()
        environment.update(setting.split("=", 1) for setting in options.env + settings)
        if "/" in library and not os.path.exists(library):
            sys.exit("compare: no such library: " + library)
        if library:
            environment["LD_PRELOAD"] = os.path.realpath(library) if "/" in library else library
        arms[name] = environment
    if options.baseline not in arms:
        sys.exit("compare: the baseline %s is no arm (%s)" % (options.baseline, " ".join(arms)))
    return arms


def measure_time(options, arms):
    samples = paired.interleave(arms, options.rounds, lambda name: paired.run(options.program, arms[name], options.stdin))
    statuses = {name: sorted({sample["status"] for sample in rows}) for name, rows in samples.items()}
    if len({tuple(found) for found in statuses.values()}) > 1 or any(len(found) > 1 for found in statuses.values()):
        sys.exit("compare: exit statuses differ: %s" % statuses)
    return samples


def measure_memory(options, arms):
    """Name -> list of {"root", "largest", "program"}."""
    with tempfile.TemporaryDirectory() as folder:
        helper = paired.build_hwm(folder)
        return {name: [paired.run_memory(helper, options.program, environment, options.stdin)
                       for _ in range(options.memory_runs)] for name, environment in arms.items()}


def summarise(options, samples, memory):
    base = [sample["cpu"] for sample in samples[options.baseline]]
    rows = {}
    for name, taken in samples.items():
        ratios = [sample["cpu"] / other for sample, other in zip(taken, base)]
        kib = [found["largest"] for found in memory[name]]
        rows[name] = {
            "cpu": statistics.median(sample["cpu"] for sample in taken), "ratio": statistics.median(ratios),
            "interval": paired.bootstrap(ratios), "min": min(ratios), "max": max(ratios),
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

#!/usr/bin/python3
"""scripts/bench [options]

Shapes of allocation (shapes.c) and real programs (programs.py) under several allocators (arms.py): all arms once per round
in rotated order, the first round not counted. CPU is user + system of the program and its children, memory VmHWM of
the largest process, from runs of their own (hwm.c). An arm that fails, or prints something else than the first one does, is
shown as failed on that program and not counted.

The table has per program the ratio of our CPU time to each peer's, the median over the rounds with its bootstrap 95 %
interval, and the ratio of resident peaks; below 1 we are better. Then the geometric means over all programs.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import arms
import paired
import programs
import table

QUICK_PERCENT = "6"
QUICK_SECONDS = 200  # after so many --quick begins nothing new


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, "bench: %s\n" % message)


def count(text):
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError("%s is not 1 to 1000" % text)
    return int(text)


def make_parser():
    parser = Parser(prog="scripts/bench", description=__doc__.split("\n", 2)[2], allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.path.join(paired.HERE, "../../build")
    parser.add_argument("--shapes", default=os.path.join(build, "tests/bench/shapes"), help=argparse.SUPPRESS)
    parser.add_argument("--lib", default=os.path.join(build, "libpoolmark.so"), metavar="FILE", help="another libpoolmark.so")
    parser.add_argument("--quick", action="store_true", help="6 %% of each shape, small inputs, 2 rounds: under 4 minutes")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this program; repeatable")
    parser.add_argument("--rounds", type=count, metavar="N", help="measured rounds (default 7, quick 2)")
    parser.add_argument("--arms", metavar="a,b,c", help="default: all that --list names")
    parser.add_argument("--allocator", action="append", default=[], metavar="NAME=LIB.so[,ENV=VAL...]",
                        help="one more peer; repeatable")
    parser.add_argument("--json", metavar="FILE", help="every sample")
    parser.add_argument("--markdown", metavar="FILE", help="the table, there too")
    parser.add_argument("--list", action="store_true", help="the names of programs and arms")
    return parser


def choose_programs(parser, options):
    """Name -> function of (folder, quick), and name -> why it cannot be run."""
    shapes = subprocess.check_output([options.shapes], text=True).split()
    percent = QUICK_PERCENT if options.quick else "100"
    chosen = {name: lambda _folder, _quick, name=name: ([options.shapes, name, percent], None, {}) for name in shapes}
    skipped = {}
    for name, (needs, function) in programs.PROGRAMS.items():
        missing = [need for need in needs if not paired.find_program(need) or not os.path.exists(paired.find_program(need))]
        chosen[name] = function
        if missing:
            skipped[name] = "%s is not installed" % " ".join(missing)
    for name in options.only:
        if name not in chosen:
            parser.error("no such program: %s (%s)" % (name, " ".join(chosen)))
    wanted = [name for name in chosen if not options.only or name in options.only]
    return ({name: chosen[name] for name in wanted if name not in skipped},
            {name: skipped[name] for name in wanted if name in skipped})


class Verdicts:
    """Which arms failed on a program, and what the others printed."""

    def __init__(self):
        self.failed, self.outputs = {}, {}

    def note(self, name, sample):
        if sample["status"]:
            self.failed.setdefault(name, "status %d %s" % (sample["status"], sample["complaint"]))
        self.outputs.setdefault(name, set()).add(sample["output"])
        return sample

    def judge(self):
        """The first arm that runs, and always prints the same, is right."""
        reference = None
        for name, outputs in self.outputs.items():
            if name in self.failed:
                continue
            if len(outputs) > 1:
                self.failed[name] = "its output is not the same in each run"
            elif reference is None:
                reference = name
            elif outputs != self.outputs[reference]:
                self.failed[name] = "its output is not that of " + reference


def measure(options, helper, environments, prepared):
    """Samples and memory of one program, name -> list each, and name -> why it failed."""
    command, stdin, extra = prepared
    limit, verdicts = 20 if options.quick else 300, Verdicts()

    def run_one(name):
        if name not in verdicts.failed:
            return verdicts.note(name, paired.run(command, {**environments[name], **extra}, stdin, limit=limit))
        return None

    samples = paired.interleave(environments, options.rounds or (2 if options.quick else 7), run_one)
    memory = {name: [] for name in environments}
    for _ in range(1 if options.quick else 3):
        for name in environments:
            if name not in verdicts.failed:
                found = paired.run_memory(helper, command, {**environments[name], **extra}, stdin, limit)
                memory[name].append(verdicts.note(name, found))
    verdicts.judge()
    return {name: [sample for sample in rows if sample] for name, rows in samples.items()}, memory, verdicts.failed


def medians(samples, memory):
    kib = [found["largest"] for found in memory if found["largest"] > 0]
    return {"kib": statistics.median(kib) if kib else None,
            **{key: statistics.median(sample[key] for sample in samples) for key in ("cpu", "wall", "faults")}}


def compare(result, arm, other):
    """CPU time round by round, and memory, of an arm to another's."""
    rounds = [mine["cpu"] / max(theirs["cpu"], 1e-6)
              for mine, theirs in zip(result["samples"][arm], result["samples"][other])]
    kib, other_kib = result["median"][arm]["kib"], result["median"][other]["kib"]
    return {"cpu": statistics.median(rounds), "interval": paired.bootstrap(rounds, 2000), "rounds": rounds,
            "memory": kib / other_kib if kib and other_kib else None}


def add_ratios(result, ours, peers):
    """Of each of our arms to each peer, and of our other routes to the first."""
    sound = [name for name in result["samples"] if name not in result["failed"]]
    result["median"] = {name: medians(result["samples"][name], result["memory"][name]) for name in sound}
    result["ratios"] = {arm: {other: compare(result, arm, other) for other in sound
                              if other in peers or other == ours[0] != arm} for arm in ours if arm in sound}


def average(results, arm, peer):
    """The geometric mean over the programs that have this ratio."""
    found = [result["ratios"][arm][peer] for result in results.values() if peer in result["ratios"].get(arm, {})]
    memory = [ratio["memory"] for ratio in found if ratio["memory"]]
    return {"cpu": paired.geometric_mean([ratio["cpu"] for ratio in found]), "programs": len(found),
            "interval": paired.bootstrap_mean([ratio["rounds"] for ratio in found]),
            "memory": paired.geometric_mean(memory) if memory else None} if found else None


def describe(options, environments, skipped):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown processor")
    rounds = options.rounds or (2 if options.quick else 7)
    commit = subprocess.run(["git", "-C", paired.HERE, "describe", "--always", "--dirty"], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.DEVNULL, check=False).stdout.strip() if paired.find_program("git") else ""
    return {"commit": commit or "unknown", "cpu": model, "cores": len(os.sched_getaffinity(0)),
            "kernel": platform.release(), "load": os.getloadavg()[0],
            "date": time.strftime("%Y-%m-%d"), "rounds": rounds, "quick": options.quick, "skipped": skipped,
            "libraries": {name: arms.version(environment) for name, environment in environments.items()}}


def measure_all(options, environments, chosen, skipped):
    results, begin = {}, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        helper = paired.build_hwm(folder)
        for name, prepare in chosen.items():
            if options.quick and time.monotonic() - begin > QUICK_SECONDS:
                skipped[name] = "no time was left"
                continue
            print("bench: " + name, file=sys.stderr)
            samples, memory, failed = measure(options, helper, environments, prepare(folder, options.quick))
            results[name] = {"samples": samples, "memory": memory, "failed": failed}
    return results


def write(parser, path, text):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        parser.error("%s: %s" % (path, error.strerror))


def main(argv):
    parser = make_parser()
    options = parser.parse_args(argv)
    try:
        environments, skipped = arms.make_arms(options.lib, options.allocator, options.arms and options.arms.split(","))
    except arms.BadArm as error:
        parser.error(str(error))
    chosen, missing = choose_programs(parser, options)
    skipped.update(missing)
    if options.list:
        print("programs: %s\narms: %s" % (" ".join(chosen), " ".join(environments)))
    for name, why in skipped.items():
        print("bench: %s is left out: %s" % (name, why), file=sys.stderr)
    if options.list:
        return 0
    ours = [name for name in environments if name in arms.ROUTES]
    peers = [name for name in environments if name not in arms.ROUTES]
    if not ours or len(environments) < 2:
        parser.error("--arms needs one of %s, and another arm" % " ".join(arms.ROUTES))
    for path in filter(None, (options.json, options.markdown)):
        write(parser, path, "")  # now, not after an hour
    machine = describe(options, environments, skipped)
    results = measure_all(options, environments, chosen, skipped)
    for result in results.values():
        add_ratios(result, ours, peers)
    means = {arm: {peer: average(results, arm, peer) for peer in peers} for arm in ours}
    text = table.render(machine, results, means, ours, peers)
    print(text, end="")
    if options.markdown:
        write(parser, options.markdown, text)
    if options.json:
        write(parser, options.json, json.dumps({"schema": "poolmark.bench/1", "machine": machine, "means": means,
                                                "programs": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

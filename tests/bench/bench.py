#!/usr/bin/python3
"""bench.py --shapes PROGRAM --lib LIB.so [options]

Shapes of allocation (shapes.c) and real programs under several allocators: all arms once per round in rotated order. A
first run of each arm is not measured; its output must be that of the first arm, else the arm is shown as failed there.
CPU is user + system of the program and its children, memory VmHWM of the largest process, in runs of their own (hwm.c).

The table has per program the ratio of our CPU time to each peer's, the median over rounds with its bootstrap 95 %
interval, and the ratio of resident peaks; below 1 we are better. Then the geometric means over all programs.
"""
import argparse
import glob
import hashlib
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile

import compare

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"mimalloc2": "libmimalloc.so.2", "jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4",
         "tbbmalloc": "libtbbmalloc_proxy.so.2"}
ROUTES = {"poolmark": "", "thread": "POOL_POLICY=thread", "array": "POOL_POLICY=array", "native": "POOL_POLICY=native"}
BASE = "poolmark"


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", required=True, help="the built program of shapes.c")
    parser.add_argument("--lib", required=True, help="libpoolmark.so")
    parser.add_argument("--quick", action="store_true", help="a tenth of each shape, 3 rounds, small inputs: under 4 minutes")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this program only; repeatable")
    parser.add_argument("--rounds", type=int, help="measured rounds (default 7, quick 3)")
    parser.add_argument("--arms", help="comma-separated; default: none, all installed peers, poolmark, native")
    parser.add_argument("--allocator", action="append", default=[], metavar="NAME=LIB.so", help="one more peer")
    parser.add_argument("--json", metavar="FILE", help="every sample")
    parser.add_argument("--markdown", metavar="FILE", help="the table, also there")
    parser.add_argument("--list", action="store_true", help="names of programs and arms")
    return parser.parse_args(argv)


def find_library(name):
    """The file of a library: a path as it is, a soname where the loader would look."""
    if "/" in name:
        return os.path.realpath(name) if os.path.exists(name) else None
    found = glob.glob("/usr/lib/*/" + name) + glob.glob("/usr/local/lib/" + name)
    return found[0] if found else None


def make_arms(options):
    """Name -> environment, and the names that cannot be had."""
    libraries = {"none": None, **PEERS, **dict(text.split("=", 1) for text in options.allocator)}
    plain = {key: value for key, value in os.environ.items() if not key.startswith("POOL_") and key != "LD_PRELOAD"}
    arms, missing = {}, []
    wanted = options.arms.split(",") if options.arms else ["none", *list(libraries)[1:], BASE, "native"]
    for name in wanted:
        if name not in libraries and name not in ROUTES:
            sys.exit("bench: no such arm: %s (%s)" % (name, " ".join([*libraries, *ROUTES])))
        library = options.lib if name in ROUTES else libraries[name]
        path = library and find_library(library)
        if library and not path:
            missing.append(name)
            continue
        arms[name] = dict(plain, POOL_STATS="off", **({"LD_PRELOAD": path} if path else {}))
        if ROUTES.get(name):
            key, _, value = ROUTES[name].partition("=")
            arms[name][key] = value
    return arms, missing


def real_programs(options, folder):
    """Name -> (command, stdin, extra environment), of those that are installed."""
    rows = os.path.join(folder, "rows.sql")
    with open(rows, "wb") as file:
        subprocess.check_call([os.path.join(HERE, "sqlite-rows.sh"), "20000" if options.quick else "200000"], stdout=file)
    turns = "1" if options.quick else "6"
    perl = "my %%h; for (1..%s) { for (1..60000) { $h{$_ %% 5000} .= 'x' x ($_ %% 50); } %%h = (); } print 1" % turns
    table = {
        "sqlite3": (["sqlite3", ":memory:"], rows, {}),
        "python3": (["/usr/bin/python3", os.path.join(HERE, "json-round-trip.py"), turns], None, {"PYTHONMALLOC": "malloc"}),
        "perl": (["perl", "-e", perl], None, {"PERL_HASH_SEED": "0"}),
        "g++": (["g++", "-O1", "-c", os.path.join(HERE, "template-heavy.cc"), "-o", os.path.join(folder, "out.o")], None, {}),
        "node": (["node", "-e", "let a=[];for(let i=0;i<3e5*%s;i++)a.push({i,s:'k'+i});console.log(JSON.stringify(a).length)"
                  % turns], None, {}),
        "git": (["git", "-C", HERE, "log", "--stat", "-n", "200", "--format=%h"], None, {}),
        "xz": (["xz", "-1", "-c", os.path.realpath(sys.executable)], None, {}),
    }
    if options.quick:
        del table["g++"]
    return {name: row for name, row in table.items() if compare.find_program(row[0][0])}


def make_programs(options, folder):
    percent = "10" if options.quick else "100"
    names = subprocess.check_output([options.shapes], text=True).split()
    programs = {name: ([options.shapes, name, percent], None, {}) for name in names}
    programs.update(real_programs(options, folder))
    unknown = [name for name in options.only if name not in programs]
    if unknown:
        sys.exit("bench: no such program: %s (%s)" % (unknown[0], " ".join(programs)))
    return {name: row for name, row in programs.items() if not options.only or name in options.only}


def output_of(command, stdin, environment):
    """Digest of what a run prints, and its status: the run that is not measured."""
    with open(stdin or os.devnull, "rb") as file:
        done = subprocess.run(command, env=environment, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False)
    return hashlib.sha256(done.stdout).hexdigest(), done.returncode


def measure(options, arms, command, stdin, extra):
    """Samples and memory of one program, and the arms that failed there."""
    mine = {name: dict(environment, **extra) for name, environment in arms.items()}
    outputs = {name: output_of(command, stdin, environment) for name, environment in mine.items()}
    right = next(iter(outputs.values()))
    failed = [name for name, output in outputs.items() if output != right or output[1]]
    sound = {name: environment for name, environment in mine.items() if name not in failed}
    task = argparse.Namespace(program=command, stdin=stdin or os.devnull, rounds=options.rounds or (3 if options.quick else 7),
                              memory_runs=1 if options.quick else 3)
    return compare.measure_time(task, sound), compare.measure_memory(task, sound), failed


def ratios(samples, memory, peer):
    """Our CPU time and memory to a peer's: median, interval, memory."""
    rounds = [ours["cpu"] / max(theirs["cpu"], 1e-6) for ours, theirs in zip(samples[BASE], samples[peer])]
    low, high = compare.bootstrap(rounds)
    ours, theirs = (statistics.median(found["largest"] for found in memory[name]) for name in (BASE, peer))
    return {"cpu": statistics.median(rounds), "interval": [low, high], "memory": ours / theirs}


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def machine(arms, missing):
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()[0],
            "libraries": {name: os.path.realpath(found["LD_PRELOAD"]) for name, found in arms.items() if "LD_PRELOAD" in found},
            "missing": missing}


def table(header, results, peers):
    """Markdown."""
    lines = ["%(cpu)s, %(cores)d cores, Linux %(kernel)s, load %(load).2f" % header,
             "", "Our CPU time ÷ the peer's [95 % interval], resident peak ÷ the peer's.", ""]
    lines += ["- %s: `%s`" % item for item in header["libraries"].items()]
    lines += ["- not installed: " + " ".join(header["missing"])] if header["missing"] else []
    lines += ["", "| program | " + " | ".join(peers) + " |", "|---|" + "---|" * len(peers)]
    for name, result in results.items():
        cells = []
        for peer in peers:
            row = result["ratios"].get(peer)
            cells.append("failed" if not row else "%.3f [%.3f, %.3f] %.2f" % (row["cpu"], *row["interval"], row["memory"]))
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    means = []
    for peer in peers:
        rows = [result["ratios"][peer] for result in results.values() if peer in result["ratios"]]
        means.append("**%.3f** %.2f" % (geometric_mean([row["cpu"] for row in rows]),
                                        geometric_mean([row["memory"] for row in rows])) if rows else "-")
    lines.append("| **geometric mean** | %s |" % " | ".join(means))
    return "\n".join(lines) + "\n"


def main(argv):
    options = parse_arguments(argv)
    arms, missing = make_arms(options)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = make_programs(options, folder)
        if options.list:
            print("programs: %s\narms: %s" % (" ".join(programs), " ".join(arms)))
            return 0
        if BASE not in arms or len(arms) < 2:
            sys.exit("bench: needs the arm %s and another one" % BASE)
        header = machine(arms, missing)
        peers = [name for name in arms if name != BASE]
        for name, (command, stdin, extra) in programs.items():
            print("bench: " + name, file=sys.stderr)
            samples, memory, failed = measure(options, arms, command, stdin, extra)
            results[name] = {"samples": samples, "memory": memory, "failed": failed, "ratios": {
                peer: ratios(samples, memory, peer) for peer in peers if peer in samples and BASE in samples}}
    text = table(header, results, peers)
    print(text, end="")
    for path, content in ((options.markdown, text), (options.json, None)):
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content or json.dumps({"machine": header, "programs": results}, indent=1) + "\n")
    return int(any(result["failed"] for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

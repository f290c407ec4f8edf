"""What compare.py and bench.py share: interleaved runs of a program under several arms, and the statistics of pairs."""
import hashlib
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def plain_environment():
    """Ours, without anything that concerns an allocator."""
    return {key: value for key, value in os.environ.items() if not key.startswith("POOL_") and key != "LD_PRELOAD"}


def split_settings(text):
    """LIB,ENV=VAL,ENV=VAL: a comma starts a setting only where a name and = follow; routes have commas too."""
    parts = []
    for piece in text.split(","):
        name, equals, _ = piece.partition("=")
        if parts and not (equals and name.replace("_", "").isalnum() and name.isupper()):
            parts[-1] += "," + piece
        else:
            parts.append(piece)
    return parts


def find_program(name):
    return name if "/" in name else shutil.which(name)


def contents(file):
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(os.dup(file), "rb") as copy:
        return copy.read()


def run(command, environment, stdin=None, prefix=(), limit=None):
    """One run: seconds, page faults, exit status (-n: signal n), digest of its output, first line of its complaints.

    CPU time is user + system of the program and of all children that it waited for. After `limit` seconds it is killed.
    """
    out, err = os.memfd_create("stdout"), os.memfd_create("stderr")
    try:
        with open(stdin or os.devnull, "rb") as source:
            begin = time.monotonic()
            process = subprocess.Popen([*prefix, *command], env=environment, stdin=source, stdout=out, stderr=err,
                                       start_new_session=True)
            guard = threading.Timer(limit or 3600, os.killpg, (process.pid, signal.SIGKILL))
            guard.start()
            try:
                _, status, usage = os.wait4(process.pid, 0)
                wall = time.monotonic() - begin
            except BaseException:  # interrupted: it is in a session of its own, and would go on
                os.killpg(process.pid, signal.SIGKILL)
                raise
            finally:
                guard.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        return {"cpu": usage.ru_utime + usage.ru_stime, "user": usage.ru_utime, "wall": wall, "faults": usage.ru_minflt,
                "status": process.returncode, "output": hashlib.sha256(contents(out)).hexdigest()[:16],
                "complaint": contents(err)[:200].decode(errors="replace").split("\n")[0]}
    finally:
        os.close(out)
        os.close(err)


def interleave(names, rounds, run_one):
    """Name -> samples of run_one(name): all names once per round in rotated order. The first round warms up: not in it."""
    samples, names = {name: [] for name in names}, list(names)
    for turn in range(rounds + 1):
        shift = turn % len(names)
        order = names[shift:] + names[:shift]
        for name in order[::-1] if turn % 2 else order:
            sample = run_one(name)
            if turn:
                samples[name].append(sample)
    return samples


def build_hwm(folder):
    """The program hwm.c, in this folder."""
    helper = os.path.join(folder, "hwm")
    subprocess.check_call(["gcc", "-O1", "-o", helper, os.path.join(HERE, "hwm.c")])
    return helper


def run_memory(helper, command, environment, stdin=None, limit=None):
    """The same under ptrace: {"root", "largest": VmHWM in KiB, "program", "status", "output", "complaint"}."""
    out = helper + ".out"
    sample = run(command, environment, stdin, (helper, "-o", out), limit)
    try:
        with open(out, encoding="utf-8", errors="replace") as file:
            found = json.load(file)
        os.unlink(out)
    except (OSError, ValueError):
        found = {"root": -1, "largest": -1, "program": ""}
    return {**found, **{key: sample[key] for key in ("status", "output", "complaint")}}


def bootstrap(ratios, draws=4000):
    """The 95 % interval of the median, by resampling rounds."""
    source = random.Random(1)
    return interval(statistics.median(source.choices(ratios, k=len(ratios))) for _ in range(draws))


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def bootstrap_mean(programs, draws=1000):
    """The 95 % interval of the geometric mean of the programs' medians, by resampling the rounds of each."""
    source = random.Random(1)
    return interval(geometric_mean([statistics.median(source.choices(ratios, k=len(ratios))) for ratios in programs])
                    for _ in range(draws))


def interval(values):
    ordered = sorted(values)
    return ordered[int(len(ordered) * 0.025)], ordered[int(len(ordered) * 0.975)]

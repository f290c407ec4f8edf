"""The real programs of bench.py: what each needs installed, and how it is run on a small and on a large input.

An entry prepares its input in a folder and returns (command, file on stdin or None, more environment). What it prints must
be the same in each run.
"""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = os.path.join(HERE, "inputs")
PROGRAMS = {}  # name -> (commands that it needs, function)


def program(name, *needs):
    def register(function):
        PROGRAMS[name] = (needs, function)
        return function
    return register


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


@program("sqlite3", "sqlite3")
def sqlite3(folder, quick):
    rows = subprocess.check_output([os.path.join(HERE, "sqlite-rows.sh"), "20000" if quick else "200000"], text=True)
    return ["sqlite3", ":memory:"], written(folder, "rows.sql", rows), {}


@program("python3", "/usr/bin/python3")
def python3(_folder, quick):
    script = os.path.join(HERE, "json-round-trip.py")
    return ["/usr/bin/python3", script, "1" if quick else "8"], None, {"PYTHONMALLOC": "malloc"}


@program("perl", "perl")
def perl(_folder, quick):
    return ["perl", os.path.join(INPUTS, "words.pl"), "1" if quick else "12"], None, {"PERL_HASH_SEED": "0"}


@program("lua5.4", "lua5.4")
def lua(_folder, quick):
    return ["lua5.4", os.path.join(INPUTS, "words.lua"), "2" if quick else "20"], None, {}


@program("g++", "g++")
def gxx(_folder, quick):
    if quick:
        return ["g++", "-fsyntax-only", "-x", "c++", "-include", "map", "/dev/null"], None, {}
    return ["g++", "-fsyntax-only", os.path.join(HERE, "template-heavy.cc")], None, {}


@program("redis", "redis-server", "redis-benchmark", "redis-cli")
def redis(_folder, quick):
    """The server's time only. Debian links it with jemalloc: that is what it has without a preload."""
    return [os.path.join(INPUTS, "redis-load.sh"), "5000" if quick else "60000"], None, {}


@program("ghostscript", "gs")
def ghostscript(_folder, quick):
    return ["gs", "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-dturns=" + ("4" if quick else "100"), "-sDEVICE=ppmraw", "-r72",
            "-sOutputFile=%stdout", os.path.join(INPUTS, "pages.ps")], None, {}


@program("z3", "z3")
def z3(folder, quick):
    """More pigeons than holes."""
    holes = range(8 if quick else 9)
    pigeons = [["p%d_%d" % (pigeon, hole) for hole in holes] for pigeon in range(len(holes) + 1)]
    lines = ["(declare-const %s Bool)" % name for row in pigeons for name in row]
    lines += ["(assert (or %s))" % " ".join(row) for row in pigeons]
    lines += ["(assert (not (and %s %s)))" % (pigeons[one][hole], pigeons[other][hole])
              for hole in holes for one in range(len(pigeons)) for other in range(one)]
    return ["z3", written(folder, "pigeons.smt2", "\n".join([*lines, "(check-sat)\n"]))], None, {}


@program("git", "git")
def git(folder, quick):
    """Repacks a history of one file, made here, anew each time."""
    lines, stream = ["line %d of the file, %x" % (n, n * n * 7919 % 1000003) for n in range(2000)], []
    for turn in range(60 if quick else 1200):
        for n in range(20):
            lines[(turn * 131 + n * 37) % len(lines)] = "changed %d, %d" % (turn, n)
        text, message = "\n".join(lines) + "\n", "turn %d\n" % turn
        stream.append("commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata %d\n%sM 644 inline file\ndata %d\n%s\n" % (
            1000000000 + turn, len(message), message, len(text), text))
    repository = os.path.join(folder, "history.git")
    subprocess.check_call(["git", "init", "-q", "--bare", repository])
    subprocess.run(["git", "-C", repository, "fast-import", "--quiet"], input="".join(stream), text=True, check=True)
    return ["git", "-C", repository, "-c", "pack.threads=2", "repack", "-a", "-d", "-f", "-q", "--depth=20"], None, {}


@program("ruby", "ruby")
def ruby(_folder, quick):
    return ["ruby", os.path.join(INPUTS, "groups.rb"), "1" if quick else "24"], None, {}

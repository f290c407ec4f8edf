"""The arms of bench.py: each an allocator, that is, an environment."""
import glob
import os
import subprocess

import paired

PEERS = {"mimalloc2": "libmimalloc.so.2", "jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4",
         "tbbmalloc": "libtbbmalloc_proxy.so.2"}
ROUTES = {"poolmark": {}, "thread": {"POOL_POLICY": "thread"}, "array": {"POOL_POLICY": "array"},
          "native": {"POOL_POLICY": "native"}}


class BadArm(Exception):
    """What is wrong with an option."""


def find_library(name):
    """The file of a library: a path as it is, a soname where the loader would look; None if there is none."""
    if "/" in name:
        return os.path.realpath(name) if os.path.exists(name) else None
    found = glob.glob("/usr/lib/*/" + name) + glob.glob("/usr/lib/" + name) + glob.glob("/usr/local/lib/" + name)
    return found[0] if found else None


def is_loaded(environment):
    """Whether the loader really takes the library: it only complains, and goes on with libc's malloc, if it does not."""
    maps = subprocess.run(["/bin/cat", "/proc/self/maps"], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout.decode(errors="replace")
    return os.path.realpath(environment["LD_PRELOAD"]) in maps


def known_arms(poolmark, allocators):
    """Name -> (library or None, settings), in the order of the table."""
    known = {"none": (None, {}), **{name: (library, {}) for name, library in PEERS.items()}}
    for text in allocators:
        name, equals, rest = text.partition("=")
        library, *settings = paired.split_settings(rest)
        if not name or not equals or not library:
            raise BadArm("--allocator takes NAME=LIB.so[,ENV=VAL...], not " + text)
        if name in known or name in ROUTES:
            raise BadArm("there is an arm %s already" % name)
        known[name] = (library, dict(setting.split("=", 1) for setting in settings))
    known.update({name: (poolmark, {"POOL_STATS": "off", **settings}) for name, settings in ROUTES.items()})
    return known


def make_arms(poolmark, allocators, wanted):
    """Name -> environment, and name -> why there is no such arm here."""
    known = known_arms(poolmark, allocators)
    arms, skipped = {}, {}
    for name in wanted or known:
        if name not in known:
            raise BadArm("no such arm: %s (%s)" % (name, " ".join(known)))
        library, settings = known[name]
        arms[name] = {**paired.plain_environment(), **settings}
        if library:
            arms[name]["LD_PRELOAD"] = path = find_library(library)
            if not path or not is_loaded(arms[name]):
                del arms[name]
                skipped[name] = "%s cannot be preloaded" % library if path else "there is no %s" % library
    return arms, skipped


def version(environment):
    """The file of an arm's library, with the version of its Debian package if it has one, and its settings."""
    plain = paired.plain_environment()
    settings = ["%s=%s" % item for item in environment.items() if item[0] != "LD_PRELOAD" and plain.get(item[0]) != item[1]]
    return " ".join([library_version(environment.get("LD_PRELOAD")), *settings])


def library_version(path):
    if not path:
        return os.confstr("CS_GNU_LIBC_VERSION")
    path = os.path.realpath(path)
    found = subprocess.run(["dpkg-query", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           check=False) if paired.find_program("dpkg-query") else None
    if not found or found.returncode:
        return path
    package = found.stdout.split(": ")[0]
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}", package], stdout=subprocess.PIPE, text=True,
                           check=False)
    return "%s (%s)" % (path, shown.stdout.strip())

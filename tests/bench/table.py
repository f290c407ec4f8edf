"""What bench.py prints: Markdown."""


def header(machine):
    lines = ["%(cpu)s, %(cores)d cores, Linux %(kernel)s, load %(load).2f, %(date)s, poolmark %(commit)s; %(rounds)d rounds"
             % machine + (", quick" if machine["quick"] else ""), ""]
    lines += ["- %s: %s" % item for item in machine["libraries"].items()]
    lines += ["- not measured: %s, %s" % item for item in machine["skipped"].items()]
    return lines


def row(name, cells):
    return "| %s | %s |" % (name, " | ".join(cells))


def head(title, columns):
    return [row(title, columns), "|---|" + "---|" * len(columns)]


def ratio(found):
    """CPU [interval] memory; both are below 1 where we are better."""
    if not found:
        return "-"
    memory = "-" if found["memory"] is None else "%.2f" % found["memory"]
    return "%.3f [%.3f, %.3f] %s" % (found["cpu"], *found["interval"], memory)


def rate(result, arm, other):
    """The cell of two arms: a name that is in it has failed."""
    failed = [name for name in (arm, other) if name in result["failed"]]
    return "failed: " + " ".join(failed) if failed else ratio(result["ratios"].get(arm, {}).get(other))


def usage(result, arm):
    found = result["median"].get(arm)
    return "%.3f s, %s MiB, %d" % (found["cpu"], "-" if found["kib"] is None else "%.1f" % (found["kib"] / 1024),
                                   found["faults"]) if found else "-"


def failures(results):
    return ["- failed: %s under %s: %s" % (name, arm, why)
            for name, result in results.items() for arm, why in result["failed"].items()]


def render(machine, results, means, ours, peers):
    """All tables. `ours`: our arms, the first one is what the large table is about."""
    best, routes = ours[0], ours[1:]
    lines = [*header(machine), *failures(results), "",
             "%s ÷ peer: CPU time [95 %% interval] resident peak. Below 1 %s is better." % (best, best), "",
             *head("program", ["%s: CPU, resident, faults" % best, *peers])]
    for name, result in results.items():
        lines.append(row(name, [usage(result, best), *(rate(result, best, peer) for peer in peers)]))
    lines += ["", "Geometric means over the programs where neither arm failed (in brackets: how many).", "", *head("", peers)]
    for arm in ours:
        found = [means[arm].get(peer) for peer in peers]
        lines.append(row("**%s**" % arm, ["%s (%d)" % (ratio(mean), mean["programs"]) if mean else "-" for mean in found]))
    if routes:
        lines += ["", "Other routes ÷ %s." % best, "", *head("program", routes)]
        lines += [row(name, [rate(result, route, best) for route in routes]) for name, result in results.items()]
    return "\n".join(lines) + "\n"

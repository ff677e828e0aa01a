#!/usr/bin/env python3
"""Holds the rooms to their directions: who may include whom, heavy headers in .cc files only,
no cycles. docs/architecture.md shows the same picture. Exit 1 and one line a finding."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A room and what it may include; the longest matching prefix of a file's path decides.
BELOW_SEARCH = ["engine/", "verifiers/", "memory/", "plugins/sdk/", "base/"]
ALLOWED = {
    "base/": ["base/"],
    "plugins/sdk/": ["plugins/sdk/"],
    "plugins/examples/": ["plugins/sdk/"],
    "plugins/loader/": ["plugins/loader/", "search/"] + BELOW_SEARCH,
    "engine/": ["engine/", "base/"],
    "verifiers/": ["verifiers/", "engine/", "base/"],
    "memory/": ["memory/", "base/"],
    "search/": ["search/"] + BELOW_SEARCH,
    "search/strategies/": ["search/strategies/strategies.h", "plugins/sdk/"],  # .h: their table
    "eval/": ["eval/", "search/"] + BELOW_SEARCH,
    "daemon/": ["daemon/", "eval/", "plugins/loader/", "search/"] + BELOW_SEARCH,
    "bench/": ["bench/", "eval/", "plugins/loader/", "search/"] + BELOW_SEARCH,
    "tests/": [""],
}

HEAVY = re.compile(r"(boost/|rocksdb/|nlohmann/json\.hpp|spdlog/|CLI/|toml\+\+/|curl/|openssl/|tbb/|oneapi/)")
# Shared by the .cc files of one folder and seen by nothing else.
INTERNAL = {"verifiers/math/evaluator.h", "verifiers/math/rational.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of(path):
    return max((room for room in ALLOWED if path.startswith(room)), key=len, default=None)


def findings_of(path, includes, known):
    room = room_of(path)
    is_header = path.endswith(".h")
    for bracket, target in includes:
        if bracket == "<":
            if (is_header and path not in INTERNAL and not path.startswith("tests/")
                    and HEAVY.match(target)):
                yield f"{path}: <{target}> belongs in a .cc file"
        elif target not in known:
            yield f'{path}: "{target}" is not a file seen from the root'
        elif not any(target.startswith(allowed) for allowed in ALLOWED[room]):
            yield f'{path}: may not include "{target}" ({room} sees {", ".join(ALLOWED[room])})'


def cycles(graph):
    """Depth-first without recursion; each cycle is told once."""
    state = {}
    for start in graph:
        stack = [(start, iter(graph[start]))]
        if start in state:
            continue
        state[start] = "open"
        while stack:
            node, targets = stack[-1]
            for target in targets:
                if state.get(target) == "open":
                    trail = [name for name, _ in stack]
                    yield " -> ".join(trail[trail.index(target):] + [target])
                elif target not in state:
                    state[target] = "open"
                    stack.append((target, iter(graph.get(target, []))))
                    break
            else:
                state[node] = "closed"
                stack.pop()


def main():
    files = [path for folder in {room.split("/")[0] for room in ALLOWED}
             for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cc", ".c", ".inc")]
    names = {str(path.relative_to(ROOT)): path for path in files}
    found, graph = [], {}
    for name, path in sorted(names.items()):
        if room_of(name) is None:
            found.append(f"{name}: stands in no room (tools/check_includes.py lists them)")
            continue
        includes = INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace"))
        found += findings_of(name, includes, names)
        # x_impl.h is the second half of x.h, which includes it last.
        half = name.replace("_impl.h", ".h")
        graph[name] = [target for bracket, target in includes
                       if bracket == '"' and target in names and target != half]
    found += [f"include cycle: {cycle}" for cycle in cycles(graph)]
    for line in found:
        print(line)
    print(f"check_includes: {len(names)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

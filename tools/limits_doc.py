#!/usr/bin/env python3
"""Writes docs/limits.md from base/limits.h; with --check, fails where the page is not up to date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "limits.md"
LIMIT = re.compile(r"^inline constexpr \w+ k(\w+) =\s*([^;]+);\s*(?://\s*(.*))?$")
SECTION = re.compile(r"^// (.+)\.$")
HEAD = """# Limits
Every limit that thinkd puts on what comes from outside. What is past one is refused with an error
that names the value and the limit. Written by `./dev fmt` from base/limits.h; a test holds the two
together.
"""


def number_of(expression):
    left, *shift = re.sub(r"uint64_t\{(\d+)\}", r"\1", expression.replace("'", "")).split("<<")
    if len(shift) > 1 or not all(part.strip().isdigit() for part in [left, *shift]):
        raise SystemExit(f"limits_doc: cannot read '{expression}' in base/limits.h")
    return int(left) << (int(shift[0]) if shift else 0)


def page():
    out, section_open = [HEAD], False
    # One declaration a line, wherever clang-format broke it.
    text = re.sub(r"=\n\s+", "= ", (ROOT / "base/limits.h").read_text(encoding="utf-8"))
    for line in text[text.index("namespace"):].splitlines():
        if section := SECTION.match(line):
            out.append(f"\n## {section.group(1)}\n| limit | value | of |\n|---|---|---|\n")
            section_open = True
        elif limit := LIMIT.match(line):
            if not section_open:
                raise SystemExit("limits_doc: a limit stands before the first section")
            if not limit.group(3):
                raise SystemExit(f"limits_doc: k{limit.group(1)} does not say of what it is one")
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", limit.group(1)).lower()
            out.append(f"| {words} | {number_of(limit.group(2)):,} | {limit.group(3)} |\n")
        elif "constexpr" in line:
            raise SystemExit(f"limits_doc: cannot read '{line}' in base/limits.h")
    return "".join(out)


def main():
    wanted = page()
    if "--check" not in sys.argv[1:]:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted:
        print("docs/limits.md is not what base/limits.h says: run ./dev fmt")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

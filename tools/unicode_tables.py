#!/usr/bin/env python3
"""Writes engine/tokenizer/unicode_tables.cc: letters, numbers and white space of one Unicode version.

Needs the unicodedata2 package of that version (pip install unicodedata2==16.0.0), so that the tables
do not depend on the Python that runs this. White_Space is Zs, Zl, Zp, U+0009..U+000D and U+0085.

usage: tools/unicode_tables.py > engine/tokenizer/unicode_tables.cc
"""

import sys

import unicodedata2

VERSION = "16.0.0"
CONTROLS_THAT_ARE_SPACE = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85}


def kind(code_point):
    category = unicodedata2.category(chr(code_point))
    if category[0] == "L":
        return "letter"
    if category[0] == "N":
        return "number"
    if category[0] == "Z" or code_point in CONTROLS_THAT_ARE_SPACE:
        return "space"
    return None


def ranges():
    found = []
    for code_point in range(0x110000):
        this = kind(code_point)
        if this is None:
            continue
        if found and found[-1][1] == code_point - 1 and found[-1][2] == this:
            found[-1][1] = code_point
        else:
            found.append([code_point, code_point, this])
    return found


def main():
    if unicodedata2.unidata_version != VERSION:
        sys.exit(f"unicodedata2 has Unicode {unicodedata2.unidata_version}, {VERSION} is wanted")
    print(f"// Written by tools/unicode_tables.py from Unicode {VERSION}; not edited by hand.")
    print("// Data: Unicode Character Database, (c) Unicode, Inc., Unicode License V3.\n")
    print('#include "engine/tokenizer/unicode.h"\n')
    print("namespace thinkd::engine {\n\nnamespace {\n")
    print("constexpr CharClass L = CharClass::letter;")
    print("constexpr CharClass N = CharClass::number;")
    print("constexpr CharClass S = CharClass::space;\n")
    print("// clang-format off\nconstexpr ClassRange kRanges[] = {")
    row = "   "
    for first, last, this in ranges():
        item = f" {{0x{first:X}, 0x{last:X}, {this[0].upper()}}},"
        if len(row) + len(item) > 100:
            print(row)
            row = "   "
        row += item
    print(row)
    print("};\n// clang-format on\n\n}  // namespace\n")
    print("std::span<const ClassRange> class_ranges() { return kRanges; }\n")
    print(f'std::string_view unicode_version() {{ return "{VERSION}"; }}\n')
    print("}  // namespace thinkd::engine")


if __name__ == "__main__":
    main()

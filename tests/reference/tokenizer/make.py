#!/usr/bin/env python3
"""Writes tests/data/tokenizer/: a real vocabulary and what an independent tokenizer makes of 1,000 lines.

The vocabulary and merges are those of a SmolLM2 GGUF (tokenizer gpt2/smollm). The tokenizer is the
`tokenizers` library's BPE over them, with the published pre-tokenizers of each family.

usage: make.py smollm2.gguf tests/data/tokenizer
needs: tokenizers==0.23.3 gguf==0.19.0

smollm2.vocab   line 1: counts of plain pieces and merges; then the plain pieces, one a line, as
                TYPE PIECE; then the merges, "left right". Token n + i is the join of merge i.
lines.jsonl     {"text", "smollm", "llama-bpe", "qwen2", "gpt-2", "special"} a line: the ids of each
                pre-tokenizer; "special" is smollm with the control tokens known as such. A missing
                member is equal to "smollm".
"""

import json
import pathlib
import random
import sys

import gguf
import tokenizers
from tokenizers import Regex, models, pre_tokenizers

SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LINES = 1000
SEED = 20


def pre_tokenizer(name):
    byte_level = pre_tokenizers.ByteLevel
    if name == "gpt-2":
        return byte_level(add_prefix_space=False, use_regex=True)
    if name == "smollm":
        return pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizer("gpt-2")])
    pattern = SPLIT % {"llama-bpe": "{1,3}", "qwen2": ""}[name]
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), behavior="isolated", invert=False),
        byte_level(add_prefix_space=False, use_regex=False)])


def build(name, pieces, merges, control=()):
    model = models.BPE(vocab={piece: i for i, piece in enumerate(pieces)},
                       merges=[tuple(merge.split(" ")) for merge in merges],
                       ignore_merges=name == "llama-bpe")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer(name)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens([tokenizers.AddedToken(text, normalized=False) for text in control])
    return tokenizer


CODE = [
    "def f(x):\n\treturn x**2  # square\n", "for (int i = 0; i < n; ++i) { a[i] += b[i]; }",
    "#include <vector>\r\nint main() {}\r\n", "SELECT * FROM t WHERE a >= 10 AND b != 'x';",
    "    if self.x is None:\n        raise ValueError(f\"{x!r}\")\n\n\n", "</div>\n  <p class=\"a\">",
    "x = lambda *a, **k: (a, k)", "$ ls -la | grep '.txt' > /dev/null 2>&1", "a->b::c<d>();",
    "{\"k\": [1, 2.5e-3, null, true]}", "\\frac{a}{b} = \\sum_{i=0}^{n} x_i^2", "0xDEADBEEF 0b1010 1_000",
]
WORDS = [
    "Hello", "world", "the", "quick", "brown", "fox", "It's", "we'll", "I'VE", "they'Re", "don't",
    "'tis", "o'clock", "''s", "'ſo", "'LLama", "rock'n'roll", "naïve", "façade", "Straße", "ǅungla",
    "Ünïcödé", "e\u0301te\u0301", "a\u0300\u0316\u0327b", "नमस्ते", "हिन्दी", "ภาษาไทย", "สวัสดี", "한국어",
    "안녕하세요", "日本語", "漢字かな交じり", "中文字符", "你好", "Привет", "мир", "Ελληνικά", "עברית",
    "العربية", "كتاب", "ქართული", "Հայերեն", "ልቦለድ", "ʻokina", "ﬁligree", "ªº", "ⅷ", "Ⅻ", "²³", "¾",
    "①②③", "٣٤٥", "१२३", "〇一二", "１２３", "㊿", "3.14159", "1,000,000", "2024-05-17", "12:34:56",
    "007", "1234567890", "v1.2.3", "x86_64", "A4", "100%", "$9.99", "€5", "#tag", "@user", "a@b.cd",
    "http://a.b/c?d=e&f#g", "...", "!!!", "?!", "--", "---", "***", "///", "«»", "“quoted”", "—", "…",
    "™", "°C", "±", "≤", "∑", "→", "█", "😀", "👍🏽", "👨‍👩‍👧", "🇩🇪", "❤️", "🤖🤖🤖", "\u200b", "\u200d",
    "\ufeff", "\u00ad", "\ufffd", "\u2028", "\u0085", "<|im_start|>", "<|im_end|>", "<|endoftext|>",
    "<repo_name>", "<|im_start", "|im_end|>", "<file_sep>", "<|im_start|>user", "\x00", "\x01", "\x1b[0m",
    "\x7f", "\x1c", "\x1f", "_", "__init__", "camelCaseWord", "SHOUTING", "supercalifragilistic",
    "\U0001d518\U0001d52b", "\U00020000", "Ꮳ", "ꙮ", "ﷺ",
]
SPACES = [" "] * 12 + ["  ", "   ", "      ", "\t", "\t\t", "\n", "\n\n", "\r\n", "\r", " \n", "\n ", " \n \n  ",
                       "\u00a0", "\u3000", "\u2003 ", " \u2009", "\u205f", "\u1680", "\v", "\f", "\u202f\n", ""]


def mixed(random_numbers):
    kind = random_numbers.randrange(10)
    if kind == 0:
        text = random_numbers.choice(CODE)
        return text[random_numbers.randrange(3):] + random_numbers.choice(CODE)
    if kind == 1:
        return "".join(random_numbers.choice(SPACES + WORDS) for _ in range(random_numbers.randrange(1, 12)))
    if kind == 2:
        planes = [(0, 0x80), (0x80, 0x250), (0x300, 0x530), (0x900, 0xE00), (0x2000, 0x2C00),
                  (0x3000, 0xA000), (0xAC00, 0xD7A0), (0xF900, 0x10000), (0x1F300, 0x1FA00)]
        return "".join(chr(random_numbers.randrange(*random_numbers.choice(planes)))
                       for _ in range(random_numbers.randrange(1, 14)))
    text = "".join(random_numbers.choice(WORDS) + random_numbers.choice(SPACES)
                   for _ in range(random_numbers.randrange(1, 14)))
    return random_numbers.choice(SPACES) + text if kind == 3 else text


def main():
    reader = gguf.GGUFReader(sys.argv[1])
    folder = pathlib.Path(sys.argv[2])
    pieces, types, merges = (reader.fields["tokenizer.ggml." + key].contents()
                             for key in ("tokens", "token_type", "merges"))
    plain = len(pieces) - len(merges)
    assert pieces[plain:] == [merge.replace(" ", "", 1) for merge in merges]
    assert set(types[plain:]) == {1}
    rows = [f"{plain} {len(merges)}"]
    rows += [f"{kind} {piece}" for kind, piece in zip(types[:plain], pieces[:plain])] + merges
    (folder / "smollm2.vocab").write_text("\n".join(rows) + "\n", encoding="utf-8")

    built = {name: build(name, pieces, merges) for name in ("smollm", "llama-bpe", "qwen2", "gpt-2")}
    control = [piece for kind, piece in zip(types, pieces) if kind == gguf.TokenType.CONTROL]
    built["special"] = build("smollm", pieces, merges, control)
    random_numbers = random.Random(SEED)
    seen = set()
    with open(folder / "lines.jsonl", "w", encoding="utf-8") as out:
        while len(seen) < LINES:
            text = mixed(random_numbers)
            ids = {name: tokenizer.encode(text).ids for name, tokenizer in built.items()}
            # The library drops bytes that the vocabulary lacks; such lines are no reference.
            if text in seen or not text or any(
                    built[name].decode(ids[name], skip_special_tokens=False) != text for name in ids):
                continue
            seen.add(text)
            kept = {name: ids[name] for name in ids if name == "smollm" or ids[name] != ids["smollm"]}
            out.write(json.dumps({"text": text} | kept, separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

"""The tokenizer: byte-level BPE, pre-tokenizer llama-bpe, every number up to 999 one token."""

import json
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import chat

# The published pattern of the pre-tokenizer that GGUF files call llama-bpe.
LLAMA_BPE = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
             r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
MERGED_WORDS = 420


def pre_tokenizer():
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA_BPE), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])


def number_merges():
    """Merges that make every number from 10 to 999 (and 00 to 99 inside) one token."""
    pairs = [(str(a), str(b)) for a in range(10) for b in range(10)]
    return pairs + [(f"{n:02d}", str(d)) for n in range(10, 100) for d in range(10)]


def assemble(vocabulary, merges):
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False)
                                  for t in chat.CONTROL_TOKENS])
    return tokenizer


def build(mixture, seed):
    """(vocabulary as a list, merges as pairs): words of the corpus, then numbers, then controls."""
    rng = random.Random(f"{seed}/vocabulary")
    corpus = []
    for _ in range(20000):
        sample = mixture.sample(rng, 1.0)
        corpus += [sample.prompt, sample.answer]
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizer()
    words.train_from_iterator(
        ("".join(c if not c.isdigit() else " " for c in text) for text in corpus),
        trainers.BpeTrainer(vocab_size=MERGED_WORDS, show_progress=False,
                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    trained = json.loads(words.to_str())["model"]
    tokens = sorted(trained["vocab"], key=trained["vocab"].get)
    merges = [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in trained["merges"]]
    for left, right in number_merges():
        if left + right not in trained["vocab"]:
            tokens.append(left + right)
        merges.append((left, right))
    return tokens + chat.CONTROL_TOKENS, merges


def save(path, tokens, merges):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"tokens": tokens, "merges": merges}, file, ensure_ascii=True)


def load(path):
    """(tokenizer, tokens, merges)"""
    with open(path, encoding="utf-8") as file:
        stored = json.load(file)
    tokens, merges = stored["tokens"], [tuple(m) for m in stored["merges"]]
    known = {t: i for i, t in enumerate(tokens[:-len(chat.CONTROL_TOKENS)])}
    return assemble(known, merges), tokens, merges

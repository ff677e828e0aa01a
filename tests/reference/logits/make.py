#!/usr/bin/env python3
"""Reference log-probs and greedy tokens of a GGUF model, by transformers on float32 weights.

    python3 make.py MODEL.gguf OUT.jsonl        needs: torch transformers accelerate gguf

transformers expands the file's tensors to float32 and runs its own implementation of the model, so the
numbers are independent of thinkd's. One line a prompt: "name", "prompt" (token ids), "logprobs" (of
prompt tokens 1.., natural logarithm), "greedy" (64 ids), "greedy_logprobs", "gaps" (best logit less the
second best, before each greedy token): where a gap is small, another order of sums may choose otherwise.
"""
import json
import os
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

GREEDY_TOKENS = 64

CHAT = ("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n")

LONG = " ".join(
    f"On day {day} the keeper of the lighthouse wrote that the wind came from the {wind}, that {ships} ships "
    f"passed before noon, and that the lamp burned {oil} litres of oil."
    for day, wind, ships, oil in zip(range(1, 18), ["north", "west", "south", "east", "north-west"] * 4,
                                     range(3, 40, 2), range(11, 60, 3)))

PROMPTS = [
    ("chat", CHAT.format("Natalia has 17 apples and buys 26 more. How many apples does she have?")),
    ("plain", "The history of the printing press begins in the city of"),
    ("code", "def binary_search(items, target):\n    low, high = 0, len(items) - 1\n    while low <= high:\n"),
    ("numbers", "3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9,"),
    ("cjk", "东京是日本的首都。今日は天気がいいですね。안녕하세요, 세계!"),
    ("repeated", "la " * 100),
    ("long", LONG),
    ("one", "Once"),
    ("markup", "| name | age |\n|---|---|\n| Ada | 36 |\n| Alan | 41 |\n| Grace | 85 |\n|"),
    ("chat_code", CHAT.format("Write a C function that reverses a string in place.")),
]


def main(model_path, out_path):
    torch.set_num_threads(2)
    folder, name = os.path.split(os.path.abspath(model_path))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
    model.eval()
    with open(out_path, "w", encoding="utf-8") as out, torch.no_grad():
        for title, text in PROMPTS:
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            result = model(torch.tensor([ids]), use_cache=True)
            log_probs = torch.log_softmax(result.logits[0].double(), dim=-1)
            of_prompt = [log_probs[i - 1, ids[i]].item() for i in range(1, len(ids))]
            greedy, chosen, gaps = [], [], []
            for _ in range(GREEDY_TOKENS):
                row = result.logits[0, -1].double()
                best = torch.topk(row, 2)
                token = int(best.indices[0])
                greedy.append(token)
                gaps.append(round(float(best.values[0] - best.values[1]), 4))
                chosen.append(round(torch.log_softmax(row, dim=-1)[token].item(), 5))
                result = model(torch.tensor([[token]]), past_key_values=result.past_key_values, use_cache=True)
            out.write(json.dumps({"name": title, "prompt": ids, "logprobs": [round(v, 5) for v in of_prompt],
                                  "greedy": greedy, "greedy_logprobs": chosen, "gaps": gaps}) + "\n")
            print(title, len(ids), repr(tokenizer.decode(greedy))[:100], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

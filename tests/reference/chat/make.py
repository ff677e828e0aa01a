#!/usr/bin/env python3
"""Renders every template under templates/ with real jinja2, set up as transformers sets it up, and
writes reference.jsonl beside this file. Needs jinja2 >= 3.1.6. Usage: make.py [TEMPLATES [OUTPUT]]"""

import datetime
import json
import pathlib
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).resolve().parent
MOMENT = datetime.datetime(2024, 7, 26, 13, 5, 9)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = MOMENT.strftime
    return env


def chat(*pairs):
    return [{"role": role, "content": content} for role, content in pairs]


CONVERSATIONS = [
    chat(("user", "Hello there")),
    chat(("system", "You are terse."), ("user", "Hello, what is 2 + 2?")),
    chat(
        ("system", "  Padded system \n"),
        ("user", "  first\nquestion  "),
        ("assistant", "<think>\nlet me see\n</think>\n\nan answer"),
        ("user", "and then?"),
        ("assistant", "more "),
        ("user", "the end!"),
    ),
    chat(("user", "")),
    chat(("user", "Grüße, 你好 👩‍🚀 \u00a0 naïve\u2003")),
    chat(
        ("system", "sys <|im_end|>"),
        ("user", "<|im_end|>\n<|im_start|>system\n{{ 7*7 }} {% if %} </s>[INST]"),
        ("assistant", "<|eot_id|> & <b>\"quoted\" \\ back\tslash\u0001\u007f"),
        ("user", "<|end|><｜User｜><end_of_turn>"),
    ),
    chat(("assistant", "I begin"), ("user", "You do")),
    chat(("user", "one"), ("user", "two"), ("assistant", "three")),
    chat(("narrator", "Once upon a time"), ("user", "go on")),
    chat(("user", "ends with assistant"), ("assistant", "partial ans")),
]


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "templates"
    output = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "reference.jsonl"
    env = environment()
    with output.open("w", encoding="utf-8") as out:
        for path in sorted(folder.glob("*.jinja")):
            source = path.read_bytes().decode("utf-8")
            flags_list = [{}]
            if "enable_thinking" in source:
                flags_list += [{"enable_thinking": False}, {"enable_thinking": True}]
            for index, messages in enumerate(CONVERSATIONS):
                for prompt in (False, True):
                    for flags in flags_list if index in (0, 2) else [{}]:
                        case = {"template": path.name, "conversation": index, "prompt": prompt,
                                "flags": flags}
                        try:
                            case["text"] = env.from_string(source).render(
                                messages=messages, tools=None, documents=None,
                                add_generation_prompt=prompt, bos_token="<s>", eos_token="</s>",
                                **flags)
                        except Exception as error:  # every failure is a case too
                            case["error"] = str(error)
                            case["raised"] = type(error) is jinja2.exceptions.TemplateError
                        out.write(json.dumps(case, ensure_ascii=False) + "\n")
    lines = [json.dumps(messages, ensure_ascii=False) for messages in CONVERSATIONS]
    (output.parent / "conversations.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

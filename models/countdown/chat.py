"""The model's own chat form: its control tokens and the template that the GGUF file carries."""

USER, ASSISTANT, SYSTEM, END = "<|user|>", "<|assistant|>", "<|system|>", "<|end|>"
CONTROL_TOKENS = [END, USER, ASSISTANT, SYSTEM]
# Each control token is spelled out: what thinkd joins with text of a message is no control token.
TEMPLATE = ("{% for message in messages %}"
            "{% if message['role'] == 'user' %}{{ '<|user|>' }}"
            "{% elif message['role'] == 'assistant' %}{{ '<|assistant|>' }}"
            "{% else %}{{ '<|system|>' }}{% endif %}"
            "{{ message['content'] + '<|end|>' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}")


def wrap_prompt(text):
    return USER + text + END + ASSISTANT

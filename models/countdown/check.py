"""Whether a text solves its puzzle: an exact parser of the answer line, nothing is evaluated."""

import re
from fractions import Fraction

TOKEN = re.compile(r"\d+|[-+*/()]")
ANSWER = re.compile(r"^Answer: ([-+*/() \d]{1,120})$", re.MULTILINE)


def solves(text, numbers, target, any_use=False):
    found = ANSWER.findall(text)
    if not found:
        return False
    try:
        value, used = Parser(found[-1]).whole()
    except (ValueError, ZeroDivisionError):
        return False
    left = list(numbers)
    for n in used:
        if n not in left:
            return False
        left.remove(n)
    return value == target and (any_use or not left)


class Parser:
    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.used = []

    def whole(self):
        value = self.sum(0)
        if self.at != len(self.tokens):
            raise ValueError("more after the expression")
        return value, self.used

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def sum(self, depth):
        value = self.product(depth)
        while self.peek() in ("+", "-"):
            value = value + self.product(depth) if self.take() == "+" else value - self.product(depth)
        return value

    def product(self, depth):
        value = self.atom(depth)
        while self.peek() in ("*", "/"):
            value = value * self.atom(depth) if self.take() == "*" else value / self.atom(depth)
        return value

    def atom(self, depth):
        token = self.take()
        if token.isdigit():
            self.used.append(int(token))
            return Fraction(int(token))
        if token != "(" or depth > 20:
            raise ValueError(f"unexpected '{token}'")
        value = self.sum(depth + 1)
        if self.take() != ")":
            raise ValueError("a parenthesis is not closed")
        return value


# first number, operation, second number, value, numbers left
FULL_STEP = re.compile(r"^(\d+)([-+*/])(\d+)=(\d+) \(left ([\d,]+)\)$")

// Model output as an attacker would write it: nothing crashes, everything returns quickly.
#include <chrono>
#include <random>

#include "tests/support/catch.h"
#include "verifiers/countdown.h"
#include "verifiers/equivalence.h"
#include "verifiers/expression.h"
#include "verifiers/number.h"
#include "verifiers/verifier.h"

using namespace thinkd::verifiers;

namespace {

std::string repeated(std::string_view piece, size_t bytes) {
  std::string result;
  while (result.size() < bytes) {
    result += piece;
  }
  return result;
}

void try_all(const std::string& text) {
  for (const AnswerKind kind : {AnswerKind::math, AnswerKind::number, AnswerKind::choice,
                                AnswerKind::countdown, AnswerKind::text}) {
    static_cast<void>(extract_answer(text, kind));
    Task task;
    task.problem.kind = kind;
    task.problem.numbers = {1, 2, 3};
    task.problem.target = 6;
    task.reference = "B";
    CHECK(grade(task, text).score == 0.0);
  }
  static_cast<void>(answers_match(text, "17/3"));
  static_cast<void>(equivalent(text, "x^2+1"));
  static_cast<void>(readable(text));
  static_cast<void>(parse_number(text));
  const std::vector<std::string> three = {text, "4", text};
  const std::vector<int> classes = classify(three);
  CHECK(classes[0] == classes[2]);
}

double seconds(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  try_all(text);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

// No speed is claimed: a text that costs its square would take minutes, sanitizers a few seconds.
constexpr double kNotForEver = 30.0;

TEST_CASE("long adversarial texts return") {
  for (const char* piece : {"(",          "[",          "{",
                            "\\boxed{",   "\\boxed{1}", "\\frac{",
                            "\\sqrt{",    "9^",         "9^{",
                            "$",          "-",          "!",
                            "answer is ", "####",       "1,",
                            "1 ",         "\\text{",    "\\begin{pmatrix}",
                            "x=",         "\\pm ",      "\\\\",
                            "|",          "sin ",       "1/",
                            "e",          "<answer>",   "\xE7\xAD\x94",
                            "\xFF",       "1e9",        "\\boxed{1} and ",
                            ":",          "x<"}) {
    for (const size_t bytes : {300U, 4'000U, 100'000U}) {
      INFO(piece << " x " << bytes);
      CHECK(seconds(repeated(piece, bytes)) < kNotForEver);
    }
  }
}

TEST_CASE("costly mathematics is refused or cheap") {
  for (const char* text : {"9^{9^{9^{9}}}",
                           "(10^{1000})!",
                           "1000!^{1000}",
                           "\\binom{1000}{500}^{999}",
                           "2^{-9999999}",
                           "((((2^{9999})^{9999})^{9999})^{9999})",
                           "\\sqrt[64]{\\sqrt[64]{\\sqrt[64]{7}}}",
                           "e^{e^{e^{e^{10}}}}",
                           "\\tan(10^{300})",
                           "10^{999}+\\sin(x^{999})",
                           "\\ln(\\ln(\\ln(1)))",
                           "1e1000*1e1000*1e1000",
                           "(x+1)^{9999}",
                           "\\frac{1}{\\frac{1}{\\frac{1}{0}}}",
                           "0^{-1}",
                           "0^0",
                           "i^i",
                           "(-8)^{1/3}",
                           "\\log_{1}{5}",
                           "\\infty-\\infty",
                           "x!",
                           "\\binom{n}{2}"}) {
    INFO(text);
    CHECK(seconds(text) < kNotForEver);
    CHECK(seconds(repeated(std::string(text) + "+", 2'000) + "1") < kNotForEver);
  }
}

TEST_CASE("random bytes and random tokens") {
  const unsigned seed = 77;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> pieces = {"\\frac",
                                           "{",
                                           "}",
                                           "(",
                                           ")",
                                           "[",
                                           "]",
                                           "\\sqrt",
                                           "^",
                                           "_",
                                           "1",
                                           "23",
                                           "0",
                                           "x",
                                           "y",
                                           ",",
                                           ".",
                                           "+",
                                           "-",
                                           "*",
                                           "/",
                                           "\\pm",
                                           "=",
                                           "<",
                                           "\\le",
                                           "\\cup",
                                           "\\{",
                                           "\\}",
                                           "\\pi",
                                           "i",
                                           "e",
                                           "sin",
                                           "\\text{cm}",
                                           "%",
                                           "\\circ",
                                           "!",
                                           "|",
                                           "&",
                                           "\\\\",
                                           "\\begin{bmatrix}",
                                           "\\end{bmatrix}",
                                           ":",
                                           "\\boxed{",
                                           "and",
                                           " ",
                                           "$",
                                           "answer is ",
                                           "\n",
                                           "\\infty",
                                           "\\binom",
                                           "\\over",
                                           "\\in"};
  for (int round = 0; round < 1500; ++round) {
    std::string text;
    const size_t length = random() % 40;
    for (size_t i = 0; i < length; ++i) {
      text += round % 3 == 0 ? std::string(1, static_cast<char>(random() & 0xFFU))
                             : pieces[random() % pieces.size()];
    }
    INFO(text);
    // A choice letter or a word may well come up; only the time and the absence of a crash count.
    static_cast<void>(extract_answer(text, AnswerKind::choice));
    static_cast<void>(answers_match(text, "x^2 - \\frac{1}{3}"));
    static_cast<void>(equivalent(text, text + "1"));
    static_cast<void>(readable(text));
    static_cast<void>(check_countdown({}, text));
  }
}

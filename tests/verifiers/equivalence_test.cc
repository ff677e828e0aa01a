// Equal answers: the project's own suite of labelled pairs, its symmetry, and answer classes.
#include "verifiers/equivalence.h"

#include "tests/support/catch.h"
#include "tests/verifiers/data.h"
#include "verifiers/answer.h"

using namespace thinkd::verifiers;

TEST_CASE("labelled pairs: every one right, so no false positive") {
  const auto rows = rows_of("answer_equivalence_dev.jsonl");
  REQUIRE(rows.size() == 200);
  for (const auto& row : rows) {
    const std::string pred = row["pred"];
    const std::string gold = row["gold"];
    INFO(pred << " | " << gold);
    CHECK(answers_match(pred, gold) == row["equal"].get<bool>());
  }
}

TEST_CASE("gold answers are readable and equal to themselves") {
  for (const auto& row : rows_of("answer_equivalence_dev.jsonl")) {
    const std::string gold = row["gold"];
    INFO(gold);
    CHECK(readable(gold));
    CHECK(equivalent(gold, gold));
    CHECK(answers_match("So it is \\boxed{" + gold + "}.", gold));
  }
  for (const char* gold :
       {"\\left( 3, \\frac{\\pi}{2} \\right)", "p - q", "\\text{Evelyn}",
        "x^5 - x^4 + x^3 - x^2 + x - 1", "11,\\! 111,\\! 111,\\! 100", "5x - 7y + 11z + 4 = 0",
        "\\$32,\\!348", "\\frac{270}7\\text{ degrees}", "864 \\mbox{ inches}^2", "\\frac9{19}",
        "(0,9) \\cup (9,36)", "x \\in [-2,7]",
        "\\begin{pmatrix} -1/3 \\\\ 2/3 \\\\ 5/3 \\end{pmatrix}", "2516_8", "\\frac 59", "3, 5, 7",
        "6 - 5i", "\\cot x"}) {
    INFO(gold);
    CHECK(readable(gold));
    CHECK(answers_match("Hence \\boxed{" + std::string(gold) + "}", gold));
    CHECK(answers_match("The answer is $" + std::string(gold) + "$.", gold));
  }
}

TEST_CASE("what must not be equal") {
  const std::pair<const char*, const char*> pairs[] = {{"east", "seat"},
                                                       {"12", "1,2"},
                                                       {"4:30", "2:15"},
                                                       {"10/3", "3.33"},
                                                       {"x+1", "y+1"},
                                                       {"x=5", "y=5"},
                                                       {"(1,2)", "[1,2]"},
                                                       {"2x", "x"},
                                                       {"9007199254740993", "9007199254740992"},
                                                       {"\\sqrt{10^{30}+1}", "10^{15}"},
                                                       {"x^2-x^2+10^{-30}", "0"},
                                                       {"1,200", "200,1"},
                                                       {"x \\ge 4", "x \\le 4"},
                                                       {"-x > 1", "x > 1"},
                                                       {"45%", "0.0045"},
                                                       {"0.45%", "45%"},
                                                       {"\\pi", "3.14159265358979"},
                                                       {"{", "}"},
                                                       {"", ""},
                                                       {"1/0", "2/0"},
                                                       {"x/x", "0"},
                                                       {"3 cm", "4 cm"},
                                                       {"5 m", "6 m"}};
  for (const auto& [a, b] : pairs) {
    INFO(a << " | " << b);
    CHECK_FALSE(equivalent(a, b));
    CHECK_FALSE(equivalent(b, a));
  }
}

TEST_CASE("a decimal comma is read in the answer only") {
  CHECK(equivalent("3,75", "3.75"));
  CHECK_FALSE(equivalent("3.75", "3,75"));
}

TEST_CASE("answer classes") {
  const std::vector<std::string> answers = {"0.5", "",       "\\frac{1}{2}", "50\\%",
                                            "7",   "x = 7",  "\\sqrt{49}",   "7.0",
                                            "8",   "Monday", "monday"};
  CHECK(classify(answers) == std::vector<int>{0, -1, 0, 0, 1, 1, 1, 1, 2, 3, 3});
  CHECK(classify({}).empty());
}

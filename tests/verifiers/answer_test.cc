#include "verifiers/answer.h"

#include "tests/support/catch.h"
#include "verifiers/verifier.h"

using namespace thinkd::verifiers;

namespace {

std::string answer_of(std::string_view text, AnswerKind kind = AnswerKind::math) {
  const Extraction extraction = extract_answer(text, kind);
  CHECK(extraction.found == !extraction.answer.empty());
  CHECK(extraction.found == extraction.reason.empty());
  return extraction.answer;
}

}  // namespace

TEST_CASE("boxes") {
  CHECK(answer_of("so \\boxed{\\frac{1}{\\sqrt{2}}} it is") == "\\frac{1}{\\sqrt{2}}");
  CHECK(answer_of("\\boxed{8}, no: \\boxed{11}.") == "11");
  CHECK(answer_of("\\boxed{2} and $\\boxed{-9}$") == "2, -9");
  CHECK(answer_of("\\boxed{1}, \\boxed{2}, and \\boxed{3}") == "1, 2, 3");
  CHECK(answer_of("\\boxed{5} then \\boxed{").empty());
  CHECK(answer_of("\\boxed{5} then \\boxed{}").empty());
  CHECK(answer_of("\\boxed{\\{1,2\\}}") == "\\{1,2\\}");
  CHECK(answer_of("\\boxed {7}") == "7");
  CHECK(answer_of("\\boxed{\\boxed{7}}") == "7");
}

TEST_CASE("cues, marks and last numbers") {
  CHECK(answer_of("5*6=<<5*6=30>>30\n#### 30") == "30");
  CHECK(answer_of("The answer is 42. I hope it is correct.") == "42");
  CHECK(answer_of("The answer is $3.50.") == "$3.50");
  CHECK(answer_of("**Final Answer:** 17") == "17");
  CHECK(answer_of("Answer:\n\n  12 apples\nDone") == "12 apples");
  CHECK(answer_of("answer is 1. No, the answer is 2.") == "2");
  CHECK(answer_of("<answer>12</answer> ok") == "12");
  CHECK(answer_of("She starts with 42 and spends 12, leaving 30.") == "30");
  CHECK(answer_of("In the end there are 1,234 of them left.") == "1,234");
  CHECK(answer_of("We see that the sum is equal to -7.") == "-7");
  CHECK(answer_of("We see that the length is $x = 5\\sqrt{2}$.") == "5\\sqrt{2}");
  CHECK(answer_of("I am not sure how to solve this.").empty());
  CHECK(answer_of("").empty());
}

TEST_CASE("choice letters") {
  const auto choice = [](std::string_view text) { return answer_of(text, AnswerKind::choice); };
  CHECK(choice("The answer is (B).") == "B");
  CHECK(choice("B) 42") == "B");
  CHECK(choice("\\boxed{\\text{(C)}}") == "C");
  CHECK(choice("It can't be A, so the correct option is D") == "D");
  CHECK(choice("A or B").empty());
  CHECK(choice("the answer is A or B").empty());
  CHECK(choice("A man walks in; I choose (D)") == "D");
  CHECK(choice("nothing here").empty());
}

TEST_CASE("grading tells apart what went wrong") {
  Task task;
  task.problem.kind = AnswerKind::number;
  task.reference = "She has 10+5=<<10+5=15>>15 left.\n#### 15";
  CHECK(grade(task, "The answer is 15 dollars.").outcome == Outcome::correct);
  CHECK(grade(task, "The answer is 16.").outcome == Outcome::wrong);
  CHECK(grade(task, "The answer is Monday.").outcome == Outcome::parse_failed);
  CHECK(grade(task, "I do not know it at all").outcome == Outcome::no_answer);
  task.reference = "";
  CHECK(grade(task, "15").outcome == Outcome::gold_invalid);
  task.reference = "\\frac{1}{";
  task.problem.kind = AnswerKind::math;
  CHECK(grade(task, "\\frac{1}{").outcome == Outcome::gold_invalid);
  task.problem.kind = AnswerKind::text;
  task.reference = "Valid";
  CHECK(grade(task, "So the answer is valid.").outcome == Outcome::correct);
  CHECK(grade(task, "So the answer is invalid.").outcome == Outcome::wrong);
}

#include "search/countdown_prompt.h"

namespace thinkd::search {

std::string countdown_prompt(const verifiers::Problem& problem) {
  std::string numbers;
  for (size_t i = 0; i < problem.numbers.size(); ++i) {
    numbers += i == 0 ? "" : i + 1 == problem.numbers.size() ? " and " : ", ";
    numbers += std::to_string(problem.numbers[i]);
  }
  const bool any = problem.use == verifiers::NumberUse::any;
  return "Use the numbers " + numbers + ", each " + (any ? "at most" : "exactly") +
         " once, with +, -, *, / and parentheses to make an expression whose value is " +
         std::to_string(problem.target) +
         ".\n\nThink step by step. End with a line \"Answer: " + "EXPRESSION\".";
}

}  // namespace thinkd::search

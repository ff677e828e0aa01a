#include <unordered_map>

#include "verifiers/equivalence.h"
#include "verifiers/number.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers {

std::vector<int> classify(std::span<const std::string> answers) {
  std::vector<int> classes;
  std::vector<std::string_view> first;         // of each class
  std::vector<bool> number;                    // whether that is a plain number
  std::unordered_map<std::string, int> known;  // texts and canonical numbers met so far
  classes.reserve(answers.size());
  for (const std::string& written : answers) {
    const std::string_view answer = trim(written);
    if (answer.empty()) {
      classes.push_back(-1);
      continue;
    }
    if (const auto hit = known.find(std::string(answer)); hit != known.end()) {
      classes.push_back(hit->second);
      continue;
    }
    const std::optional<Number> value = parse_number(answer);
    const bool plain = value && !value->percent;
    const std::string canonical = plain ? "=" + value->canonical : std::string();
    int found = -1;
    if (const auto hit = known.find(canonical); plain && hit != known.end()) {
      found = hit->second;
    }
    for (size_t i = 0; i < first.size() && found < 0; ++i) {
      // Two plain numbers with other canonical texts differ.
      if (!(plain && number[i]) && equivalent(answer, first[i])) {
        found = static_cast<int>(i);
      }
    }
    if (found < 0) {
      found = static_cast<int>(first.size());
      first.push_back(answer);
      number.push_back(plain);
    }
    known.emplace(answer, found);
    if (plain) {
      known.emplace(canonical, found);
    }
    classes.push_back(found);
  }
  return classes;
}

}  // namespace thinkd::verifiers

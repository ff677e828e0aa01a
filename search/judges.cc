#include "search/judges.h"

#include <nlohmann/json.hpp>
#include <string>

namespace thinkd::search {
namespace {

Status check_judge(const verifiers::Verifiers& verifiers, std::string_view text,
                   const Request& request) {
  THINKD_CHECK(find_judge(verifiers, text).status());
  const Result<StrategySpec> spec =
      parse_strategy(text.empty() ? verifiers.default_scorer() : text);
  if (request.numbers.empty() && verifiers.find(spec->name)->needs_numbers) {
    return invalid("'" + spec->name + "' judges Countdown problems; the request has no numbers");
  }
  return {};
}

Status check_verifier(const verifiers::Verifiers& verifiers, const Request& request) {
  THINKD_CHECK(check_judge(verifiers, request.verifier, request));
  const Result<StrategySpec> spec = parse_strategy(request.verifier);
  if (!verifiers.find(spec->name)->has(verifiers::Role::verifier)) {
    return invalid("'" + spec->name +
                   "' is a scorer: it ranks texts and cannot tell a correct one from a wrong one");
  }
  return {};
}

}  // namespace

Result<verifiers::Judge> find_judge(const verifiers::Verifiers& verifiers, std::string_view text) {
  const Result<StrategySpec> spec =
      parse_strategy(text.empty() ? verifiers.default_scorer() : text);
  THINKD_CHECK(spec.status());
  verifiers::Parameters parameters;
  const Json params = Json::parse(spec->params, nullptr, false);
  for (const auto& [name, value] : params.items()) {
    parameters[name] = value.is_string() ? value.get<std::string>() : to_text(value);
  }
  return verifiers.judge(spec->name, parameters);
}

Status check_judges(const verifiers::Verifiers& verifiers, const Request& request,
                    std::span<const sdk::Param> params) {
  if (!request.verifier.empty()) {
    THINKD_CHECK(check_verifier(verifiers, request).within("verifier"));
  }
  for (const sdk::Param& param : params) {
    if (param.name == "scorer" && param.kind == sdk::ParamKind::text) {
      THINKD_CHECK(check_judge(verifiers, param.text, request)
                       .within(request.strategy.name + ": parameter scorer"));
    }
  }
  return {};
}

}  // namespace thinkd::search

#pragma once
// Verifiers and scorers as a request names them: "name" or "name:param=value". Checked before a run
// starts, so that a wrong name costs no sample. Pure functions; errors name what was asked for.

#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"
#include "plugins/sdk/values.h"
#include "search/request.h"
#include "verifiers/registry.h"

namespace thinkd::search {

// What `text` names, with its parameters; empty text: verifiers.default_scorer(). Unavailable:
// step_scorer, and the model has none.
Result<verifiers::Judge> find_judge(const verifiers::Verifiers& verifiers, std::string_view text);

// The request's verifier, which must be able to tell correct from wrong, and the strategy's
// parameter `scorer`, which may be whatever gives a score. `params`: of the strategy, checked.
Status check_judges(const verifiers::Verifiers& verifiers, const Request& request,
                    std::span<const sdk::Param> params);

}  // namespace thinkd::search

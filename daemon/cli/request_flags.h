#pragma once
// The flags that say what a run is to do, as members of a request: what the commands share.
// The request's own rules hold them (search/request.h); here they get their names.

#include "base/json.h"
#include "base/status.h"
#include "daemon/cli/arguments.h"
#include "search/request.h"

namespace thinkd::daemon {

// --temperature, --top-p, --min-p, --top-k, --max-tokens, --stop.
Status add_sampling(const Arguments& arguments, Json& members);
// The same, checked, where there is no request.
Result<search::SamplingOverrides> read_sampling(const Arguments& arguments);

// --NAME as the member of that name, where it is given. invalid: not an integer.
Status add_count(const Arguments& arguments, const char* flag, Json& members);

// A refusal of a request names the member; here it names the flag as it is typed: "top_p must be"
// -> "--top-p must be". `otherwise` is the flag where the message begins with no member.
Status as_typed(const Status& status, std::string_view otherwise);

}  // namespace thinkd::daemon

#include "daemon/cli/request_flags.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace thinkd::daemon {
namespace {

constexpr std::string_view kMembers[] = {"system", "task",     "numbers",    "target",      "use",
                                         "budget", "verifier", "strategy",   "temperature", "top_p",
                                         "min_p",  "top_k",    "max_tokens", "stop",        "seed"};

std::string member_of(std::string_view flag) {
  std::string member(flag);
  std::replace(member.begin(), member.end(), '-', '_');
  return member;
}

Status add_real(const Arguments& arguments, const char* flag, Json& members) {
  const auto real = arguments.number(flag, -Arguments::kAnyNumber, Arguments::kAnyNumber);
  THINKD_CHECK(real.status());
  if (*real) {
    members[member_of(flag)] = **real;
  }
  return {};
}

}  // namespace

Status add_count(const Arguments& arguments, const char* flag, Json& members) {
  const auto count = arguments.count(flag, 0, UINT64_MAX);
  THINKD_CHECK(count.status());
  if (*count) {
    members[member_of(flag)] = **count;
  }
  return {};
}

Status add_sampling(const Arguments& arguments, Json& members) {
  for (const char* flag : {"temperature", "top-p", "min-p"}) {
    THINKD_CHECK(add_real(arguments, flag, members));
  }
  for (const char* flag : {"top-k", "max-tokens"}) {
    THINKD_CHECK(add_count(arguments, flag, members));
  }
  if (arguments.has("stop")) {
    Result<std::vector<std::string>> stops = arguments.utf8_texts("stop");
    THINKD_CHECK(stops.status());
    members["stop"] = *std::move(stops);
  }
  return {};
}

Result<search::SamplingOverrides> read_sampling(const Arguments& arguments) {
  Json members = {{"question", "-"}};  // only the sampling is taken
  THINKD_CHECK(add_sampling(arguments, members));
  Result<search::Request> request = search::request_from_json(members);
  return request ? Result<search::SamplingOverrides>(std::move(request->sampling))
                 : as_typed(request.status(), "strategy");
}

Status as_typed(const Status& status, std::string_view otherwise) {
  if (status.ok()) {
    return status;
  }
  const std::string& message = status.message();
  const size_t end = std::min(message.find_first_of(" :"), message.size());
  const std::string first = message.substr(0, end);
  if (first == "question") {
    return Status(status.code(), "QUESTION" + message.substr(end));
  }
  if (std::find(std::begin(kMembers), std::end(kMembers), first) == std::end(kMembers)) {
    return status.within("--" + std::string(otherwise));
  }
  return Status(status.code(), "--" + flag_of(first) + message.substr(end));
}

}  // namespace thinkd::daemon

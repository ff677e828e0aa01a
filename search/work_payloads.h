#pragma once
// What the journal keeps of a branch's extend, log-probs and learned score: its entry's payload.
//   extend    u8 end | u32 count + u32 tokens | u32 count + f64 log-probs
//   logprobs  u32 count, then a token: u32 id, f64 log-prob, f64 entropy,
//             u32 count + (u32 id, f64 log-prob) of the likeliest
//   score     f64
// Little-endian. Reading gives corrupt where lengths or the end do not add up. Pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/scheduler/query.h"
#include "plugins/sdk/branch_records.h"

namespace thinkd::search {

std::string extend_payload(const engine::ExtendResult& result);
Result<engine::ExtendItem::Recorded> recorded_extend(std::string_view payload);

std::string logprobs_payload(const std::vector<sdk::TokenLogprob>& tokens);
Result<std::vector<sdk::TokenLogprob>> recorded_logprobs(std::string_view payload);

std::string score_payload(double score);
Result<double> recorded_score(std::string_view payload);

}  // namespace thinkd::search

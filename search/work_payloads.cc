#include "search/work_payloads.h"

#include <cmath>

#include "base/bytes.h"

namespace thinkd::search {

std::string extend_payload(const engine::ExtendResult& result) {
  ByteWriter writer;
  writer.write(static_cast<uint8_t>(result.end));
  writer.array(std::span<const engine::Token>(result.tokens));
  writer.array(std::span<const double>(result.logprobs));
  return writer.take();
}

Result<engine::ExtendItem::Recorded> recorded_extend(std::string_view payload) {
  ByteReader reader(payload);
  engine::ExtendItem::Recorded recorded;
  const auto end = reader.read<uint8_t>();
  recorded.tokens = reader.array<engine::Token>();
  recorded.logprobs = reader.array<double>();
  if (!reader.done() || end > static_cast<uint8_t>(engine::ExtendEnd::dropped) ||
      recorded.tokens.size() != recorded.logprobs.size()) {
    return corrupt("journal: an extend entry of " + std::to_string(payload.size()) +
                   " bytes does not add up");
  }
  recorded.end = static_cast<engine::ExtendEnd>(end);
  return recorded;
}

std::string logprobs_payload(const std::vector<sdk::TokenLogprob>& tokens) {
  ByteWriter writer;
  writer.write(static_cast<uint32_t>(tokens.size()));
  for (const sdk::TokenLogprob& token : tokens) {
    writer.write(token.token).write(token.logprob).write(token.entropy);
    writer.write(static_cast<uint32_t>(token.top.size()));
    for (const sdk::TopLogprob& top : token.top) {
      writer.write(top.token).write(top.logprob);
    }
  }
  return writer.take();
}

Result<std::vector<sdk::TokenLogprob>> recorded_logprobs(std::string_view payload) {
  ByteReader reader(payload);
  std::vector<sdk::TokenLogprob> tokens;
  for (uint32_t left = reader.read<uint32_t>(); left > 0 && !reader.failed(); --left) {
    sdk::TokenLogprob token;
    token.token = reader.read<uint32_t>();
    token.logprob = reader.read<double>();
    token.entropy = reader.read<double>();
    for (uint32_t tops = reader.read<uint32_t>(); tops > 0 && !reader.failed(); --tops) {
      sdk::TopLogprob top;
      top.token = reader.read<uint32_t>();
      top.logprob = reader.read<double>();
      token.top.push_back(top);
    }
    tokens.push_back(std::move(token));
  }
  if (!reader.done()) {
    return corrupt("journal: a logprobs entry of " + std::to_string(payload.size()) +
                   " bytes does not add up");
  }
  return tokens;
}

std::string score_payload(double score) { return ByteWriter().write(score).take(); }

Result<double> recorded_score(std::string_view payload) {
  ByteReader reader(payload);
  const auto score = reader.read<double>();
  if (!reader.done() || !std::isfinite(score)) {
    return corrupt("journal: a score entry of " + std::to_string(payload.size()) +
                   " bytes does not add up");
  }
  return score;
}

}  // namespace thinkd::search

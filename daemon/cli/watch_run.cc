#include "daemon/cli/watch_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/cli/output.h"

namespace thinkd::daemon {

void RunWatch::take(const search::Event& event) {
  add(std::string(to_string(event.kind)), event.tokens, event.answer.value_or(""));
}

void RunWatch::take(const Json& event) {
  const auto text = [&](const char* name) {
    const auto found = event.find(name);
    return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto tokens = event.find("tokens");
  add(text("event"),
      tokens != event.end() && tokens->is_number_unsigned() ? tokens->get<uint64_t>() : 0,
      text("answer"));
}

void RunWatch::add(const std::string& kind, uint64_t tokens, const std::string& answer) {
  const std::lock_guard guard(lock_);
  if (kind == "extended") {
    tokens_ += tokens;
  } else if (kind == "finished") {
    ++candidates_;
  } else if (kind == "best") {
    best_ = answer;
  }
}

std::string RunWatch::line(double seconds, uint64_t rows) const {
  const std::lock_guard guard(lock_);
  const uint64_t tokens = std::max(tokens_, rows);
  std::string out = shown_number(seconds, 0) + " s, " + std::to_string(tokens) + " tokens (" +
                    shown_number(static_cast<double>(tokens) / seconds, 0) + "/s)";
  if (candidates_ > 0) {
    out += ", " + std::to_string(candidates_) + (candidates_ == 1 ? " candidate" : " candidates");
  }
  return best_.empty() ? out : out + ", best so far: " + best_;
}

}  // namespace thinkd::daemon

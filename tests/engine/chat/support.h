#pragma once
// What the chat template tests share: files of tests/reference/chat, short ways to parse and
// render.

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/chat/chat_template.h"
#include "tests/support/catch.h"

namespace thinkd::engine::testing {

inline std::string folder() {
  const char* other = std::getenv("THINKD_CHAT_REFERENCE");  // a further collection, by hand
  return other != nullptr ? other : THINKD_SOURCE_DIR "/tests/reference/chat";
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<nlohmann::json> read_lines(const std::string& path) {
  std::vector<nlohmann::json> out;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    out.push_back(nlohmann::json::parse(line));
  }
  return out;
}

inline std::vector<Message> messages_of(const nlohmann::json& list) {
  std::vector<Message> out;
  for (const auto& item : list) {
    out.push_back({item.at("role").get<std::string>(), item.at("content").get<std::string>()});
  }
  return out;
}

inline RenderOptions usual_options() {
  RenderOptions options;
  options.bos_token = "<s>";
  options.eos_token = "</s>";
  options.date = {2024, 7, 26, 13, 5, 9};
  return options;
}

inline Result<RenderedText> render(std::string_view source, const std::vector<Message>& messages,
                                   const RenderOptions& options = usual_options()) {
  auto parsed = ChatTemplate::parse(source);
  if (!parsed.ok()) {
    return parsed.status();
  }
  return parsed->render(messages, options);
}

inline std::string text_of(std::string_view source, const std::vector<Message>& messages = {}) {
  auto out = render(source, messages);
  return out.ok() ? out->text : "error: " + out.status().message();
}

}  // namespace thinkd::engine::testing

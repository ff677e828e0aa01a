#pragma once
// The rows of a vendored JSONL file under tests/data.

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

inline std::vector<nlohmann::json> rows_of(const std::string& name) {
  std::ifstream file(std::string(THINKD_SOURCE_DIR) + "/tests/data/" + name);
  std::vector<nlohmann::json> rows;
  std::string line;
  while (std::getline(file, line)) {
    rows.push_back(nlohmann::json::parse(line));
  }
  return rows;
}

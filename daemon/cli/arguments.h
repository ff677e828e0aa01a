#pragma once
// What a user typed, once the command line was taken apart: flags by name, each with its texts.
// Numbers are read strictly; the error names the flag, the text and the range. A plain value: no
// owner, no thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "daemon/config.h"

namespace thinkd::daemon {

class Arguments {
 public:
  void add(std::string_view name, std::string text);  // switches have an empty text

  bool has(std::string_view name) const { return all_.find(name) != all_.end(); }
  // Of a positional argument or a flag; empty where it is not there.
  std::string text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  // Idem, for texts that are matched with a model's: not UTF-8 is an error that names the flag.
  Result<std::vector<std::string>> utf8_texts(std::string_view name) const;
  bool json() const { return has("json"); }

  // Empty where the flag is not there; invalid outside [low, high]. Whoever knows the range of a
  // number better asks for any.
  static constexpr double kAnyNumber = 1e300;
  Result<std::optional<uint64_t>> count(std::string_view name, uint64_t low, uint64_t high) const;
  Result<std::optional<double>> number(std::string_view name, double low, double high) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> all_;
};

// The file of --config, then the flags over it.
Result<Config> load_config(const Arguments& arguments);

// TEXT, or what --file holds ("-": standard input). invalid: both or none of them, not UTF-8.
Result<std::string> given_text(const Arguments& arguments, std::string_view positional);

}  // namespace thinkd::daemon

#include "daemon/cli/arguments.h"

#include <unistd.h>

#include <utility>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"

namespace thinkd::daemon {
namespace {

constexpr uint64_t kTextBytes = limits::kHttpBodyBytes;  // as much as a request may bring

std::string shown(std::string_view text) {
  constexpr size_t kShown = 80;
  return escape_controls(repair_utf8(text.substr(0, kShown)));
}

Result<std::string> standard_input() {
  std::string text;
  std::string buffer(1 << 16, '\0');
  while (true) {
    const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0) {
      return io_error("standard input cannot be read");
    }
    if (got == 0) {
      return text;
    }
    text.append(buffer, 0, static_cast<size_t>(got));
    if (text.size() > kTextBytes) {
      return over_limit("standard input is longer than " + std::to_string(kTextBytes) + " bytes");
    }
  }
}

}  // namespace

void Arguments::add(std::string_view name, std::string text) {
  all_[std::string(name)].push_back(std::move(text));
}

std::string Arguments::text(std::string_view name) const {
  const auto found = all_.find(name);
  return found == all_.end() ? std::string() : found->second.back();
}

Result<std::vector<std::string>> Arguments::utf8_texts(std::string_view name) const {
  std::vector<std::string> all = texts(name);
  for (const std::string& text : all) {
    if (!valid_utf8(text)) {
      return invalid("--" + std::string(name) + ": the text is not UTF-8");
    }
  }
  return all;
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  const auto found = all_.find(name);
  return found == all_.end() ? std::vector<std::string>() : found->second;
}

Result<std::optional<uint64_t>> Arguments::count(std::string_view name, uint64_t low,
                                                 uint64_t high) const {
  if (!has(name)) {
    return std::optional<uint64_t>();
  }
  const std::optional<uint64_t> value = parse_uint(text(name));
  if (!value || has_leading_zero(text(name)) || *value < low || *value > high) {
    return invalid("--" + std::string(name) + ": '" + shown(text(name)) +
                   "' is not an integer from " + std::to_string(low) + " to " +
                   std::to_string(high));
  }
  return value;
}

Result<std::optional<double>> Arguments::number(std::string_view name, double low,
                                                double high) const {
  if (!has(name)) {
    return std::optional<double>();
  }
  const std::optional<double> value = parse_double(text(name));
  if (!value || has_leading_zero(text(name)) || !(*value >= low && *value <= high)) {
    const bool bounded = low > -kAnyNumber || high < kAnyNumber;
    return invalid("--" + std::string(name) + ": '" + shown(text(name)) + "' is not a number" +
                   (bounded ? " from " + format_double(low) + " to " + format_double(high) : ""));
  }
  return value;
}

Result<Config> load_config(const Arguments& arguments) {
  Config config;
  if (arguments.has("config")) {
    THINKD_CHECK(read_config(arguments.text("config"), config));
  }
  for (std::string_view key : config_keys()) {
    const std::string flag = flag_of(key);
    if (arguments.has(flag)) {
      THINKD_CHECK(set_from_flag(key, arguments.text(flag), config));
    }
  }
  return config;
}

Result<std::string> given_text(const Arguments& arguments, std::string_view positional) {
  const bool file = arguments.has("file");
  if (file == arguments.has(positional)) {
    return invalid(file ? "a text and --file are both given" : "no text: give TEXT or --file FILE");
  }
  Result<std::string> text = std::string();
  if (!file) {
    text = arguments.text(positional);
  } else if (arguments.text("file") == "-") {
    text = standard_input();
  } else {
    text = read_file(arguments.text("file"), kTextBytes);
  }
  if (text && !valid_utf8(*text)) {
    return invalid(file ? "--file: it is not UTF-8" : "the text is not UTF-8");
  }
  return text;
}

}  // namespace thinkd::daemon

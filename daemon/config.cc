#include "daemon/config.h"

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "engine/kernels/kernels.h"

namespace thinkd::daemon {
namespace {

enum class Kind : uint8_t { text, number };

// Of numbers, both ends inside.
struct Range {
  uint64_t low = 0;
  uint64_t high = 0;
};

struct Key {
  std::string_view name;
  Kind kind;
  std::string_view must_be;  // of numbers: before the range
  bool (*set)(Config& config, std::string_view text, Range range);
  Range range = {};
};

template <class T>
bool take_count(std::string_view text, Range range, T& into) {
  const std::optional<uint64_t> value = parse_uint(text);
  if (!value || has_leading_zero(text) || *value < range.low || *value > range.high) {
    return false;
  }
  into = static_cast<T>(*value);
  return true;
}

template <class T>
bool take_text(std::string_view text, T& into) {
  into = std::string(text);
  return !text.empty();
}

const Key kKeys[] = {
    {"model", Kind::text, "a path or a name",
     [](Config& c, std::string_view text, Range) { return take_text(text, c.model); }},
    {"store", Kind::text, "a folder",
     [](Config& c, std::string_view text, Range) { return take_text(text, c.store); }},
    {"threads",
     Kind::number,
     "a number of threads (0: one a core)",
     [](Config& c, std::string_view text, Range r) { return take_count(text, r, c.threads); },
     {0, limits::kKernelThreads}},
    {"compute", Kind::text, "auto or f32",
     [](Config& c, std::string_view text, Range) {
       c.compute = text == "f32" ? engine::ComputeMode::f32 : engine::ComputeMode::automatic;
       return text == "auto" || text == "f32";
     }},
    {"isa", Kind::text, "auto, or an instruction set that this machine runs",
     [](Config& c, std::string_view text, Range) {
       c.isa = text == "auto" ? std::string() : std::string(text);
       return !text.empty() && engine::find_kernels(c.isa).ok();
     }},
    {"kv_pool",
     Kind::number,
     "a number of bytes (0: a quarter of the memory)",
     [](Config& c, std::string_view text, Range r) { return take_count(text, r, c.kv_pool); },
     {0, limits::kPoolBytes}},
    {"kv", Kind::text, "f16 or f32",
     [](Config& c, std::string_view text, Range) {
       c.kv = text == "f32" ? engine::KvType::f32 : engine::KvType::f16;
       return text == "f16" || text == "f32";
     }},
    {"listen", Kind::text, "HOST:PORT with a port from 0 to 65535",
     [](Config& c, std::string_view text, Range) {
       const size_t colon = text.rfind(':');
       uint32_t port = 0;
       c.listen = std::string(text);
       return colon != std::string_view::npos && colon > 0 &&
              take_count(text.substr(colon + 1), {0, 65'535}, port);
     }},
    {"page_share",
     Kind::number,
     "an integer",
     [](Config& c, std::string_view text, Range r) { return take_count(text, r, c.page_share); },
     {1, limits::kPageShare}},
    {"strategy_threads",
     Kind::number,
     "an integer",
     [](Config& c, std::string_view text, Range r) {
       return take_count(text, r, c.strategy_threads);
     },
     {1, limits::kMostStrategyThreads}},
    {"drain_seconds",
     Kind::number,
     "a number of seconds",
     [](Config& c, std::string_view text, Range r) {
       const std::optional<double> value = parse_double(text);
       c.drain_seconds = value.value_or(0);
       return value && *value >= static_cast<double>(r.low) &&
              *value <= static_cast<double>(r.high);
     },
     {0, limits::kDrainSeconds}},
};

const Key* find_key(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                   [&](const Key& key) { return key.name == name; });
  return found == std::end(kKeys) ? nullptr : found;
}

std::string known_keys() {
  std::string names;
  for (const Key& key : kKeys) {
    names += (names.empty() ? "" : ", ") + std::string(key.name);
  }
  return names;
}

std::string must_be(const Key& key) {
  std::string text(key.must_be);
  if (key.kind == Kind::number) {
    text += " from " + std::to_string(key.range.low) + " to " + std::to_string(key.range.high);
  }
  return text;
}

Status wrong(std::string_view place, std::string_view text, const Key& key) {
  return invalid(std::string(place) + ": '" + escape_controls(repair_utf8(text)) + "' is not " +
                 must_be(key));
}

Status set_from_toml(const std::string& path, std::string_view name, const toml::node& node,
                     Config& config) {
  const std::string place = path + ": " + std::string(name);
  const Key* key = find_key(name);
  if (key == nullptr) {
    return invalid(path + ": unknown key '" + escape_controls(name) + "'; known are " +
                   known_keys());
  }
  std::string text;
  if (const auto* string = node.as_string(); string && key->kind == Kind::text) {
    text = string->get();
  } else if (const auto* integer = node.as_integer(); integer && key->kind == Kind::number) {
    text = std::to_string(integer->get());
  } else if (const auto* real = node.as_floating_point(); real && key->kind == Kind::number) {
    text = std::isfinite(real->get()) ? format_double(real->get()) : "not finite";
  } else {
    return invalid(place + " must be " + must_be(*key) +
                   (key->kind == Kind::text ? ", as a text" : ", as a number"));
  }
  return key->set(config, text, key->range) ? Status() : wrong(place, text, *key);
}

}  // namespace

std::vector<std::string_view> config_keys() {
  std::vector<std::string_view> names;
  for (const Key& key : kKeys) {
    names.push_back(key.name);
  }
  return names;
}

std::string flag_of(std::string_view key) {
  std::string flag(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

Status read_config(const std::string& path, Config& config) {
  const Result<std::string> text = read_file(path, limits::kConfigBytes);
  if (!text) {
    return text.status();
  }
  toml::table table;
  try {
    table = toml::parse(*text, std::string_view(path));
  } catch (const toml::parse_error& error) {
    std::ostringstream line;
    line << error.source().begin.line;
    return invalid(path + ", line " + line.str() + ": " + std::string(error.description()));
  }
  for (const auto& [name, node] : table) {
    THINKD_CHECK(set_from_toml(path, name.str(), node, config));
  }
  return {};
}

Status set_from_flag(std::string_view key, std::string_view text, Config& config) {
  const Key* found = find_key(key);
  if (found == nullptr) {
    return internal_error("no key " + std::string(key));
  }
  if (key == "isa" && text != "auto") {
    THINKD_CHECK(engine::find_kernels(text).status().within("--isa"));
  }
  return found->set(config, text, found->range) ? Status()
                                                : wrong("--" + flag_of(key), text, *found);
}

}  // namespace thinkd::daemon

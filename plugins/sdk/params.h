#pragma once
// The parameters of a strategy: one plain struct with defaults and, beside it, what each member is.
// From that list come the JSON Schema, the reading of what the user set, and the error texts, which
// name the parameter and what it may be.
//
//   struct SampleParams {
//     uint32_t n = 8;
//     static Fields<SampleParams> fields() {
//       return {integer("n", &SampleParams::n, 1, kMaxSamples, "samples drawn")};
//     }
//   };
//
// Immutable once made; any thread.

#include <charconv>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/sdk/session.h"
#include "plugins/sdk/values.h"

namespace thinkd::sdk {

inline constexpr int64_t kMaxSamples = 4096;  // n of one strategy

template <class P>
struct Field {
  std::string name;
  std::string allowed;                          // "an integer from 1 to 4096"
  std::function<bool(P&, const Param&)> set;    // false: not allowed
  std::function<std::string(const P&)> schema;  // of a struct that holds the defaults
};

template <class P>
using Fields = std::vector<Field<P>>;

namespace detail {

inline std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

template <class T>
std::string digits(T number) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), number);
  return std::string(buffer, end.ptr);
}

inline std::string shown(const Param& param) {
  switch (param.kind) {
    case ParamKind::boolean:
      return param.boolean ? "true" : "false";
    case ParamKind::integer:
      return digits(param.integer);
    case ParamKind::number:
      return digits(param.number);
    case ParamKind::text:
      break;
  }
  return detail::quoted(param.text);
}

}  // namespace detail

// [least, most], both included.
template <class P, class T>
Field<P> integer(std::string name, T P::* member, int64_t least, int64_t most,
                 std::string description) {
  auto set = [member, least, most](P& params, const Param& param) {
    if (param.kind != ParamKind::integer || param.integer < least || param.integer > most) {
      return false;
    }
    params.*member = static_cast<T>(param.integer);
    return true;
  };
  auto schema = [member, least, most, description](const P& defaults) {
    return "{\"type\":\"integer\",\"minimum\":" + detail::digits(least) +
           ",\"maximum\":" + detail::digits(most) +
           ",\"default\":" + detail::digits(defaults.*member) +
           ",\"description\":" + detail::quoted(description) + "}";
  };
  return {std::move(name),
          "an integer from " + detail::digits(least) + " to " + detail::digits(most), set, schema};
}

template <class P, class T>
Field<P> number(std::string name, T P::* member, double least, double most,
                std::string description) {
  auto set = [member, least, most](P& params, const Param& param) {
    const bool whole = param.kind == ParamKind::integer;
    const double value = whole ? static_cast<double>(param.integer) : param.number;
    if ((!whole && param.kind != ParamKind::number) || !(value >= least && value <= most)) {
      return false;
    }
    params.*member = static_cast<T>(value);
    return true;
  };
  auto schema = [member, least, most, description](const P& defaults) {
    return "{\"type\":\"number\",\"minimum\":" + detail::digits(least) +
           ",\"maximum\":" + detail::digits(most) +
           ",\"default\":" + detail::digits(defaults.*member) +
           ",\"description\":" + detail::quoted(description) + "}";
  };
  return {std::move(name), "a number from " + detail::digits(least) + " to " + detail::digits(most),
          set, schema};
}

template <class P>
Field<P> boolean(std::string name, bool P::* member, std::string description) {
  auto set = [member](P& params, const Param& param) {
    params.*member = param.boolean;
    return param.kind == ParamKind::boolean;
  };
  auto schema = [member, description](const P& defaults) {
    return std::string("{\"type\":\"boolean\",\"default\":") +
           (defaults.*member ? "true" : "false") +
           ",\"description\":" + detail::quoted(description) + "}";
  };
  return {std::move(name), "true or false", set, schema};
}

template <class P>
Field<P> text(std::string name, std::string P::* member, std::string description) {
  auto set = [member](P& params, const Param& param) {
    params.*member = param.text;
    return param.kind == ParamKind::text;
  };
  auto schema = [member, description](const P& defaults) {
    return "{\"type\":\"string\",\"default\":" + detail::quoted(defaults.*member) +
           ",\"description\":" + detail::quoted(description) + "}";
  };
  return {std::move(name), "a text", set, schema};
}

// One of a few words; the default must be among them.
template <class P, class T>
Field<P> choice(std::string name, T P::* member, std::vector<std::pair<std::string, T>> words,
                std::string description) {
  std::string allowed = "one of";
  for (const auto& [word, value] : words) {
    allowed += (allowed == "one of" ? " " : ", ") + word;
  }
  auto set = [member, words](P& params, const Param& param) {
    for (const auto& [word, value] : words) {
      if (param.kind == ParamKind::text && param.text == word) {
        params.*member = value;
        return true;
      }
    }
    return false;
  };
  auto schema = [member, words, description](const P& defaults) {
    std::string list;
    std::string preset;
    for (const auto& [word, value] : words) {
      list += (list.empty() ? "" : ",") + detail::quoted(word);
      preset = value == defaults.*member ? word : preset;
    }
    return "{\"type\":\"string\",\"enum\":[" + list + "],\"default\":" + detail::quoted(preset) +
           ",\"description\":" + detail::quoted(description) + "}";
  };
  return {std::move(name), std::move(allowed), set, schema};
}

// JSON Schema of an object with all fields of P, nothing required, nothing else allowed.
template <class P>
std::string params_schema() {
  std::string members;
  for (const Field<P>& field : P::fields()) {
    members += (members.empty() ? "" : ",") + detail::quoted(field.name) + ":" + field.schema(P{});
  }
  return "{\"type\":\"object\",\"properties\":{" + members + "},\"additionalProperties\":false}";
}

// Throws Failed(THINKD_INVALID): an unknown name, a name given twice, a value that is not allowed.
template <class P>
P read_params(const std::vector<Param>& given, const std::string& strategy) {
  P params;
  const Fields<P> fields = P::fields();
  std::vector<bool> seen(fields.size());
  for (const Param& param : given) {
    size_t i = 0;
    std::string known;
    while (i < fields.size() && fields[i].name != param.name) {
      known += (known.empty() ? "" : ", ") + fields[i++].name;
    }
    if (i == fields.size()) {
      throw Failed(THINKD_INVALID, strategy + " has no parameter " + detail::quoted(param.name) +
                                       (known.empty() ? "; it has none" : "; it has " + known));
    }
    if (seen[i]) {
      throw Failed(THINKD_INVALID, strategy + ": parameter " + param.name + " is given twice");
    }
    seen[i] = true;
    if (!fields[i].set(params, param)) {
      throw Failed(THINKD_INVALID, strategy + ": parameter " + param.name + " is " +
                                       detail::shown(param) + "; it must be " + fields[i].allowed);
    }
  }
  return params;
}

}  // namespace thinkd::sdk

// JSON-RPC text in, text out: every case of cases/*.txt. A case is a "# title", then "> text" lines
// that come in one after another and "< text" lines that must go out, in that order ("<" alone:
// nothing).
// "*" in what is expected stands for any text. @nest(N): N arrays in one another; @calls(N),
// @replies(N): a batch and its answers; \xHH a byte.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "daemon/rpc/json_rpc.h"
#include "tests/support/catch.h"

using namespace thinkd;
using namespace thinkd::daemon;

namespace {

class Stub final : public RpcHandler {
 public:
  bool knows(std::string_view method) const override {
    constexpr std::string_view kNames[] = {"echo", "hold", "release", "refuse", "throw", "break"};
    return std::find(std::begin(kNames), std::end(kNames), method) != std::end(kNames);
  }

  void call(const std::string& method, const Json& params, RpcDone done) override {
    if (method == "echo") {
      return done({to_text(params), std::nullopt});
    }
    if (method == "hold") {
      held_.push_back(std::move(done));
      return;
    }
    if (method == "release") {
      for (const RpcDone& held : std::exchange(held_, {})) {
        held({"\"held\"", std::nullopt});
      }
      return done({"\"released\"", std::nullopt});
    }
    if (method == "refuse") {
      return done(rpc_failure(invalid("n must be an integer from 1 to 9")));
    }
    if (method == "break") {
      return done(rpc_failure(internal_error("secret path /etc/shadow")));
    }
    throw std::runtime_error("secret path /etc/shadow");
  }

 private:
  std::vector<RpcDone> held_;
};

std::string replace(std::string text, const std::string& name,
                    const std::function<std::string(size_t)>& make) {
  const std::string open = "@" + name + "(";
  while (true) {
    const size_t at = text.find(open);
    if (at == std::string::npos) {
      return text;
    }
    const size_t end = text.find(')', at);
    const auto count =
        parse_uint(std::string_view(text).substr(at + open.size(), end - at - open.size()));
    REQUIRE(count.has_value());
    text.replace(at, end + 1 - at, make(*count));
  }
}

std::string batch(size_t count, const std::function<std::string(size_t)>& item) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += (i > 0 ? "," : "") + item(i);
  }
  return "[" + all + "]";
}

int nibble(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::string expand(std::string text) {
  text = replace(text, "nest", [](size_t n) { return std::string(n, '[') + std::string(n, ']'); });
  text = replace(text, "calls", [](size_t n) {
    return batch(n, [](size_t i) {
      return R"({"jsonrpc":"2.0","method":"echo","id":)" + std::to_string(i) + "}";
    });
  });
  text = replace(text, "replies", [](size_t n) {
    return batch(n, [](size_t i) {
      return R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"result":null})";
    });
  });
  for (size_t at = text.find("\\x"); at != std::string::npos; at = text.find("\\x", at + 1)) {
    text.replace(at, 4, 1, static_cast<char>(nibble(text[at + 2]) * 16 + nibble(text[at + 3])));
  }
  return text;
}

bool matches(const Json& got, const Json& expected) {
  if (expected == "*") {
    return got.is_string() && got.get<std::string>().find("secret") == std::string::npos;
  }
  if (got.type() != expected.type() || !expected.is_structured()) {
    return got == expected;
  }
  if (got.size() != expected.size()) {
    return false;
  }
  if (expected.is_array()) {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (!matches(got[i], expected[i])) {
        return false;
      }
    }
    return true;
  }
  for (const auto& [key, value] : expected.items()) {
    if (!got.contains(key) || !matches(got[key], value)) {
      return false;
    }
  }
  return true;
}

struct Case {
  std::string title;
  std::vector<std::string> in;
  std::vector<std::string> out;
};

std::vector<Case> read_cases(const std::string& path) {
  const auto text = read_file(path, 1 << 20);
  REQUIRE(text.ok());
  std::vector<Case> cases;
  for (const std::string_view line : split(*text, '\n')) {
    const std::string rest(line.size() > 2 ? line.substr(2) : "");
    if (line.starts_with('#')) {
      cases.push_back({rest, {}, {}});
    } else if (line.starts_with('>')) {
      cases.back().in.push_back(expand(rest));
    } else if (line.starts_with('<')) {
      cases.back().out.push_back(expand(rest));
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("the cases in the files") {
  set_log_level(LogLevel::error);
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::string(THINKD_SOURCE_DIR) +
                                                              "/tests/daemon/rpc/cases")) {
    ++files;
    for (const Case& one : read_cases(file.path().string())) {
      INFO(file.path().filename().string() << ": " << one.title);
      Stub stub;
      RpcChannel channel(stub);
      std::vector<std::string> replies;
      for (const std::string& text : one.in) {
        channel.receive(text, [&](std::string reply) { replies.push_back(std::move(reply)); });
      }
      REQUIRE(replies.size() == one.out.size());
      for (size_t i = 0; i < replies.size(); ++i) {
        INFO("reply " << i << ": " << replies[i].substr(0, 400));
        if (one.out[i].empty()) {
          CHECK(replies[i].empty());
          continue;
        }
        const Json got = Json::parse(replies[i], nullptr, false);
        const Json expected = Json::parse(one.out[i], nullptr, false);
        REQUIRE_FALSE(expected.is_discarded());
        CHECK(matches(got, expected));
      }
    }
  }
  CHECK(files >= 4);
}

TEST_CASE("an answer given twice goes out once") {
  struct Twice final : RpcHandler {
    bool knows(std::string_view) const override { return true; }
    void call(const std::string&, const Json&, RpcDone done) override {
      done({"1", std::nullopt});
      done({"2", std::nullopt});
      throw std::runtime_error("late");
    }
  } twice;
  RpcChannel channel(twice);
  std::vector<std::string> replies;
  channel.receive(R"({"jsonrpc":"2.0","method":"m","id":1})",
                  [&](std::string reply) { replies.push_back(std::move(reply)); });
  REQUIRE(replies.size() == 1);
  CHECK(replies[0] == R"({"jsonrpc":"2.0","id":1,"result":1})");
}

TEST_CASE("statuses have their codes") {
  const std::pair<Status, RpcCode> table[] = {
      {invalid("x"), RpcCode::invalid_params},
      {not_found("x"), RpcCode::not_found},
      {over_limit("x"), RpcCode::limit},
      {conflict("x"), RpcCode::conflict},
      {unavailable("x"), RpcCode::unavailable},
      {cancelled("x"), RpcCode::interrupted},
      {io_error("x"), RpcCode::io},
      {corrupt("x"), RpcCode::corrupt},
      {internal_error("x"), RpcCode::internal},
  };
  set_log_level(LogLevel::error);
  for (const auto& [status, code] : table) {
    CHECK(rpc_error(status).code == code);
  }
}

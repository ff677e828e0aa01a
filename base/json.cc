#include "base/json.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/limits.h"
#include "base/text.h"

namespace thinkd {

namespace {

std::string shown(std::string_view text) {
  constexpr size_t kShown = 40;
  return "'" + escape_controls(repair_utf8(text.substr(0, kShown))) +
         (text.size() > kShown ? "...'" : "'");
}

// Builds the value and stops at the first thing that is wrong. The parser itself is iterative, so
// depth costs heap and is bounded here.
class StrictBuilder final : public Json::json_sax_t {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }

  bool number_float(double value, const std::string& text) override {
    if (!std::isfinite(value)) {
      return fail("the number " + shown(text) + " is not finite as a double");
    }
    // The lexer falls back to double for integers past 64 bits; that would round them.
    if (text.find_first_of(".eE") == std::string::npos && text != "-0") {
      return fail("the integer " + shown(text) + " does not fit 64 bits");
    }
    // 1e-400 falls to zero: whoever wrote it did not mean zero.
    if (value == 0 &&
        text.substr(0, text.find_first_of("eE")).find_first_of("123456789") != std::string::npos) {
      return fail("the number " + shown(text) + " is not zero, and a double has no smaller one");
    }
    return add(value);
  }

  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t&) override { return fail("binary values have no JSON text"); }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    Json& object = *open_.back();
    if (object.contains(name)) {
      return fail("the member " + shown(name) + " stands twice in one object");
    }
    if (object.size() >= limits::kJsonMembers) {
      return fail("an object has more than " + std::to_string(limits::kJsonMembers) + " members",
                  Code::limit);
    }
    key_ = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string& token,
                   const Json::exception& error) override {
    if (error.id == 406) {  // out_of_range: the lexer saw a number like 1e400
      return fail("the number " + shown(token) + " is not finite as a double");
    }
    return fail("not valid JSON at byte " + std::to_string(position) + " near " + shown(token),
                Code::corrupt);
  }

  Status status() const { return status_; }
  Json take() { return std::move(root_); }

 private:
  bool fail(std::string message, Code code = Code::invalid) {
    status_ = Status(code, "JSON: " + std::move(message));
    return false;
  }

  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[std::move(key_)] = std::move(value));
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (open_.size() >= limits::kJsonDepth) {
      return fail("nested deeper than " + std::to_string(limits::kJsonDepth), Code::limit);
    }
    // Only the innermost open container grows, so pointers to the outer ones stay good.
    open_.push_back(place(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;
  std::string key_;
  Status status_;
};

template <class Value>
std::string dumped(const Value& value) {
  return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    return corrupt("JSON: a byte order mark stands at byte 0");
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return corrupt("JSON: a zero byte stands at byte " + std::to_string(nul));
  }
  StrictBuilder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    Status status = builder.status();
    return status.ok() ? corrupt("JSON: not valid") : status;
  }
  return builder.take();
}

std::string to_text(const Json& value) { return dumped(value); }
std::string to_text(const OrderedJson& value) { return dumped(value); }

std::string excerpt_of(const Json& value) {
  constexpr size_t kShown = 80;
  const std::string text = to_text(value);
  return text.size() <= kShown ? text : repair_utf8(text.substr(0, kShown)) + "...";
}

}  // namespace thinkd

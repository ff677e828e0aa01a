#pragma once
// Errors are values. A Status says what went wrong in words that name the bad thing and the limit;
// a Result<T> is a T or the Status that explains why there is none. Nothing here throws.

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace thinkd {

// What kind of failure it is; callers branch on this, people read the message.
enum class Code : uint8_t {
  ok,
  invalid,      // the input is wrong: a request, a parameter, a flag
  not_found,    // a named thing does not exist
  limit,        // a limit refuses it; the message holds both numbers
  corrupt,      // data that should be well-formed is not (file, record, store)
  io,           // the operating system refused
  cancelled,    // the caller or a deadline ended it
  conflict,     // two truths: a held store, a journal that differs, another build
  unavailable,  // a capability that this model, build or machine lacks
  internal,     // our own mistake
};

std::string_view code_name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure seen from further out: "prefix: message".
  Status within(std::string_view prefix) const {
    return ok() ? *this : Status(code_, std::string(prefix) + ": " + message_);
  }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

inline Status invalid(std::string message) { return {Code::invalid, std::move(message)}; }
inline Status not_found(std::string message) { return {Code::not_found, std::move(message)}; }
inline Status over_limit(std::string message) { return {Code::limit, std::move(message)}; }
inline Status corrupt(std::string message) { return {Code::corrupt, std::move(message)}; }
inline Status io_error(std::string message) { return {Code::io, std::move(message)}; }
inline Status cancelled(std::string message) { return {Code::cancelled, std::move(message)}; }
inline Status conflict(std::string message) { return {Code::conflict, std::move(message)}; }
inline Status unavailable(std::string message) { return {Code::unavailable, std::move(message)}; }
inline Status internal_error(std::string message) { return {Code::internal, std::move(message)}; }

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : value_(std::move(status)) { assert(!std::get<1>(value_).ok()); }

  bool ok() const { return value_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The Status of a failure; ok() when there is a value.
  Status status() const { return ok() ? Status() : std::get<1>(value_); }

  T& operator*() & { return std::get<0>(value_); }
  const T& operator*() const& { return std::get<0>(value_); }
  T&& operator*() && { return std::get<0>(std::move(value_)); }
  T* operator->() { return &std::get<0>(value_); }
  const T* operator->() const { return &std::get<0>(value_); }

 private:
  std::variant<T, Status> value_;
};

// Leaves the enclosing function with the Status where it is not ok.
#define THINKD_CHECK(expression)                                            \
  do {                                                                      \
    if (::thinkd::Status check_status = (expression); !check_status.ok()) { \
      return check_status;                                                  \
    }                                                                       \
  } while (false)

}  // namespace thinkd

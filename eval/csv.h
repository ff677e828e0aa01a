#pragma once
// RFC 4180, for reading: fields between commas, quotes around a field that holds a comma, a line
// break or a doubled quote. Lines end in LF or CRLF; the last may lack its end. A pull parser over
// a text that outlives it; not thread-safe.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thinkd::eval {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  uint64_t line() const { return line_; }  // 1-based: where the latest record begins

  // The next record, at least one field; a blank line is one empty field. invalid: a quote that is
  // never closed, or text beside a quoted field. Precondition: not at_end().
  Result<std::vector<std::string>> next();

 private:
  Result<std::string> quoted();

  std::string_view text_;
  size_t at_ = 0;
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;
};

}  // namespace thinkd::eval

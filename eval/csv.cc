#include "eval/csv.h"

#include <algorithm>

namespace thinkd::eval {

Result<std::vector<std::string>> CsvReader::next() {
  line_ = next_line_;
  std::vector<std::string> fields;
  for (;;) {
    if (!at_end() && text_[at_] == '"') {
      Result<std::string> field = quoted();
      if (!field) {
        return field.status();
      }
      fields.push_back(*std::move(field));
    } else {
      const size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      fields.emplace_back(text_.substr(at_, end - at_));
      at_ = end;
      if (fields.back().find('"') != std::string::npos) {
        return invalid("a quote inside a field that does not begin with one");
      }
    }
    if (at_end()) {
      return fields;
    }
    if (text_[at_] == ',') {
      ++at_;
      continue;
    }
    at_ += text_[at_] == '\r' ? 1 : 0;
    if (at_end()) {
      return fields;
    }
    if (text_[at_] != '\n') {
      return invalid("text beside a quoted field, or a carriage return without a line feed");
    }
    ++at_;
    ++next_line_;
    return fields;
  }
}

Result<std::string> CsvReader::quoted() {
  std::string out;
  for (++at_;;) {
    const size_t end = text_.find('"', at_);
    if (end == std::string_view::npos) {
      return invalid("a quote is never closed");
    }
    out += text_.substr(at_, end - at_);
    at_ = end + 1;
    if (at_end() || text_[at_] != '"') {
      next_line_ += static_cast<uint64_t>(std::count(out.begin(), out.end(), '\n'));
      return out;
    }
    out += '"';
    ++at_;
  }
}

}  // namespace thinkd::eval

// Bytes as a data file of an evaluation, as its log, as CSV.

#include <string>

#include "eval/csv.h"
#include "eval/log.h"
#include "eval/tasks.h"
#include "tests/fuzz/target.h"

using namespace thinkd;
using namespace thinkd::eval;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  for (const char* task : {"", "math", "game24", "countdown"}) {
    const auto file = read_problems("data", text, task);
    fuzz::expect(file ? !file->problems.empty() : !file.status().message().empty(),
                 "problems, or why there are none");
  }
  if (const auto sample = sample_from_line(text)) {
    const auto again = sample_from_line(to_line(*sample));
    fuzz::expect(again && to_line(*again) == to_line(*sample), "a sample reads back equal");
  }
  for (CsvReader reader(text); !reader.at_end();) {
    const uint64_t before = reader.line();
    const auto fields = reader.next();
    if (!fields) {
      break;
    }
    fuzz::expect(!fields->empty() && reader.line() > before, "a record has a field and a line");
  }
  static_cast<void>(parse_range(text));
  return 0;
}

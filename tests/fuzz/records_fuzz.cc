// Bytes as what a store holds: a journal entry, and the values of both column families.

#include <string>

#include "memory/record.h"
#include "search/journal.h"
#include "tests/fuzz/target.h"

using namespace thinkd;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  if (const auto entry = search::decode_entry(bytes)) {
    fuzz::expect(search::encode(*entry) == bytes, "an entry has one form");
    static_cast<void>(search::kind_name(entry->kind));
  }
  if (const auto entry = memory::decode_entry("key", bytes)) {
    fuzz::expect(memory::encode_entry(*entry) == bytes, "a kept entry has one form");
    static_cast<void>(search::decode_entry(*entry));
  }
  static_cast<void>(memory::decode_created("run", bytes));
  if (const auto run = memory::decode_run("run", bytes)) {
    fuzz::expect(memory::encode_run(*run) == bytes, "a run has one form");
  }
  return 0;
}

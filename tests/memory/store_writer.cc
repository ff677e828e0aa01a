// Opens the store argv[1] and appends entries to the journal of run "r" until it is killed,
// printing an index once append_journal() has returned. Entry i is its number repeated, so that a
// reader can check it. Where the store does not open, it prints why and ends with 3.

#include <cstdio>
#include <string>

#include "memory/store.h"

int main(int argc, char** argv) {
  using thinkd::memory::Store;
  if (argc != 2) {
    return 2;
  }
  thinkd::Result<std::unique_ptr<Store>> store = Store::open(argv[1]);
  if (!store) {
    std::puts(store.status().message().c_str());
    return 3;
  }
  for (uint32_t i = 0;; ++i) {
    std::string entry;
    for (uint32_t copy = 0; copy <= i % 50; ++copy) {
      entry += std::to_string(i) + ";";
    }
    if (!(*store)->append_journal("r", i, entry).ok()) {
      return 1;
    }
    std::printf("%u\n", i);
    std::fflush(stdout);
  }
}

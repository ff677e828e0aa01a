#pragma once
// The store: one RocksDB database in DIR/db with a column family for each kind of record.
//   runs     key run_id                              value: memory/record.h, a run
//   journal  key run_id, zero byte, u32 big-endian   value: memory/record.h, a journal entry
// One process owns a store; a second opener gets Code::conflict with the owner's pid. Safe to call
// from any thread. Written values survive kill -9 when the call returns (the log is in the kernel),
// and a power cut once sync() returned or the group sync ran: a thread of the store's syncs at most
// every 100 ms while something is unsynced. After a failed sync every write is refused with its
// error, since what was promised can no longer be kept.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "memory/record.h"

namespace thinkd::memory {

class Store {
  struct Database;

 public:
  // Makes the folder (mode 0700) and the database where they are missing.
  static Result<std::unique_ptr<Store>> open(const std::string& dir);
  explicit Store(std::unique_ptr<Database> database);  // open() makes them
  ~Store();  // stops the group sync, syncs once more, lets the store go
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Status put_run(const RunRecord& record);  // the newest record of an id replaces the older one
  Result<RunRecord> get_run(std::string_view run_id) const;      // not_found; corrupt
  Result<std::vector<RunRecord>> list_runs(size_t limit) const;  // newest first, then by id
  // The same runs one after another, so that no two are held at once.
  Status visit_runs(size_t limit, const std::function<void(const RunRecord&)>& visit) const;
  Status remove_run(std::string_view run_id);  // with its journal; not_found

  // Entries are numbered from 0 by the writer; the same index again replaces the entry.
  Status append_journal(std::string_view run_id, uint32_t index, std::string_view bytes);
  // All entries in order; empty where there are none; corrupt where one is damaged or missing.
  Result<std::vector<std::string>> read_journal(std::string_view run_id) const;

  Status sync();  // everything written so far is on disk when it returns

  const std::string& dir() const;

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace thinkd::memory

#include "memory/store.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/owner.h"
#include "base/text.h"
#include "memory/folder.h"
#include "memory/paths.h"

namespace thinkd::memory {

namespace {

constexpr std::chrono::milliseconds kSyncEvery(100);

Status from_rocksdb(const rocksdb::Status& status, const std::string& doing) {
  if (status.ok()) {
    return Status();
  }
  const std::string text = "store: " + doing + ": " + escape_controls(status.ToString());
  return status.IsCorruption() ? corrupt(text) : io_error(text);
}

std::string journal_prefix(std::string_view run_id) {
  return std::string(run_id) + std::string(1, '\0');
}

std::string journal_key(std::string_view run_id, uint32_t index) {
  std::string key = journal_prefix(run_id);
  for (int shift = 24; shift >= 0; shift -= 8) {  // big-endian: keys sort as numbers do
    key += static_cast<char>(index >> shift & 0xFF);
  }
  return key;
}

std::string entry_name(std::string_view run_id, uint32_t index) {
  return "journal/" + std::string(run_id) + "/" + std::to_string(index);
}

// RocksDB's own log file asserts where the disk is full: its words go nowhere, its errors come as
// values.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options database_options() {
  rocksdb::Options options;
  options.info_log = std::make_shared<NoLog>();
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  options.max_open_files = 256;
  return options;
}

}  // namespace

struct Store::Database {
  Database(std::string folder, Owner owner_of_it)
      : dir(std::move(folder)), owner(std::move(owner_of_it)) {}

  ~Database() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    if (syncer.joinable()) {
      syncer.join();
    }
    if (db == nullptr) {
      return;
    }
    if (const Status status = sync(); !status.ok()) {
      log_error(status.message());
    }
    db->DestroyColumnFamilyHandle(runs);
    db->DestroyColumnFamilyHandle(journal);
    db->DestroyColumnFamilyHandle(plain);
  }

  // The group sync: while something is unsynced, waits out the interval and syncs all of it at
  // once.
  void run_syncer() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return stopping || dirty; });
      wake.wait_for(lock, kSyncEvery, [&] { return stopping; });
      if (stopping) {
        return;
      }
      if (!dirty) {
        continue;
      }
      lock.unlock();
      if (const Status status = sync(); !status.ok()) {
        log_error(status.message());
      }
      lock.lock();
    }
  }

  // RocksDB asserts where its log is synced after a write to it failed (a full disk), so writes and
  // syncs take turns, and the first failure of either is the last thing asked of it.
  Status sync() {
    const std::lock_guard turn(log_mutex);
    {
      const std::lock_guard lock(mutex);
      if (!failure.ok()) {
        return failure;
      }
      dirty = false;  // before the sync: what is written meanwhile asks for another
    }
    return keep(from_rocksdb(db->SyncWAL(), "sync"));
  }

  Status keep(Status status) {
    if (!status.ok()) {
      const std::lock_guard lock(mutex);
      failure = status;
    }
    return status;
  }

  Status write(rocksdb::WriteBatch batch, const std::string& doing) {
    {
      const std::lock_guard turn(log_mutex);
      {
        const std::lock_guard lock(mutex);
        if (!failure.ok()) {
          return failure;
        }
      }
      THINKD_CHECK(keep(from_rocksdb(db->Write(rocksdb::WriteOptions(), &batch), doing)));
      const std::lock_guard lock(mutex);
      dirty = true;
    }
    wake.notify_one();
    return Status();
  }

  const std::string dir;
  Owner owner;  // before db: let go of after it
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::ColumnFamilyHandle* plain = nullptr;  // RocksDB wants a default one; it stays empty
  rocksdb::ColumnFamilyHandle* runs = nullptr;
  rocksdb::ColumnFamilyHandle* journal = nullptr;

  std::mutex log_mutex;  // held while RocksDB writes or syncs its log; taken before `mutex`
  std::mutex mutex;      // guards the four below; never held while RocksDB works
  std::condition_variable wake;
  bool stopping = false;
  bool dirty = false;
  Status failure;  // of a write or sync: nothing is written after it
  std::thread syncer;
};

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::~Store() = default;

const std::string& Store::dir() const { return database_->dir; }

Result<std::unique_ptr<Store>> Store::open(const std::string& dir) {
  THINKD_CHECK(prepare_folder(dir));
  Result<Owner> owner = Owner::claim(owner_path(dir), "the store '" + dir + "'");
  if (!owner) {
    return owner.status();
  }
  auto database = std::make_unique<Database>(dir, *std::move(owner));
  const rocksdb::Options options = database_options();
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, options}, {"runs", options}, {"journal", options}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  THINKD_CHECK(from_rocksdb(rocksdb::DB::Open(options, database_dir(dir), families, &handles, &db),
                            "open '" + dir + "'"));
  database->db.reset(db);
  database->plain = handles[0];
  database->runs = handles[1];
  database->journal = handles[2];
  database->syncer = std::thread([at = database.get()] { at->run_syncer(); });
  return std::make_unique<Store>(std::move(database));
}

Status Store::put_run(const RunRecord& record) {
  THINKD_CHECK(check_run_id(record.run_id));
  rocksdb::WriteBatch batch;
  batch.Put(database_->runs, record.run_id, encode_run(record));
  return database_->write(std::move(batch), "write run '" + record.run_id + "'");
}

Result<RunRecord> Store::get_run(std::string_view run_id) const {
  THINKD_CHECK(check_run_id(run_id));
  const std::string name(run_id);
  std::string value;
  const rocksdb::Status status =
      database_->db->Get(rocksdb::ReadOptions(), database_->runs, name, &value);
  if (status.IsNotFound()) {
    return not_found("no run '" + name + "' in the store '" + database_->dir + "'");
  }
  THINKD_CHECK(from_rocksdb(status, "read run '" + name + "'"));
  return decode_run(run_id, value);
}

Result<std::vector<RunRecord>> Store::list_runs(size_t limit) const {
  std::vector<RunRecord> runs;
  THINKD_CHECK(visit_runs(limit, [&](const RunRecord& record) { runs.push_back(record); }));
  return runs;
}

Status Store::visit_runs(size_t limit, const std::function<void(const RunRecord&)>& visit) const {
  using Place = std::pair<int64_t, std::string>;  // when it was created, its id
  const auto newer = [](const Place& a, const Place& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  // A heap of the newest seen, the oldest of them on top.
  std::vector<Place> kept;
  const std::unique_ptr<rocksdb::Iterator> at(
      database_->db->NewIterator(rocksdb::ReadOptions(), database_->runs));
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    const std::string_view run_id = at->key().ToStringView();
    const Result<int64_t> created = decode_created(run_id, at->value().ToStringView());
    THINKD_CHECK(created.status());
    kept.emplace_back(*created, run_id);
    std::push_heap(kept.begin(), kept.end(), newer);
    if (kept.size() > limit) {
      std::pop_heap(kept.begin(), kept.end(), newer);
      kept.pop_back();
    }
  }
  THINKD_CHECK(from_rocksdb(at->status(), "list runs"));
  std::sort(kept.begin(), kept.end(), newer);
  for (const auto& [created_us, run_id] : kept) {
    const Result<RunRecord> record = get_run(run_id);
    if (record) {
      visit(*record);
    } else if (record.status().code() != Code::not_found) {  // it may have been removed meanwhile
      return record.status();
    }
  }
  return Status();
}

Status Store::remove_run(std::string_view run_id) {
  THINKD_CHECK(check_run_id(run_id));
  const std::string name(run_id);
  std::string value;
  const rocksdb::Status found =
      database_->db->Get(rocksdb::ReadOptions(), database_->runs, name, &value);
  const std::string first = journal_prefix(run_id);
  const std::string past = name + std::string(1, '\1');
  if (found.IsNotFound()) {
    return not_found("no run '" + name + "' in the store '" + database_->dir + "'");
  }
  rocksdb::WriteBatch batch;
  batch.Delete(database_->runs, name);
  batch.DeleteRange(database_->journal, first, past);
  return database_->write(std::move(batch), "remove run '" + name + "'");
}

Status Store::append_journal(std::string_view run_id, uint32_t index, std::string_view bytes) {
  THINKD_CHECK(check_run_id(run_id));
  rocksdb::WriteBatch batch;
  batch.Put(database_->journal, journal_key(run_id, index), encode_entry(bytes));
  return database_->write(std::move(batch), "write " + entry_name(run_id, index));
}

Result<std::vector<std::string>> Store::read_journal(std::string_view run_id) const {
  THINKD_CHECK(check_run_id(run_id));
  const std::string prefix = journal_prefix(run_id);
  std::vector<std::string> entries;
  const std::unique_ptr<rocksdb::Iterator> at(
      database_->db->NewIterator(rocksdb::ReadOptions(), database_->journal));
  for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
    const auto index = static_cast<uint32_t>(entries.size());
    if (at->key() != rocksdb::Slice(journal_key(run_id, index))) {
      return corrupt("store: " + entry_name(run_id, index) +
                     " is missing, later entries are there");
    }
    const Result<std::string_view> entry =
        decode_entry(entry_name(run_id, index), at->value().ToStringView());
    if (!entry) {
      return entry.status();
    }
    entries.emplace_back(*entry);
  }
  THINKD_CHECK(from_rocksdb(at->status(), "read journal '" + std::string(run_id) + "'"));
  return entries;
}

Status Store::sync() { return database_->sync(); }

}  // namespace thinkd::memory

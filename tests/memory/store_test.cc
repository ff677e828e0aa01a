#include "memory/store.h"

#include <sys/resource.h>

#include <rocksdb/db.h>
#include <unistd.h>
#include <csignal>

#include <filesystem>
#include <fstream>
#include <thread>

#include "memory/paths.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd::memory {

namespace {

std::unique_ptr<Store> opened(const std::string& dir) {
  Result<std::unique_ptr<Store>> store = Store::open(dir);
  INFO(store.status().message());
  REQUIRE(store.ok());
  return *std::move(store);
}

RunRecord run(const std::string& id, int64_t created_us) {
  RunRecord record;
  record.run_id = id;
  record.created_us = created_us;
  record.request = "{\"id\":\"" + id + "\"}";
  return record;
}

std::vector<std::string> ids(const Result<std::vector<RunRecord>>& runs) {
  REQUIRE(runs.ok());
  std::vector<std::string> out;
  for (const RunRecord& record : *runs) {
    out.push_back(record.run_id);
  }
  return out;
}

// Writes a raw value behind the store's back; the store must be closed.
void poke(const std::string& dir, const std::string& family, const std::string& key,
          const std::string& value) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const char* name : {"default", "runs", "journal"}) {
    families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  REQUIRE(
      rocksdb::DB::Open(rocksdb::DBOptions(), database_dir(dir), families, &handles, &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  CHECK(db->Put(rocksdb::WriteOptions(), handles[family == "runs" ? 1 : 2], key, value).ok());
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    db->DestroyColumnFamilyHandle(handle);
  }
}

}  // namespace

TEST_CASE("what was written is there after reopening") {
  const ScratchFolder scratch;
  const std::string dir = scratch.path("a/store");
  {
    const std::unique_ptr<Store> store = opened(dir);
    REQUIRE(store->put_run(run("one", 10)).ok());
    RunRecord done = run("one", 10);
    done.state = RunState::done;
    done.result = "{}";
    REQUIRE(store->put_run(done).ok());
    for (uint32_t i = 0; i < 300; ++i) {  // past 255: the order is that of numbers
      REQUIRE(store->append_journal("one", i, "entry " + std::to_string(i)).ok());
    }
    REQUIRE(store->sync().ok());
  }
  CHECK(std::filesystem::status(dir).permissions() == std::filesystem::perms::owner_all);
  const std::unique_ptr<Store> store = opened(dir);
  const Result<RunRecord> record = store->get_run("one");
  REQUIRE(record.ok());
  CHECK(record->state == RunState::done);
  CHECK(record->request == run("one", 10).request);
  CHECK(record->result == "{}");
  const Result<std::vector<std::string>> journal = store->read_journal("one");
  REQUIRE(journal.ok());
  REQUIRE(journal->size() == 300);
  CHECK((*journal)[256] == "entry 256");
}

TEST_CASE("runs are listed newest first, up to a limit") {
  const ScratchFolder scratch;
  const std::unique_ptr<Store> store = opened(scratch.path("s"));
  for (const auto& [id, time] : std::vector<std::pair<std::string, int64_t>>{
           {"c", 5}, {"a", 7}, {"b", 5}, {"d", -1}, {"e", 9}}) {
    REQUIRE(store->put_run(run(id, time)).ok());
  }
  CHECK(ids(store->list_runs(10)) == std::vector<std::string>{"e", "a", "b", "c", "d"});
  CHECK(ids(store->list_runs(3)) == std::vector<std::string>{"e", "a", "b"});
  CHECK(ids(store->list_runs(0)).empty());
}

TEST_CASE("a removed run takes its journal along and no other's") {
  const ScratchFolder scratch;
  const std::unique_ptr<Store> store = opened(scratch.path("s"));
  for (const char* id : {"r", "r1", "r.1"}) {
    REQUIRE(store->put_run(run(id, 1)).ok());
    REQUIRE(store->append_journal(id, 0, id).ok());
    REQUIRE(store->append_journal(id, 1, id).ok());
  }
  REQUIRE(store->remove_run("r").ok());
  CHECK(store->get_run("r").status().code() == Code::not_found);
  CHECK(store->remove_run("r").code() == Code::not_found);
  CHECK(store->read_journal("r")->empty());
  CHECK(store->read_journal("r1")->size() == 2);
  CHECK(*store->read_journal("r.1") == std::vector<std::string>{"r.1", "r.1"});
}

TEST_CASE("a second opener in the same process is refused too") {
  const ScratchFolder scratch;
  const std::unique_ptr<Store> store = opened(scratch.path("s"));
  const Status status = Store::open(scratch.path("s")).status();
  CHECK(status.code() == Code::conflict);
  CHECK_THAT(status.message(), Contains(std::to_string(::getpid())));
}

TEST_CASE("damaged values are named, the others still read") {
  const ScratchFolder scratch;
  const std::string dir = scratch.path("s");
  {
    const std::unique_ptr<Store> store = opened(dir);
    REQUIRE(store->put_run(run("good", 1)).ok());
    REQUIRE(store->append_journal("good", 0, "x").ok());
    REQUIRE(store->append_journal("gap", 1, "x").ok());
  }
  poke(dir, "runs", "bad", "garbage");
  std::string other_version = encode_run(run("future", 1));
  other_version[4] = 2;
  poke(dir, "runs", "future", other_version);
  poke(dir, "journal", std::string("good\0\0\0\0\1", 9), "torn");
  const std::unique_ptr<Store> store = opened(dir);
  CHECK(store->get_run("good").ok());
  CHECK(store->get_run("bad").status().code() == Code::corrupt);
  CHECK_THAT(store->get_run("future").status().message(),
             Contains("'future'") && Contains("version 2"));
  CHECK_THAT(store->list_runs(10).status().message(), Contains("'bad'"));
  CHECK_THAT(store->read_journal("good").status().message(), Contains("journal/good/1"));
  CHECK_THAT(store->read_journal("gap").status().message(), Contains("journal/gap/0"));
  CHECK(store->remove_run("bad").ok());
  CHECK(store->remove_run("future").ok());
  CHECK(ids(store->list_runs(10)) == std::vector<std::string>{"good"});
}

TEST_CASE("what is not a store is an error, not a new store") {
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch.path("s/db"));
  std::ofstream(scratch.path("s/db/CURRENT")) << "nonsense";
  CHECK_FALSE(Store::open(scratch.path("s")).ok());
  CHECK_FALSE(Store::open("/proc/no/such").ok());
}

TEST_CASE("many threads write at once") {
  const ScratchFolder scratch;
  const std::unique_ptr<Store> store = opened(scratch.path("s"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, id = "t" + std::to_string(t)] {
      for (uint32_t i = 0; i < 200; ++i) {
        const bool ok =
            store->append_journal(id, i, id).ok() && (i % 50 != 0 || store->sync().ok());
        if (!ok) {
          return;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int t = 0; t < 4; ++t) {
    CHECK(store->read_journal("t" + std::to_string(t))->size() == 200);
  }
}

TEST_CASE("where a write fails the store takes no more, and the process lives") {
  // A limit on the size of files stands for a full disk: both fail the append in the kernel.
  const ScratchFolder scratch;
  auto store = Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {64 << 10, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string entry(4096, 'x');
  Status failed;
  for (uint32_t i = 0; i < 64 && failed.ok(); ++i) {
    failed = (*store)->append_journal("run", i, entry);
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, signal_before);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.code() == Code::io);
  CHECK_FALSE((*store)->append_journal("run", 64, entry).ok());  // also once there is room again
  CHECK_FALSE((*store)->sync().ok());
  store->reset();
  auto again = Store::open(scratch.path("store"));
  REQUIRE(again.ok());
  CHECK(!(*again)->read_journal("run")->empty());
}

}  // namespace thinkd::memory

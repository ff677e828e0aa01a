#pragma once
// The journal of a run: the results its strategy was given, in order, before it saw them. A
// strategy's only inputs are verb results, so feeding these to the same function again brings it
// where it was.
//
// Entry, little-endian:
//   u16 version | u16 kind (a verb's number, or kStopEntry) | u32 index | u64 ticket
//   u32 size + bytes: branch path | 32 bytes: argument hash | u32 size + bytes: payload
// Argument hash: SHA-256 of the request record, ticket 0, branches replaced by their recipe hashes.
// One entry for each finished branch of extend, one for each open (the recipe), logprobs, verify,
// now, and one for a stop from outside. An entry of another version is refused by name.
//
// One thread (the run's).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/status.h"

namespace thinkd::memory {
class Store;
}

namespace thinkd::search {

inline constexpr uint16_t kJournalVersion = 1;
inline constexpr uint16_t kStopEntry = 128;  // a deadline or a cancel took effect

struct Entry {
  uint16_t kind = 0;
  uint32_t index = 0;
  uint64_t ticket = 0;
  std::string branch;
  Sha256Digest arguments{};
  std::string payload;
  bool operator==(const Entry&) const = default;
};

std::string encode(const Entry& entry);
// conflict: another version, named; corrupt: anything else that is wrong.
Result<Entry> decode_entry(std::string_view bytes);
std::string_view kind_name(uint16_t kind);

// Where entries go. append() returns when kill -9 can no longer lose the entry.
class JournalSink {
 public:
  virtual ~JournalSink() = default;
  virtual Status append(uint32_t index, std::string_view bytes) = 0;
};

std::unique_ptr<JournalSink> store_sink(memory::Store& store, std::string run_id);
// For tests and runs without a store: keeps the bytes in `entries`, which outlives it; null keeps
// none.
std::unique_ptr<JournalSink> memory_sink(std::vector<std::string>* entries);

// A difference between the journal and what the strategy did or the engine gave.
struct JournalDifference {
  uint32_t index = 0;
  std::string verb;
  std::string branch;
  std::string logged;
  std::string generated;
};

// invalid where the environment's THINKD_FAULT says nothing that is understood: a crash that was
// asked for and never comes would be taken for a run that survives.
Status check_fault();

class Journal {
 public:
  enum class Mode : uint8_t {
    record,  // write; what `log` holds already is taken from it and must agree in its arguments
    replay,  // write nothing; everything is computed and compared with `log`
  };

  Journal(std::unique_ptr<JournalSink> sink, std::vector<Entry> log, Mode mode);

  // In record mode: the payload that the log holds for this piece of work, which then need not be
  // done. conflict where the log has the work with other arguments.
  Result<std::optional<std::string>> recorded(uint16_t kind, uint64_t ticket,
                                              std::string_view branch,
                                              const Sha256Digest& arguments) const;
  // Values that come from outside are fed from the log in both modes.
  std::optional<std::string> outside(uint16_t kind, uint64_t ticket) const;

  // Where the logged run was stopped from outside: index and payload of the entry.
  std::optional<std::pair<uint32_t, std::string>> logged_stop() const;

  // The next entry: written, or held against the log. conflict where they differ.
  Status add(uint16_t kind, uint64_t ticket, std::string branch, const Sha256Digest& arguments,
             std::string payload);

  uint32_t next_index() const { return next_; }
  uint32_t logged() const { return static_cast<uint32_t>(log_.size()); }
  const std::optional<JournalDifference>& difference() const { return difference_; }

 private:
  const Entry* find(uint16_t kind, uint64_t ticket, std::string_view branch) const;
  Status differs(const Entry& entry, std::string logged, std::string generated);

  std::unique_ptr<JournalSink> sink_;
  std::vector<Entry> log_;
  Mode mode_;
  uint32_t next_ = 0;
  std::optional<JournalDifference> difference_;
};

}  // namespace thinkd::search

#include "search/journal.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/bytes.h"
#include "base/text.h"
#include "memory/store.h"
#include "plugins/sdk/verbs.h"

namespace thinkd::search {
namespace {

class StoreSink : public JournalSink {
 public:
  StoreSink(memory::Store& store, std::string run_id) : store_(store), run_id_(std::move(run_id)) {}
  Status append(uint32_t index, std::string_view bytes) override {
    return store_.append_journal(run_id_, index, bytes);
  }

 private:
  memory::Store& store_;
  const std::string run_id_;
};

class MemorySink : public JournalSink {
 public:
  explicit MemorySink(std::vector<std::string>* entries) : entries_(entries) {}
  Status append(uint32_t index, std::string_view bytes) override {
    if (entries_) {
      entries_->resize(std::max<size_t>(entries_->size(), index + 1));
      (*entries_)[index] = bytes;
    }
    return {};
  }

 private:
  std::vector<std::string>* entries_;
};

constexpr char kFaultVariable[] = "THINKD_FAULT";
constexpr std::string_view kFaultPrefix = "journal:";

// The crash suite's hook: with THINKD_FAULT="journal:N" in the environment this process kills
// itself (SIGKILL) right after entry N of any run is written. Read once.
std::optional<uint64_t> fault_index() {
  const char* text = std::getenv(kFaultVariable);
  if (text == nullptr || !std::string_view(text).starts_with(kFaultPrefix)) {
    return std::nullopt;
  }
  return parse_uint(std::string_view(text).substr(kFaultPrefix.size()));
}

void die_if_asked(uint32_t index) {
  static const std::optional<uint64_t> fault = fault_index();
  if (fault && *fault == index) {
    kill(getpid(), SIGKILL);
  }
}

std::string shortened(std::string_view payload) {
  constexpr size_t kShown = 64;
  const std::string shown = hex(std::span(reinterpret_cast<const uint8_t*>(payload.data()),
                                          std::min(payload.size(), kShown)));
  return payload.size() > kShown ? shown + "... (" + std::to_string(payload.size()) + " bytes)"
                                 : shown;
}

}  // namespace

Status check_fault() {
  const char* text = std::getenv(kFaultVariable);
  if (text == nullptr || fault_index()) {
    return {};
  }
  return invalid(std::string(kFaultVariable) + ": '" +
                 escape_controls(repair_utf8(std::string_view(text).substr(0, 80))) +
                 "' is not journal:N");
}

std::string encode(const Entry& entry) {
  ByteWriter writer;
  writer.write(kJournalVersion).write(entry.kind).write(entry.index).write(entry.ticket);
  writer.sized_text(entry.branch);
  writer.text(std::string_view(reinterpret_cast<const char*>(entry.arguments.data()),
                               entry.arguments.size()));
  writer.sized_text(entry.payload);
  return writer.take();
}

Result<Entry> decode_entry(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.read<uint16_t>();
  if (!reader.failed() && version != kJournalVersion) {
    return conflict("journal entry of version " + std::to_string(version) +
                    "; this build reads version " + std::to_string(kJournalVersion));
  }
  Entry entry;
  entry.kind = reader.read<uint16_t>();
  entry.index = reader.read<uint32_t>();
  entry.ticket = reader.read<uint64_t>();
  entry.branch = reader.sized_text();
  entry.arguments = reader.read<Sha256Digest>();
  entry.payload = reader.sized_text();
  if (!reader.done()) {
    return corrupt("journal entry of " + std::to_string(bytes.size()) +
                   " bytes: its lengths do not add up");
  }
  return entry;
}

std::string_view kind_name(uint16_t kind) {
  return kind == kStopEntry ? "stop" : sdk::verb_name(static_cast<sdk::Verb>(kind));
}

std::unique_ptr<JournalSink> store_sink(memory::Store& store, std::string run_id) {
  return std::make_unique<StoreSink>(store, std::move(run_id));
}

std::unique_ptr<JournalSink> memory_sink(std::vector<std::string>* entries) {
  return std::make_unique<MemorySink>(entries);
}

Journal::Journal(std::unique_ptr<JournalSink> sink, std::vector<Entry> log, Mode mode)
    : sink_(std::move(sink)), log_(std::move(log)), mode_(mode) {}

// Tickets grow with the log but for work of one batch that ended out of order, so look near the
// cursor.
const Entry* Journal::find(uint16_t kind, uint64_t ticket, std::string_view branch) const {
  for (size_t i = next_; i < log_.size(); ++i) {
    const Entry& entry = log_[i];
    if (entry.kind == kind && entry.ticket == ticket &&
        (branch.empty() || entry.branch == branch)) {
      return &entry;
    }
  }
  return nullptr;
}

Result<std::optional<std::string>> Journal::recorded(uint16_t kind, uint64_t ticket,
                                                     std::string_view branch,
                                                     const Sha256Digest& arguments) const {
  if (mode_ == Mode::replay) {
    return std::optional<std::string>();
  }
  const Entry* entry = find(kind, ticket, branch);
  if (entry == nullptr) {
    return std::optional<std::string>();
  }
  if (entry->arguments != arguments) {
    return conflict("journal entry " + std::to_string(entry->index) + " (" +
                    std::string(kind_name(kind)) + " of branch " + std::string(branch) +
                    "): the arguments differ from what the strategy asks now");
  }
  return std::optional(entry->payload);
}

std::optional<std::string> Journal::outside(uint16_t kind, uint64_t ticket) const {
  const Entry* entry = find(kind, ticket, "");
  return entry ? std::optional(entry->payload) : std::nullopt;
}

std::optional<std::pair<uint32_t, std::string>> Journal::logged_stop() const {
  for (const Entry& entry : log_) {
    if (entry.kind == kStopEntry) {
      return std::pair(entry.index, entry.payload);
    }
  }
  return std::nullopt;
}

Status Journal::differs(const Entry& entry, std::string logged, std::string generated) {
  difference_ = JournalDifference{next_, std::string(kind_name(entry.kind)), entry.branch,
                                  std::move(logged), std::move(generated)};
  return conflict("journal entry " + std::to_string(next_) + ": " + difference_->verb +
                  " of branch " + entry.branch + " differs from the log: logged " +
                  difference_->logged + ", now " + difference_->generated);
}

Status Journal::add(uint16_t kind, uint64_t ticket, std::string branch,
                    const Sha256Digest& arguments, std::string payload) {
  const Entry entry{kind, next_, ticket, std::move(branch), arguments, std::move(payload)};
  if (next_ < log_.size()) {
    const Entry& logged = log_[next_];
    const auto place = [](const Entry& e) {
      return std::string(kind_name(e.kind)) + " ticket " + std::to_string(e.ticket) + " branch " +
             e.branch;
    };
    if (logged.kind != entry.kind || logged.ticket != entry.ticket ||
        logged.branch != entry.branch) {
      return differs(entry, place(logged), place(entry));
    }
    if (logged.arguments != entry.arguments) {
      return differs(entry, "arguments " + hex(logged.arguments),
                     "arguments " + hex(entry.arguments));
    }
    if (logged.payload != entry.payload) {
      return differs(entry, shortened(logged.payload), shortened(entry.payload));
    }
    ++next_;
    return {};
  }
  if (mode_ == Mode::replay) {
    ++next_;
    return {};
  }
  THINKD_CHECK(sink_->append(next_, encode(entry)));
  die_if_asked(next_);
  ++next_;
  return {};
}

}  // namespace thinkd::search

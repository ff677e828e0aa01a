#include "eval/log.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>

#include "base/json.h"

namespace thinkd::eval {
namespace {

struct Contents {
  std::vector<Sample> samples;
  uint64_t whole_bytes = 0;  // up to the end of the last good line
};

Result<Contents> read_log(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) {
    return file.status();
  }
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  Contents out;
  std::set<std::tuple<std::string, std::string, uint64_t>> seen;
  while (out.whole_bytes < text.size()) {
    const size_t end = text.find('\n', out.whole_bytes);
    if (end == std::string_view::npos) {
      break;
    }
    const std::string_view line = text.substr(out.whole_bytes, end - out.whole_bytes);
    Result<Sample> sample = sample_from_line(line);
    if (!sample) {
      if (end + 1 == text.size()) {
        break;
      }
      return corrupt(path + ':' + std::to_string(out.samples.size() + 1) + ": " +
                     sample.status().message());
    }
    if (!seen.emplace(sample->problem_id, sample->strategy, sample->sample).second) {
      return corrupt(path + ':' + std::to_string(out.samples.size() + 1) + ": problem '" +
                     sample->problem_id + "', strategy '" + sample->strategy + "', sample " +
                     std::to_string(sample->sample) + " stands twice");
    }
    out.samples.push_back(*std::move(sample));
    out.whole_bytes = end + 1;
  }
  return out;
}

}  // namespace

std::string to_line(const Sample& sample) {
  OrderedJson out;
  out["problem_id"] = sample.problem_id;
  out["strategy"] = sample.strategy;
  out["sample"] = sample.sample;
  out["outcome"] = to_string(sample.outcome);
  out["reason"] = sample.reason;
  out["answer"] = sample.answer ? OrderedJson(*sample.answer) : OrderedJson();
  out["confidence"] = sample.confidence ? OrderedJson(*sample.confidence) : OrderedJson();
  out["text"] = sample.text;
  out["stopped_by"] = sample.stopped_by;
  out["candidates"] = sample.candidates;
  out["ledger"] = search::to_json(sample.ledger);
  out["seed"] = sample.seed;
  out["seconds"] = sample.seconds;
  return to_text(out) + '\n';
}

Result<Sample> sample_from_line(std::string_view line) {
  const Result<Json> json = parse_json(line);
  if (!json) {
    return corrupt(json.status().message());
  }
  Sample out;
  try {
    json->at("problem_id").get_to(out.problem_id);
    json->at("strategy").get_to(out.strategy);
    json->at("sample").get_to(out.sample);
    const std::optional<Outcome> outcome = outcome_of(json->at("outcome").get<std::string>());
    if (!outcome) {
      return corrupt("unknown outcome " + to_text(json->at("outcome")));
    }
    out.outcome = *outcome;
    json->at("reason").get_to(out.reason);
    if (const Json& answer = json->at("answer"); !answer.is_null()) {
      out.answer = answer.get<std::string>();
    }
    if (const Json& confidence = json->at("confidence"); !confidence.is_null()) {
      out.confidence = confidence.get<double>();
    }
    json->at("text").get_to(out.text);
    json->at("stopped_by").get_to(out.stopped_by);
    json->at("candidates").get_to(out.candidates);
    out.ledger = search::ledger_from_json(json->at("ledger"));
    json->at("seed").get_to(out.seed);
    json->at("seconds").get_to(out.seconds);
  } catch (const nlohmann::json::exception& error) {
    return corrupt(error.what());
  }
  return out;
}

Result<std::vector<Sample>> read_samples(const std::string& path) {
  Result<Contents> contents = read_log(path);
  if (!contents) {
    return contents.status();
  }
  return std::move(contents->samples);
}

Result<std::unique_ptr<SampleLog>> SampleLog::open(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Result<Owner> owner = Owner::claim(folder + "/owner.pid", "the folder '" + folder + "'");
  if (!owner) {
    return owner.status();
  }
  Result<AppendFile> file = AppendFile::open(path);
  if (!file) {
    return file.status();
  }
  Result<Contents> contents = read_log(path);
  if (!contents) {
    return contents.status();
  }
  if (::truncate(path.c_str(), static_cast<off_t>(contents->whole_bytes)) != 0) {
    return io_error("cannot cut the torn last line of '" + path +
                    "': " + std::generic_category().message(errno));
  }
  THINKD_CHECK(file->sync());
  return std::make_unique<SampleLog>(
      Opened{*std::move(owner), *std::move(file), std::move(contents->samples)});
}

SampleLog::SampleLog(Opened opened)
    : owner_(std::move(opened.owner)),
      file_(std::move(opened.file)),
      found_(std::move(opened.found)) {}

Status SampleLog::add(const Sample& sample) {
  const std::string line = to_line(sample);
  std::unique_lock guard(mutex_);
  THINKD_CHECK(failure_);
  failure_ = file_.append(line);
  THINKD_CHECK(failure_);
  const uint64_t mine = ++written_lines_;
  while (synced_lines_ < mine && failure_.ok()) {
    if (syncing_) {
      synced_.wait(guard);
      continue;
    }
    syncing_ = true;
    const uint64_t upto = written_lines_;
    guard.unlock();
    const Status synced = file_.sync();
    guard.lock();
    syncing_ = false;
    if (synced.ok()) {
      synced_lines_ = upto;
    } else {
      failure_ = synced;
    }
    synced_.notify_all();
  }
  return failure_;
}

}  // namespace thinkd::eval

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/text.h"
#include "daemon/models/part_file.h"
#include "daemon/models/pull_sources.h"

namespace thinkd::daemon {
namespace {

constexpr long kRedirects = 5;
constexpr long kConnectSeconds = 30;
constexpr long kStallBytes = 1'024;  // a second, over
constexpr long kStallSeconds = 60;
constexpr long kPartial = 206;
constexpr long kRangeRefused = 416;

using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// One transfer: what the callbacks of libcurl need, which may not throw.
struct Transfer {
  CURL* handle = nullptr;
  PartFile* part = nullptr;
  const PullOptions* options = nullptr;
  uint64_t resumed_at = 0;
  bool started = false;
  bool unchecked = false;     // a rest came for which no hash is known
  std::string linked_sha256;  // what the hub says the file's hash is; "" if it does not
  Status status;              // why a callback ended the transfer
};

// "x-linked-etag: "<64 hex>"" comes with the hub's redirect for files kept by content hash.
size_t on_header(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  std::string line(data, size * count);
  std::transform(line.begin(), line.end(), line.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::string_view kName = "x-linked-etag:";
  if (line.starts_with(kName)) {
    std::string value(trim(std::string_view(line).substr(kName.size())));
    std::erase(value, '"');
    if (value.size() == 64 && value.find_first_not_of("0123456789abcdef") == std::string::npos) {
      transfer.linked_sha256 = value;
    }
  }
  return size * count;
}

// At the first byte of the answer: is it the rest that was asked for, or the whole again?
Status start(Transfer& transfer) {
  long code = 0;
  curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &code);
  if (code != kPartial && transfer.resumed_at != 0) {
    transfer.resumed_at = 0;
    THINKD_CHECK(transfer.part->restart());
  }
  if (transfer.resumed_at != 0 && transfer.options->sha256.empty() &&
      transfer.linked_sha256.empty()) {
    transfer.unchecked = true;
    return conflict("the file may have changed since the first part of it came");
  }
  curl_off_t length = -1;
  curl_easy_getinfo(transfer.handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  const uint64_t total = transfer.resumed_at + (length > 0 ? static_cast<uint64_t>(length) : 0);
  if (total > transfer.options->size_limit) {
    return over_limit("the hub's file has " + std::to_string(total) + " bytes, the limit is " +
                      std::to_string(transfer.options->size_limit));
  }
  return {};
}

Status take(Transfer& transfer, std::span<const uint8_t> bytes) {
  if (!transfer.started) {
    transfer.started = true;
    THINKD_CHECK(start(transfer));
  }
  if (transfer.part->bytes() + bytes.size() > transfer.options->size_limit) {
    return over_limit("the hub sends more than the limit of " +
                      std::to_string(transfer.options->size_limit) + " bytes");
  }
  return transfer.part->add(bytes);
}

size_t on_body(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.status = take(transfer, {reinterpret_cast<const uint8_t*>(data), size * count});
  return transfer.status.ok() ? size * count : 0;
}

int on_progress(void* user, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (!transfer.options->progress) {
    return 0;
  }
  const uint64_t before = transfer.resumed_at;
  PullProgress progress{
      .doing = "downloading", .bytes = before + static_cast<uint64_t>(now), .total = 0};
  if (total > 0) {
    progress.total = before + static_cast<uint64_t>(total);
  }
  if (transfer.options->progress(progress)) {
    return 0;
  }
  transfer.status = cancelled("the download was ended; pull again to go on from here");
  return 1;
}

void set_up(CURL* handle, const std::string& url, Transfer& transfer, char* error) {
  const char* schemes = transfer.options->plain_http ? "http,https" : "https";
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, schemes);
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, schemes);
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, kRedirects);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, kStallBytes);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "thinkd");
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
}

Status failure(CURLcode code, long http, const char* error, const std::string& url) {
  const std::string detail = error[0] != '\0' ? error : curl_easy_strerror(code);
  if (http == 404) {
    return not_found("'" + url + "': the hub has no such file (404)");
  }
  if (http == 401 || http == 403) {
    return unavailable("'" + url + "': the hub refuses it (" + std::to_string(http) +
                       "); it may need an account or an accepted licence");
  }
  return unavailable("'" + url + "': " + detail);
}

struct Answer {
  CURLcode code = CURLE_OK;
  long http = 0;
  std::string error;
};

// What came stays for the next try; an empty part is of no use to it.
Status keep_for_later(PartFile& part, Status why) {
  if (part.bytes() == 0) {
    part.remove();
  }
  return why;
}

Result<Answer> fetch(const std::string& url, Transfer& transfer) {
  const Handle handle(curl_easy_init(), &curl_easy_cleanup);
  if (!handle) {
    return internal_error("libcurl does not start");
  }
  char error[CURL_ERROR_SIZE] = "";
  transfer.handle = handle.get();
  transfer.started = false;
  transfer.resumed_at = transfer.part->bytes();
  set_up(handle.get(), url, transfer, error);
  if (transfer.resumed_at != 0) {
    const std::string range = std::to_string(transfer.resumed_at) + "-";
    curl_easy_setopt(handle.get(), CURLOPT_RANGE, range.c_str());
  }
  Answer answer;
  answer.code = curl_easy_perform(handle.get());
  answer.error = error;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &answer.http);
  return answer;
}

}  // namespace

Result<std::string> pull_hub(std::string_view repository, std::string_view file,
                             const std::string& path, const PullOptions& options) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  if (!options.plain_http && !options.hub.starts_with("https://")) {
    return invalid("hub '" + options.hub + "': only https:// is allowed");
  }
  Result<PartFile> part = PartFile::open(path, true);
  THINKD_CHECK(part.status());
  const std::string url =
      options.hub + "/" + std::string(repository) + "/resolve/main/" + std::string(file);
  Transfer transfer{.handle = nullptr,
                    .part = &*part,
                    .options = &options,
                    .resumed_at = 0,
                    .started = false,
                    .unchecked = false,
                    .linked_sha256 = {},
                    .status = {}};
  Result<Answer> answer = fetch(url, transfer);
  THINKD_CHECK(answer.status());
  if (answer->http == kRangeRefused && transfer.resumed_at != 0) {
    // Nothing is left to send, or the file is another now: the hash decides; where none is known,
    // anew.
    const std::string known = options.sha256.empty() ? transfer.linked_sha256 : options.sha256;
    if (!known.empty()) {
      return part->finish(0, known);
    }
    transfer.unchecked = true;
  }
  if (transfer.unchecked) {
    transfer.status = Status();
    THINKD_CHECK(part->restart());
    answer = fetch(url, transfer);
    THINKD_CHECK(answer.status());
  }
  if (!transfer.status.ok()) {
    return keep_for_later(*part, transfer.status);
  }
  if (answer->code != CURLE_OK) {
    return keep_for_later(*part, failure(answer->code, answer->http, answer->error.c_str(), url));
  }
  return part->finish(0, options.sha256.empty() ? transfer.linked_sha256 : options.sha256);
}

}  // namespace thinkd::daemon

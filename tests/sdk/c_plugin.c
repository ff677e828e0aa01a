/* A plugin in C99 with the ABI header alone: opens a branch of text "hi" and emits it as a
 * candidate. */
#include "plugins/sdk/thinkd_plugin.h"

static void put(uint8_t* at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    at[i] = (uint8_t)(value >> (8 * i));
  }
}

/* The result of open: header 16, status 4, branch 8, length 4. */
static void take_branch(void* sink_context, const uint8_t* record, size_t size) {
  uint64_t branch = 0;
  if (size == 32 && record[16] == 0) {
    for (int i = 7; i >= 0; --i) {
      branch = branch << 8 | record[20 + i];
    }
  }
  *(uint64_t*)sink_context = branch;
}

static thinkd_status run(const void* self, const thinkd_host* host, const uint8_t* request,
                         size_t size) {
  uint8_t open[32] = {0};
  uint8_t emit[32] = {0};
  uint64_t ticket = 0;
  uint64_t branch = 0;
  thinkd_status status;
  (void)self;
  (void)request;
  (void)size;
  put(open, sizeof(open), 4); /* size, verb open, version 1 */
  put(open + 4, 1, 2);
  put(open + 6, 1, 2);
  open[16] = 1;         /* source: text; no messages */
  put(open + 21, 2, 4); /* text "hi" */
  open[25] = 'h';
  open[26] = 'i'; /* no tokens, no template */
  status = host->submit(host->context, open, sizeof(open), &ticket);
  if (status != THINKD_OK) {
    return status;
  }
  status = host->wait(host->context, &ticket, 1, THINKD_ALL, take_branch, &branch);
  if (status != THINKD_OK) {
    return status;
  }
  if (branch == 0) {
    host->fail(host->context, "no branch", 9);
    return THINKD_FAILED;
  }
  put(emit, sizeof(emit), 4); /* size, verb emit, version 1 */
  put(emit + 4, 17, 2);
  put(emit + 6, 1, 2);
  emit[16] = 1; /* a candidate; no score, no text, rule first, weighting raw */
  put(emit + 17, branch, 8);
  return host->submit(host->context, emit, sizeof(emit), &ticket);
}

static const thinkd_strategy kStrategy = {sizeof(thinkd_strategy),
                                          THINKD_STRATEGY,
                                          "hi",
                                          "says hi",
                                          "none",
                                          "{\"type\":\"object\"}",
                                          NULL,
                                          run,
                                          NULL};
static const thinkd_strategy* const kStrategies[] = {&kStrategy};
static const thinkd_plugin kPlugin = {
    sizeof(thinkd_plugin), THINKD_ABI_MINOR, "hi", "1.0", 1, kStrategies};

const thinkd_plugin* thinkd_plugin_entry(uint32_t abi_major, uint32_t abi_minor) {
  (void)abi_minor;
  return abi_major == THINKD_ABI_MAJOR ? &kPlugin : NULL;
}

#pragma once
// Every limit that thinkd puts on what comes from outside, in one table. docs/limits.md shows the
// same names and numbers; a test holds the two together. A limit named in an error is one of these.

#include <cstdint>

namespace thinkd::limits {

// Model files.
inline constexpr uint64_t kGgufTensors = 65'536;
inline constexpr uint64_t kGgufKeys = 4'096;
inline constexpr uint64_t kGgufStringBytes = 1 << 20;
inline constexpr uint64_t kGgufArrayItems = 1 << 20;
inline constexpr uint64_t kGgufAlignment = 4'096;
inline constexpr uint32_t kModelLayers = 1'024;
inline constexpr uint32_t kModelWidth = 65'536;
inline constexpr uint32_t kModelContext = 1 << 20;
inline constexpr uint32_t kModelFfn = 1 << 18;
inline constexpr uint32_t kModelHeads = 1'024;
inline constexpr uint32_t kModelHeadSize = 1'024;
inline constexpr uint32_t kModelVocabulary = 1 << 20;
inline constexpr uint32_t kTokenPieceBytes = 1'024;

// Chat templates.
inline constexpr uint64_t kTemplateBytes = 1 << 16;
inline constexpr uint64_t kTemplateSteps = 1'000'000;
inline constexpr uint64_t kTemplateOutputBytes = 8 << 20;
inline constexpr uint32_t kTemplateDepth = 64;

// JSON from anywhere.
inline constexpr uint32_t kJsonDepth = 32;
inline constexpr uint32_t kJsonMembers = 10'000;

// Requests.
inline constexpr uint64_t kHttpHeaderBytes = 16 << 10;
inline constexpr uint64_t kHttpBodyBytes = 4 << 20;
inline constexpr uint32_t kHttpHeaderSeconds = 5;
inline constexpr uint32_t kHttpBodySeconds = 30;
inline constexpr uint32_t kHttpIdleSeconds = 60;
inline constexpr uint32_t kRpcBatchItems = 64;
inline constexpr uint32_t kConnections = 1'024;
inline constexpr uint64_t kProgressBacklogBytes = 256 << 10;
inline constexpr uint32_t kMessages = 4'096;
inline constexpr uint32_t kStopTexts = 4;
inline constexpr uint32_t kStopTextBytes = 256;
inline constexpr uint32_t kTopLogprobs = 20;

// Searches.
inline constexpr uint32_t kSamples = 4'096;       // n of one strategy
inline constexpr uint32_t kBranches = 4'097;      // live branches of one run: samples and root
inline constexpr uint32_t kTreeNodes = 65'536;    // branches one run may ever open
inline constexpr uint32_t kStrategyThreads = 64;  // strategies running at once; the rest queue
inline constexpr uint32_t kQueuedRuns = 4'096;
inline constexpr uint32_t kListedRuns = 100'000;
inline constexpr uint64_t kRecordBytes = 16 << 20;  // one verb record
inline constexpr uint32_t kEmits = 65'536;          // events one run may emit
inline constexpr uint32_t kAttachments = 8;
inline constexpr uint32_t kNameBytes = 64;  // of a strategy or a parameter
inline constexpr uint32_t kRunIdBytes = 128;

// Verifiers.
inline constexpr uint32_t kAnswerBytes = 4'096;
inline constexpr uint32_t kExpressionBytes = 1'024;
inline constexpr uint32_t kExpressionDepth = 64;

}  // namespace thinkd::limits

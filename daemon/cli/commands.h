#pragma once
// The commands. Each takes what was typed and gives the exit code; what it shows is in docs/cli.md.

#include "daemon/cli/arguments.h"

namespace thinkd::daemon {

// cli/text_commands.cc: the engine alone.
int run_tokenize(const Arguments& arguments);
int run_complete(const Arguments& arguments);
int run_score(const Arguments& arguments);

// cli/ask.cc
int run_ask(const Arguments& arguments);

// cli/run_commands.cc: what became of earlier questions.
int run_resume(const Arguments& arguments);
int run_replay(const Arguments& arguments);
int run_runs_list(const Arguments& arguments);
int run_runs_show(const Arguments& arguments);
int run_runs_remove(const Arguments& arguments);

// cli/eval_commands.cc
int run_eval(const Arguments& arguments);
int run_eval_report(const Arguments& arguments);

// cli/list_commands.cc: what exists.
int run_strategies(const Arguments& arguments);
int run_verifiers(const Arguments& arguments);

// cli/model_commands.cc
int run_models_list(const Arguments& arguments);
int run_models_inspect(const Arguments& arguments);
int run_models_pull(const Arguments& arguments);

// main.cc
int run_serve(const Arguments& arguments);

}  // namespace thinkd::daemon

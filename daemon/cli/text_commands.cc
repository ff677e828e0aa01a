// tokenize, complete and score: the engine alone.

#include <nlohmann/json.hpp>

#include "base/entropy.h"
#include "base/limits.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/cli/request_flags.h"
#include "daemon/exit_code.h"
#include "daemon/house.h"
#include "daemon/models/model_folder.h"
#include "daemon/signals.h"
#include "daemon/text_query.h"

namespace thinkd::daemon {
namespace {

PromptOptions prompt_options(const Arguments& arguments) {
  return {arguments.has("raw"), arguments.has("special")};
}

Result<std::string> model_path(const Config& config) {
  const Result<std::string> folder = store_dir(config);
  return resolve_model(config.model, folder ? *folder : std::string());
}

Result<ContinueOptions> read_options(const Arguments& arguments) {
  ContinueOptions options;
  const auto tokens = arguments.count("tokens", 1, limits::kModelContext);
  THINKD_CHECK(tokens.status());
  options.tokens = static_cast<uint32_t>(tokens->value_or(options.tokens));
  Result<search::SamplingOverrides> sampling = read_sampling(arguments);
  THINKD_CHECK(sampling.status());
  options.sampling.temperature = static_cast<float>(sampling->temperature.value_or(0));
  options.sampling.top_p = static_cast<float>(sampling->top_p.value_or(1));
  options.sampling.min_p = static_cast<float>(sampling->min_p.value_or(0));
  options.sampling.top_k = static_cast<uint32_t>(sampling->top_k.value_or(0));
  options.stops = std::move(sampling->stop);
  const auto seed = arguments.count("seed", 0, UINT64_MAX);
  THINKD_CHECK(seed.status());
  options.seed = seed->has_value() ? **seed : draw_seed();
  const auto top = arguments.count("logprobs", 1, limits::kTopLogprobs);
  THINKD_CHECK(top.status());
  options.top = static_cast<uint32_t>(top->value_or(0));
  options.prompt_logprobs = arguments.json();
  return options;
}

std::string shown_piece(const engine::LanguageModel& model, engine::Token token) {
  const std::vector<engine::Token> one = {token};
  return to_text(Json(model.tokenizer->decode(one, true)));
}

void print_top(const engine::LanguageModel& model, const TopTokens& top) {
  for (const auto& [token, logprob] : top) {
    print("    " + shown_number(logprob, 4) + "  " + shown_piece(model, token));
  }
}

// One line a token: its log-prob and how it is written.
void print_tokens(const engine::LanguageModel& model, std::span<const engine::Token> ids,
                  std::span<const double> logprobs, std::span<const TopTokens> top) {
  for (size_t i = 0; i < ids.size() && i < logprobs.size(); ++i) {
    print(shown_number(logprobs[i], 4) + "  " + shown_piece(model, ids[i]));
    if (i < top.size()) {
      print_top(model, top[i]);
    }
  }
}

void print_score(const engine::LanguageModel& model, const Continued& result) {
  const std::span<const engine::Token> ids(result.prompt_ids);
  if (!ids.empty()) {
    print("-  " + shown_piece(model, ids[0]));
    print_tokens(model, ids.subspan(1), result.prompt_logprobs, result.prompt_top);
  }
  double sum = 0;
  for (double logprob : result.prompt_logprobs) {
    sum += logprob;
  }
  print("sum " + shown_number(sum, 4) + " over " + std::to_string(result.prompt_logprobs.size()) +
        " tokens");
}

int run_continued(const Arguments& arguments, bool with_score) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  const Result<std::string> text = given_text(arguments, "TEXT");
  if (!text) {
    return fail(text.status());
  }
  Result<ContinueOptions> options = read_options(arguments);
  if (!options) {
    return fail(options.status());
  }
  if (with_score) {
    options->tokens = 0;
    options->prompt_logprobs = true;
  }
  SignalWatch signals;
  const Result<std::unique_ptr<engine::Engine>> engine = load_engine(*config);
  if (!engine) {
    return fail(engine.status());
  }
  const engine::LanguageModel& model = (*engine)->model();
  Result<std::vector<engine::Token>> prompt =
      prompt_tokens(model, *text, prompt_options(arguments));
  if (!prompt) {
    return fail(prompt.status());
  }
  const std::unique_ptr<engine::Query> query = (*engine)->new_query({});
  signals.set_handler([&query] { query->stop(); });
  Result<Continued> result = Status(Code::internal, "nothing ran");
  {
    const ProgressLine progress([](double seconds) { return shown_number(seconds, 0) + " s"; });
    result = continue_text(**engine, *query, *std::move(prompt), *options);
  }
  const bool interrupted = signals.fired();
  signals.set_handler(nullptr);  // the query ends before the watch does
  if (!result) {
    return fail(result.status());
  }
  const bool drawn = !with_score && options->sampling.temperature > 0;
  if (arguments.json()) {
    OrderedJson out = to_json(*result, *options);
    if (drawn) {
      out["seed"] = options->seed;
    }
    print(to_text(out));
  } else if (with_score) {
    print_score(model, *result);
  } else {
    print(result->text);
    if (options->top > 0) {
      print_tokens(model, result->ids, result->logprobs, result->top);
    }
    if (drawn) {
      print("seed " + std::to_string(options->seed));
    }
  }
  return interrupted ? kExitInterrupted : kExitDone;
}

}  // namespace

int run_tokenize(const Arguments& arguments) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  const Result<std::string> text = given_text(arguments, "TEXT");
  if (!text) {
    return fail(text.status());
  }
  const Result<std::string> path = model_path(*config);
  if (!path) {
    return fail(path.status());
  }
  const Result<std::unique_ptr<engine::LanguageModel>> words = load_words(*path);
  if (!words) {
    return fail(words.status());
  }
  const Result<std::vector<engine::Token>> ids =
      prompt_tokens(**words, *text, prompt_options(arguments));
  if (!ids) {
    return fail(ids.status());
  }
  if (arguments.json()) {
    print(to_text(OrderedJson{{"ids", *ids}}));
    return kExitDone;
  }
  std::string line;
  for (engine::Token id : *ids) {
    line += (line.empty() ? "" : " ") + std::to_string(id);
  }
  print(line);
  return kExitDone;
}

int run_complete(const Arguments& arguments) { return run_continued(arguments, false); }
int run_score(const Arguments& arguments) { return run_continued(arguments, true); }

}  // namespace thinkd::daemon

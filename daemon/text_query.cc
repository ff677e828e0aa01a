#include "daemon/text_query.h"

#include <nlohmann/json.hpp>

#include "base/philox.h"
#include "engine/model/gguf.h"
#include "engine/model/tokenizer_keys.h"
#include "search/prompt.h"

namespace thinkd::daemon {
namespace {

using engine::Token;

Result<std::vector<Token>> special_tokens(const engine::LanguageModel& model,
                                          const std::string& text, bool raw) {
  const engine::Vocabulary& vocabulary = model.tokenizer->vocabulary();
  if (!raw && model.chat_template) {
    engine::RenderOptions options;
    options.bos_token = vocabulary.bos() ? vocabulary.bytes(*vocabulary.bos()) : "";
    options.eos_token = vocabulary.eos() ? vocabulary.bytes(*vocabulary.eos()) : "";
    const std::vector<engine::Message> messages = {{"user", text}};
    const Result<engine::RenderedText> rendered = model.chat_template->render(messages, options);
    if (!rendered) {
      return rendered.status().within("chat template");
    }
    return model.tokenizer->encode_special(rendered->text);
  }
  Result<std::vector<Token>> tokens = model.tokenizer->encode_special(raw ? text : text + "\n\n");
  if (tokens && vocabulary.add_bos() && vocabulary.bos()) {
    tokens->insert(tokens->begin(), *vocabulary.bos());
  }
  return tokens;
}

// One piece of work, waited for.
template <class Item>
engine::Finished run_one(engine::Query& query, Item item) {
  const std::vector<engine::WorkId> wanted = {query.submit(std::move(item))};
  engine::Finished done;
  query.advance(wanted, engine::Until::all,
                [&](engine::Finished finished) { done = std::move(finished); });
  return done;
}

struct Scored {
  std::vector<double> logprobs;
  std::vector<TopTokens> top;
};

Result<Scored> score(engine::Query& query, engine::Branch branch, std::span<const Token> tokens,
                     uint32_t top) {
  Scored scored;
  if (tokens.empty()) {
    return scored;
  }
  engine::LogprobsItem item;
  item.branch = std::move(branch);
  item.tokens.assign(tokens.begin(), tokens.end());
  item.top_k = top;
  engine::Finished done = run_one(query, std::move(item));
  THINKD_CHECK(done.status);
  for (engine::TokenLogprobs& token : std::get<engine::LogprobsResult>(done.result).tokens) {
    scored.logprobs.push_back(token.logprob);
    if (top > 0) {
      scored.top.push_back(std::move(token.top));
    }
  }
  return scored;
}

OrderedJson json_of(const TopTokens& tokens) {
  OrderedJson list = OrderedJson::array();
  for (const auto& [token, logprob] : tokens) {
    list.push_back({token, logprob});
  }
  return list;
}

}  // namespace

Result<std::vector<Token>> prompt_tokens(const engine::LanguageModel& model,
                                         const std::string& text, const PromptOptions& options) {
  if (options.special) {
    return special_tokens(model, text, options.raw);
  }
  if (options.raw) {
    return search::start_text(model, text);
  }
  const std::vector<engine::Message> messages = {{"user", text}};
  return search::render_messages(model, messages);
}

Result<std::unique_ptr<engine::LanguageModel>> load_words(const std::string& path) {
  Result<engine::GgufFile> file = engine::GgufFile::open(path);
  if (!file) {
    return file.status();
  }
  Result<engine::TokenizerSpec> spec = engine::read_tokenizer_spec(*file);
  THINKD_CHECK(spec.status().within(path));
  Result<std::unique_ptr<engine::Tokenizer>> tokenizer =
      engine::Tokenizer::create(*std::move(spec));
  THINKD_CHECK(tokenizer.status().within(path + ": tokenizer"));
  auto words = std::make_unique<engine::LanguageModel>();
  words->tokenizer = *std::move(tokenizer);
  if (file->has("tokenizer.chat_template")) {
    const Result<std::string> source = file->get_text("tokenizer.chat_template");
    THINKD_CHECK(source.status().within(path));
    Result<engine::ChatTemplate> parsed = engine::ChatTemplate::parse(*source);
    THINKD_CHECK(parsed.status().within(path + ": key 'tokenizer.chat_template'"));
    words->chat_template = *std::move(parsed);
  }
  return words;
}

Result<Continued> continue_text(engine::Engine& engine, engine::Query& query,
                                std::vector<Token> prompt, const ContinueOptions& options) {
  Continued out;
  out.prompt_ids = std::move(prompt);
  const std::span<const Token> ids(out.prompt_ids);
  if (options.prompt_logprobs && ids.size() > 1) {
    engine::Branch first = engine.new_branch();
    first.append(ids.first(1));
    const uint32_t top = options.tokens == 0 ? options.top : 0;
    Result<Scored> scored = score(query, std::move(first), ids.subspan(1), top);
    if (!scored) {
      return scored.status();
    }
    out.prompt_logprobs = std::move(scored->logprobs);
    out.prompt_top = std::move(scored->top);
  }
  if (options.tokens == 0) {
    return out;
  }
  if (ids.empty()) {
    return invalid("the prompt is empty: there is nothing to go on from");
  }
  engine::Branch branch = engine.new_branch();
  branch.append(ids);
  engine::ExtendItem item;
  item.branch = branch;
  item.max_tokens = options.tokens;
  item.sampling = options.sampling;
  item.stops = options.stops;
  item.key = draw_key(options.seed, "complete", "0", 0);
  engine::Finished done = run_one(query, std::move(item));
  THINKD_CHECK(done.status);
  auto& extended = std::get<engine::ExtendResult>(done.result);
  out.ids = std::move(extended.tokens);
  out.text = std::move(extended.text);
  out.logprobs = std::move(extended.logprobs);
  if (options.top > 0 && !query.stopped()) {
    Result<Scored> scored = score(query, std::move(branch), out.ids, options.top);
    if (!scored) {
      return scored.status();
    }
    out.top = std::move(scored->top);
  }
  return out;
}

OrderedJson to_json(const Continued& result, const ContinueOptions& options) {
  OrderedJson out;
  out["prompt_ids"] = result.prompt_ids;
  out["prompt_logprobs"] = OrderedJson::array();
  if (!result.prompt_ids.empty()) {
    out["prompt_logprobs"].push_back(nullptr);
  }
  for (double logprob : result.prompt_logprobs) {
    out["prompt_logprobs"].push_back(logprob);
  }
  out["ids"] = result.ids;
  out["text"] = result.text;
  out["logprobs"] = result.logprobs;
  if (options.top == 0) {
    return out;
  }
  out["top"] = OrderedJson::array();
  if (options.tokens == 0 && !result.prompt_ids.empty()) {
    out["top"].push_back(nullptr);
  }
  for (const TopTokens& tokens : options.tokens == 0 ? result.prompt_top : result.top) {
    out["top"].push_back(json_of(tokens));
  }
  return out;
}

}  // namespace thinkd::daemon

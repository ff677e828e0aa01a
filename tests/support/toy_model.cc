#include "tests/support/toy_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "base/philox.h"

namespace thinkd::testing {

namespace {

using engine::BlockRead;
using engine::kBlockTokens;
using engine::Row;
using engine::Token;

constexpr uint32_t kVocabulary = 258;

// A page: for each slot the token and the position its key was made for.
struct Slot {
  uint32_t token;
  int32_t position;
};

struct History {
  uint64_t hash = 0;
  uint32_t depth = 0;
};

void extend_history(const ToyOptions& options, History& history, Token token, int64_t position) {
  const PhiloxCounter mixed = philox4x32_10(
      {token, static_cast<uint32_t>(position), static_cast<uint32_t>(history.hash),
       static_cast<uint32_t>(history.hash >> 32)},
      {static_cast<uint32_t>(options.seed), static_cast<uint32_t>(options.seed >> 32)});
  history.hash = mixed[0] | uint64_t{mixed[1]} << 32;
  const bool letter =
      token < 256 && options.alphabet.find(static_cast<char>(token)) != std::string::npos;
  history.depth = letter ? history.depth + 1 : 0;
}

void history_logits(const ToyOptions& options, const History& history, float* logits) {
  for (uint32_t i = 0; i < kVocabulary; ++i) {
    logits[i] = -std::numeric_limits<float>::infinity();
  }
  const auto number = [&](Token token) {
    const PhiloxKey key = {static_cast<uint32_t>(history.hash),
                           static_cast<uint32_t>(history.hash >> 32)};
    return static_cast<float>(4 * uniform(key, token) - 2);
  };
  if (history.depth < options.depth) {
    for (char letter : options.alphabet) {
      logits[static_cast<uint8_t>(letter)] = number(static_cast<uint8_t>(letter));
    }
  }
  logits[kToyEnd] = number(kToyEnd) + static_cast<float>(options.end_logit);
}

class ToyRunner : public engine::ModelRunner {
 public:
  explicit ToyRunner(const ToyOptions& options) : options_(options) {
    shape_.vocabulary = kVocabulary;
    shape_.width = 5;  // the history's hash in four 16-bit pieces, and its depth
    shape_.context = options.context;
    shape_.page_bytes = kBlockTokens * sizeof(Slot);
    shape_.weights_per_row = 1000;
    shape_.attention_flops_per_key = 16;
  }

  const engine::ModelShape& shape() const override { return shape_; }

  void run(std::span<const Row> rows, std::span<const uint32_t> wanted, float* hidden) override {
    for (const Row& row : rows) {
      reinterpret_cast<Slot*>(row.page)[row.slot] = {row.token, static_cast<int32_t>(row.position)};
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      write_state(rows[wanted[i]], hidden + i * shape_.width);
    }
  }

  void logits(const float* hidden, uint32_t count, float* out) override {
    for (uint32_t i = 0; i < count; ++i) {
      const float* state = hidden + i * shape_.width;
      if (std::isnan(state[0])) {
        std::fill_n(out + uint64_t{i} * kVocabulary, kVocabulary, state[0]);
        continue;
      }
      History history;
      for (uint32_t piece = 0; piece < 4; ++piece) {
        history.hash |= static_cast<uint64_t>(state[piece]) << (16 * piece);
      }
      history.depth = static_cast<uint32_t>(state[4]);
      history_logits(options_, history, out + uint64_t{i} * kVocabulary);
    }
  }

  void parallel(uint32_t count, const std::function<void(uint32_t)>& task) override {
    std::vector<std::thread> threads;
    for (uint32_t t = 1; t < options_.threads; ++t) {
      threads.emplace_back([&, t] {
        for (uint32_t i = t; i < count; i += options_.threads) {
          task(i);
        }
      });
    }
    for (uint32_t i = 0; i < count; i += options_.threads) {
      task(i);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  std::string fingerprint() const override { return "toy"; }

 private:
  void write_state(const Row& row, float* state) const {
    History history;
    for (const BlockRead& read : row.reads) {
      for (uint32_t slot = read.from; slot < read.to; ++slot) {
        const Slot& stored = reinterpret_cast<const Slot*>(read.page)[slot];
        extend_history(options_, history, stored.token, stored.position + read.shift);
      }
    }
    for (uint32_t piece = 0; piece < 4; ++piece) {
      state[piece] = static_cast<float>(history.hash >> (16 * piece) & 0xffff);
    }
    state[4] = static_cast<float>(history.depth);
    if (options_.nan_after == row.token) {
      state[0] = std::numeric_limits<float>::quiet_NaN();
    }
  }

  const ToyOptions options_;
  engine::ModelShape shape_;
};

std::shared_ptr<const engine::Tokenizer> toy_tokenizer() {
  engine::TokenizerSpec spec;
  spec.pre = "smollm";
  // The byte alphabet of GPT-2: printable bytes stand for themselves, the rest moved past U+00FF.
  uint32_t moved = 0;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    const uint32_t point = itself ? byte : 256 + moved++;
    std::string piece;
    if (point < 128) {
      piece += static_cast<char>(point);
    } else {
      piece += static_cast<char>(0xc0 | point >> 6);
      piece += static_cast<char>(0x80 | (point & 0x3f));
    }
    spec.pieces.push_back(std::move(piece));
    spec.types.push_back(1);
  }
  spec.pieces.insert(spec.pieces.end(), {"<|im_start|>", "<|im_end|>"});
  spec.types.insert(spec.types.end(), {3, 3});
  spec.eos = kToyEnd;
  auto tokenizer = engine::Tokenizer::create(std::move(spec));
  assert(tokenizer.ok());
  return std::move(*tokenizer);
}

constexpr std::string_view kChatMl =
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] "
    "}}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

void enumerate_from(const ToyOptions& options, std::vector<Token>& history, ToyText so_far,
                    std::vector<ToyText>& out) {
  const std::vector<double> logprobs = toy_logprobs(options, history);
  for (Token token = 0; token < kVocabulary; ++token) {
    if (!std::isfinite(logprobs[token])) {
      continue;
    }
    ToyText next = so_far;
    next.probability *= std::exp(logprobs[token]);
    if (token == kToyEnd) {
      out.push_back(std::move(next));
      continue;
    }
    next.text += static_cast<char>(token);
    history.push_back(token);
    enumerate_from(options, history, std::move(next), out);
    history.pop_back();
  }
}

}  // namespace

std::unique_ptr<engine::LanguageModel> make_toy_model(const ToyOptions& options) {
  auto model = std::make_unique<engine::LanguageModel>();
  model->info.name = "toy";
  model->info.sha256 = "toy-" + std::to_string(options.seed) + "-" + options.alphabet + "-" +
                       std::to_string(options.depth);
  model->info.architecture = "toy";
  model->info.quantization = "F32";
  model->tokenizer = toy_tokenizer();
  auto chat = engine::ChatTemplate::parse(kChatMl);
  assert(chat.ok());
  model->chat_template = std::move(*chat);
  model->runner = std::make_unique<ToyRunner>(options);
  return model;
}

std::vector<double> toy_logprobs(const ToyOptions& options, std::span<const Token> tokens) {
  History history;
  for (size_t i = 0; i < tokens.size(); ++i) {
    extend_history(options, history, tokens[i], static_cast<int64_t>(i));
  }
  std::vector<float> logits(kVocabulary);
  history_logits(options, history, logits.data());
  double sum = 0;
  for (float logit : logits) {
    sum += std::exp(static_cast<double>(logit));
  }
  std::vector<double> logprobs;
  for (float logit : logits) {
    logprobs.push_back(logit - std::log(sum));
  }
  return logprobs;
}

std::vector<ToyText> enumerate_toy(const ToyOptions& options, std::string_view prompt) {
  std::vector<Token> history = toy_tokens(prompt);
  std::vector<ToyText> out;
  enumerate_from(options, history, {"", 1.0}, out);
  return out;
}

std::vector<Token> toy_tokens(std::string_view text) {
  std::vector<Token> tokens;
  for (char byte : text) {
    tokens.push_back(static_cast<uint8_t>(byte));
  }
  return tokens;
}

}  // namespace thinkd::testing

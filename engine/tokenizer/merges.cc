#include "engine/tokenizer/merges.h"

#include <limits>
#include <queue>

namespace thinkd::engine {

namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

uint64_t pair_key(Token left, Token right) { return uint64_t{left} << 32 | right; }

// A doubly linked list over the places of a word; a merged-away place has no token any more.
struct Link {
  size_t before;
  size_t after;
  bool alive;
};

// A pair that could merge when it was pushed; it may be gone when it is popped.
struct Candidate {
  uint32_t rank;
  size_t at;
  Token left;
  Token right;
  Token merged;

  bool operator>(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

}  // namespace

size_t Merges::Mix::operator()(uint64_t pair) const {
  pair *= 0x9E3779B97F4A7C15u;
  return pair ^ pair >> 32;
}

void Merges::add(Token left, Token right, Token merged) {
  rules_.try_emplace(pair_key(left, right), Rule{static_cast<uint32_t>(rules_.size()), merged});
}

const Merges::Rule* Merges::find(Token left, Token right) const {
  const auto rule = rules_.find(pair_key(left, right));
  return rule == rules_.end() ? nullptr : &rule->second;
}

std::vector<Token> Merges::apply(std::vector<Token> word) const {
  const size_t size = word.size();
  std::vector<Link> links(size);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](size_t at) {
    const size_t next = at == kNone ? kNone : links[at].after;
    if (next == kNone) {
      return;
    }
    if (const Rule* rule = find(word[at], word[next])) {
      candidates.push({rule->rank, at, word[at], word[next], rule->merged});
    }
  };
  for (size_t i = 0; i < size; ++i) {
    links[i] = {i == 0 ? kNone : i - 1, i + 1 == size ? kNone : i + 1, true};
  }
  for (size_t i = 0; i < size; ++i) {
    consider(i);
  }
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    const size_t next = links[best.at].after;
    if (!links[best.at].alive || next == kNone || word[best.at] != best.left ||
        word[next] != best.right) {
      continue;
    }
    word[best.at] = best.merged;
    links[best.at].after = links[next].after;
    links[next].alive = false;
    if (links[best.at].after != kNone) {
      links[links[best.at].after].before = best.at;
    }
    consider(links[best.at].before);
    consider(best.at);
  }
  std::vector<Token> merged;
  for (size_t i = 0; i < size; ++i) {
    if (links[i].alive) {
      merged.push_back(word[i]);
    }
  }
  return merged;
}

}  // namespace thinkd::engine

#include "engine/runner/attention.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace thinkd::engine {
namespace {

constexpr uint32_t kMostGroupRows = 64;
constexpr uint32_t kFewestGroupRows = 8;

bool pages_before(std::span<const BlockRead> a, std::span<const BlockRead> b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (a[i].page != b[i].page) {
      return std::less<>()(a[i].page, b[i].page);
    }
  }
  return a.size() < b.size();
}

}  // namespace

AttentionPlan plan_attention(std::span<const Row> rows, std::vector<uint32_t> chosen,
                             uint32_t groups_wanted) {
  AttentionPlan plan;
  plan.rows = rows;
  plan.chosen = std::move(chosen);
  const auto count = static_cast<uint32_t>(plan.chosen.size());
  plan.order.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    plan.order[i] = i;
  }
  std::sort(plan.order.begin(), plan.order.end(), [&](uint32_t a, uint32_t b) {
    return pages_before(rows[plan.chosen[a]].reads, rows[plan.chosen[b]].reads);
  });
  const uint32_t wanted = (count + groups_wanted - 1) / std::max(1u, groups_wanted);
  const uint32_t size = std::clamp(wanted, kFewestGroupRows, kMostGroupRows);
  for (uint32_t begin = 0; begin < count; begin += size) {
    plan.groups.push_back({begin, std::min(count, begin + size)});
  }
  return plan;
}

Attention::Attention(const TransformerConfig& config, const PageLayout& layout,
                     const Kernels& kernels, const RopeTable& rope, ThreadPool& pool)
    : config_(config),
      layout_(layout),
      kernels_(kernels),
      rope_(rope),
      pool_(pool),
      shared_(config.heads / config.kv_heads),
      scale_(static_cast<float>(1.0 / std::sqrt(static_cast<double>(config.head_size)))),
      scratch_(pool.threads()) {
  const uint64_t head = config.head_size;
  for (Scratch& scratch : scratch_) {
    scratch.rotated.resize(kMostGroupRows * shared_ * head);
    scratch.positions.resize(kMostGroupRows);
    scratch.states.resize(kMostGroupRows * shared_);
    scratch.begun.resize(kMostGroupRows);
    scratch.keys.resize(kBlockTokens * head);
    scratch.values.resize(kBlockTokens * head);
    scratch.partial.resize(head);
  }
}

void Attention::run(const AttentionPlan& plan, uint32_t layer, const float* queries, float* out) {
  const auto groups = static_cast<uint32_t>(plan.groups.size());
  pool_.parallel_for(groups * config_.kv_heads, [&](uint32_t index, uint32_t worker) {
    const Work work = {
        plan, plan.groups[index / config_.kv_heads], layer, index % config_.kv_heads, queries, out};
    run_group(work, scratch_[worker]);
  });
}

void Attention::run_group(const Work& work, Scratch& scratch) const {
  const auto [begin, end] = work.group;
  const auto reads_of = [&](uint32_t at) -> std::span<const BlockRead> {
    return work.plan.rows[work.plan.chosen[work.plan.order[at]]].reads;
  };
  std::fill_n(scratch.begun.begin(), end - begin, uint8_t{0});
  size_t deepest = 0;
  for (uint32_t at = begin; at < end; ++at) {
    deepest = std::max(deepest, reads_of(at).size());
  }
  for (uint32_t depth = 0; depth < deepest; ++depth) {
    for (uint32_t at = begin; at < end;) {
      if (reads_of(at).size() <= depth) {
        ++at;
        continue;
      }
      uint32_t last = at + 1;
      while (last < end && reads_of(last).size() > depth &&
             reads_of(last)[depth].page == reads_of(at)[depth].page) {
        ++last;
      }
      run_block(work, at, last, depth, scratch);
      at = last;
    }
  }
  for (uint32_t at = begin; at < end; ++at) {
    float* out =
        work.out + (uint64_t{work.plan.order[at]} * config_.heads + work.kv_head * shared_) *
                       config_.head_size;
    for (uint32_t head = 0; head < shared_; ++head, out += config_.head_size) {
      if (scratch.begun[at - begin] != 0) {
        kernels_.finish(scratch.states[(at - begin) * shared_ + head], out, config_.head_size);
      } else {
        std::fill_n(out, config_.head_size, 0.0f);
      }
    }
  }
}

void Attention::run_block(const Work& work, uint32_t begin, uint32_t end, uint32_t depth,
                          Scratch& scratch) const {
  const auto read_of = [&](uint32_t at) -> const BlockRead& {
    return work.plan.rows[work.plan.chosen[work.plan.order[at]]].reads[depth];
  };
  uint32_t from = kBlockTokens;
  uint32_t to = 0;
  for (uint32_t at = begin; at < end; ++at) {
    if (read_of(at).from < read_of(at).to) {
      from = std::min(from, read_of(at).from);
      to = std::max(to, read_of(at).to);
    }
  }
  if (from >= to) {
    return;
  }
  const PageData page = read_of(begin).page;
  const uint8_t* keys = layout_.key(page, work.layer, work.kv_head, from);
  const uint8_t* values = layout_.value(page, work.layer, work.kv_head, from);
  const float* float_keys = reinterpret_cast<const float*>(keys);
  const float* float_values = reinterpret_cast<const float*>(values);
  if (layout_.type == KvType::f16) {
    const uint64_t count = uint64_t{to - from} * config_.head_size;
    kernels_.from_half(reinterpret_cast<const uint16_t*>(keys), count, scratch.keys.data());
    kernels_.from_half(reinterpret_cast<const uint16_t*>(values), count, scratch.values.data());
    float_keys = scratch.keys.data();
    float_values = scratch.values.data();
  }
  for (uint32_t at = begin; at < end; ++at) {
    const BlockRead& read = read_of(at);
    if (read.from < read.to) {
      const uint64_t skip = uint64_t{read.from - from} * config_.head_size;
      run_row(work, at, read,
              {float_keys + skip, float_values + skip, read.to - read.from, config_.head_size},
              scratch);
    }
  }
}

void Attention::run_row(const Work& work, uint32_t at, const BlockRead& read, const KeyBlock& block,
                        Scratch& scratch) const {
  const uint32_t local = at - work.group.begin;
  const uint32_t chosen = work.plan.order[at];
  const uint64_t head_size = config_.head_size;
  const uint64_t offset = (uint64_t{chosen} * config_.heads + work.kv_head * shared_) * head_size;
  float* rotated = scratch.rotated.data() + local * shared_ * head_size;
  const int64_t position = work.plan.rows[work.plan.chosen[chosen]].query_position - read.shift;
  const bool first = scratch.begun[local] == 0;
  if (first || scratch.positions[local] != position) {
    scratch.positions[local] = position;
    for (uint32_t head = 0; head < shared_; ++head) {
      kernels_.rotate(work.queries + offset + head * head_size, rope_.at(position),
                      config_.rope_pairs, config_.rope_dimensions, config_.head_size,
                      rotated + head * head_size);
    }
  }
  scratch.begun[local] = 1;
  for (uint32_t head = 0; head < shared_; ++head) {
    float* out = work.out + offset + head * head_size;
    const float* query = rotated + head * head_size;
    AttentionState& state = scratch.states[local * shared_ + head];
    if (first) {
      state = kernels_.attend(block, query, scale_, out);
    } else {
      const AttentionState later = kernels_.attend(block, query, scale_, scratch.partial.data());
      state = kernels_.merge(state, out, later, scratch.partial.data(), config_.head_size);
    }
  }
}

}  // namespace thinkd::engine

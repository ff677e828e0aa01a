#pragma once
// Where a page keeps its keys and values. Bytes, for each layer, for each KV head:
//
//   keys    kBlockTokens x head_size
//   values  kBlockTokens x head_size      both f16 or f32, little-endian

#include <cstdint>

#include "engine/model/language_model.h"
#include "engine/runner/model_runner.h"

namespace thinkd::engine {

struct PageLayout {
  uint32_t layers = 0;
  uint32_t kv_heads = 0;
  uint32_t head_size = 0;
  KvType type = KvType::f16;

  uint64_t row_bytes() const { return uint64_t{head_size} * (type == KvType::f16 ? 2 : 4); }
  uint64_t panel_bytes() const { return kBlockTokens * row_bytes(); }
  uint64_t page_bytes() const { return uint64_t{layers} * kv_heads * 2 * panel_bytes(); }

  uint8_t* key(PageData page, uint32_t layer, uint32_t kv_head, uint32_t slot) const {
    return page + (uint64_t{layer} * kv_heads + kv_head) * 2 * panel_bytes() + slot * row_bytes();
  }
  uint8_t* value(PageData page, uint32_t layer, uint32_t kv_head, uint32_t slot) const {
    return key(page, layer, kv_head, slot) + panel_bytes();
  }
};

}  // namespace thinkd::engine

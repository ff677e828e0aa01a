// Bytes as a model file: whatever is opened lies in the file, and every key can be asked for.

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "engine/model/gguf.h"
#include "engine/model/llama.h"
#include "tests/fuzz/target.h"

using namespace thinkd;
using namespace thinkd::engine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int descriptor = ::memfd_create("gguf", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  {
    const Result<GgufFile> file = GgufFile::open("/proc/self/fd/" + std::to_string(descriptor));
    if (file) {
      uint64_t sum = 0;
      for (const GgufTensor& tensor : file->tensors()) {
        fuzz::expect(tensor.extents[0] != 0 || tensor.data.empty(), "no columns, no bytes");
        sum += tensor.data.empty() ? 0U : uint64_t{tensor.data.front()} + tensor.data.back();
      }
      for (const char* key : {"general.architecture", "tokenizer.ggml.tokens", "a", "b"}) {
        sum += file->get_uint(key).ok() + file->get_float(key).ok() + file->get_bool(key).ok() +
               file->get_text(key).ok() + file->get_texts(key).ok() + file->get_ints(key).ok();
      }
      sum += read_llama(*file).ok();
      fuzz::expect(sum + 1 != 0, "the bytes can be read");
    }
  }
  ::close(descriptor);
  return 0;
}

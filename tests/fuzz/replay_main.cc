// Runs a fuzz target without a fuzzer: over every file of the folders and files that are named, and
// over so many mutations of each, the same ones in every run. `--keep FILE` writes each input there
// before it runs, so that the one that ends the process can be looked at.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/fuzz/target.h"

namespace {

constexpr uint64_t kSeed = 2026;
constexpr uint64_t kInputs = 2'000;         // mutations of all files together
constexpr uint64_t kInputBytes = 64 << 10;  // what is longer is cut
constexpr uint64_t kFileBytes = 16 << 20;

class Random {
 public:
  uint64_t below(uint64_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33U) % bound;
  }

 private:
  uint64_t state_ = kSeed;
};

// One to four small lies.
std::string mutated(std::string bytes, const std::string& other, Random& random) {
  static constexpr unsigned char kOdd[] = {0, 1, 0x7f, 0x80, 0xff, '"', '\\', '{', '}', '\n', '0'};
  for (uint64_t left = 1 + random.below(4); left > 0; --left) {
    const uint64_t at = bytes.empty() ? 0 : random.below(bytes.size());
    const uint64_t run = std::min<uint64_t>(1 + random.below(16), bytes.size() - at);
    switch (random.below(6)) {
      case 0:
        if (!bytes.empty()) {
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        }
        break;
      case 1:
        if (!bytes.empty()) {
          bytes[at] = static_cast<char>(kOdd[random.below(std::size(kOdd))]);
        }
        break;
      case 2:
        bytes.erase(at, run);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, run));
        break;
      case 4:
        bytes.resize(at);
        break;
      default: {
        const uint64_t from = other.empty() ? 0 : random.below(other.size());
        bytes.insert(at, other.substr(from, 1 + random.below(64)));
      }
    }
  }
  return bytes;
}

void run(const std::string& bytes, const std::string& keep) {
  if (!keep.empty()) {
    static_cast<void>(thinkd::write_file(keep, bytes));
  }
  static_cast<void>(
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> paths;
  std::string keep;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    if (value == "--keep" && i + 1 < count) {
      keep = values[++i];
    } else if (std::filesystem::is_directory(value)) {
      for (const auto& entry : std::filesystem::directory_iterator(value)) {
        paths.push_back(entry.path().string());
      }
    } else {
      paths.push_back(value);
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs = {""};
  for (const std::string& path : paths) {
    const auto bytes = thinkd::read_file(path, kFileBytes);
    if (!bytes) {
      std::cerr << bytes.status().message() << '\n';
      return 1;
    }
    inputs.push_back(bytes->substr(0, kInputBytes));
  }
  if (inputs.size() == 1) {
    std::cerr << "no file to start from\n";
    return 1;
  }
  for (const std::string& input : inputs) {
    run(input, keep);
  }
  Random random;
  for (uint64_t i = 0; i < kInputs; ++i) {
    run(mutated(inputs[i % inputs.size()], inputs[random.below(inputs.size())], random), keep);
  }
  std::cout << inputs.size() << " inputs and " << kInputs << " mutations, seed " << kSeed << '\n';
  return 0;
}

// A plugin as its author writes it with the C++ SDK.

#include "plugins/sdk/strategy.h"

using namespace thinkd::sdk;

namespace {

struct TwiceParams {
  uint32_t n = 2;
  static Fields<TwiceParams> fields() { return {integer("n", &TwiceParams::n, 1, 8, "samples")}; }
};

void twice(Host& host, const Problem& problem, const TwiceParams& params) {
  host.answer_by(AnswerRule::last);
  std::vector<Branch> samples = host.fork(host.open(problem.messages), params.n);
  host.extend(samples, problem.sample_options());
  for (const Branch& sample : samples) {
    host.emit(Candidate{sample});
  }
}

}  // namespace

extern "C" const thinkd_plugin* thinkd_plugin_entry(uint32_t abi_major, uint32_t abi_minor) {
  static const Plugin kPlugin("twice", "1.0",
                              {strategy<TwiceParams>("twice", "a few samples", "none", twice)});
  return kPlugin.table_for(abi_major, abi_minor);
}

// models list|inspect|pull: plain files in the store's folder.

#include <nlohmann/json.hpp>

#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/exit_code.h"
#include "daemon/house.h"
#include "daemon/models/catalogue.h"
#include "daemon/models/model_folder.h"
#include "daemon/models/pull.h"
#include "daemon/rpc/listings.h"
#include "daemon/signals.h"
#include "engine/model/model_summary.h"

namespace thinkd::daemon {
namespace {

struct Folder {
  Config config;
  std::string store_dir;
};

Result<Folder> open_folder(const Arguments& arguments) {
  Result<Config> config = load_config(arguments);
  if (!config) {
    return config.status();
  }
  Result<std::string> dir = store_dir(*config);
  if (!dir) {
    return dir.status();
  }
  return Folder{*std::move(config), *std::move(dir)};
}

// The file, what runs it needs beside it: keys and values of a whole context at f16.
uint64_t memory_needed(const engine::ModelSummary& summary) {
  return summary.info.file_bytes + summary.kv_bytes_per_1024_tokens * summary.context / 1024;
}

OrderedJson json_of(const engine::ModelSummary& summary) {
  OrderedJson out;
  out["name"] = summary.info.name;
  out["path"] = summary.info.path;
  out["bytes"] = summary.info.file_bytes;
  out["sha256"] = summary.info.sha256;
  out["architecture"] = summary.info.architecture;
  out["quantization"] = summary.info.quantization;
  out["title"] = summary.info.title;
  out["parameters"] = summary.parameters;
  out["weight_bytes"] = summary.weight_bytes;
  out["types"] = OrderedJson::array();
  for (const engine::TypeShare& share : summary.types) {
    out["types"].push_back({{"type", share.type},
                            {"tensors", share.tensors},
                            {"parameters", share.parameters},
                            {"bytes", share.bytes}});
  }
  out["layers"] = summary.layers;
  out["width"] = summary.width;
  out["heads"] = summary.heads;
  out["kv_heads"] = summary.kv_heads;
  out["head_size"] = summary.head_size;
  out["ffn"] = summary.ffn;
  out["context"] = summary.context;
  out["kv_bytes_per_1024_tokens"] = summary.kv_bytes_per_1024_tokens;
  out["memory_bytes"] = memory_needed(summary);
  out["tokenizer"] = {{"model", summary.tokenizer_model},
                      {"pre", summary.tokenizer_pre},
                      {"vocabulary", summary.vocabulary}};
  out["chat_template"] = summary.chat_template;
  out["runs"] = summary.runs.ok();
  out["error"] = summary.runs.ok() ? OrderedJson() : OrderedJson(summary.runs.message());
  return out;
}

void print_summary(const engine::ModelSummary& summary) {
  print("name          " + summary.info.name +
        (summary.info.title.empty() ? "" : " (" + summary.info.title + ")"));
  print("path          " + summary.info.path);
  print("size          " + shown_bytes(summary.info.file_bytes));
  print("sha256        " + summary.info.sha256);
  print("architecture  " + summary.info.architecture + ", " + std::to_string(summary.layers) +
        " layers, width " + std::to_string(summary.width) + ", " + std::to_string(summary.heads) +
        " heads on " + std::to_string(summary.kv_heads) + " KV heads, context " +
        std::to_string(summary.context));
  print("parameters    " + std::to_string(summary.parameters));
  for (const engine::TypeShare& share : summary.types) {
    print("  " + share.type + "  " + std::to_string(share.tensors) + " tensors, " +
          shown_bytes(share.bytes));
  }
  print("tokenizer     " + summary.tokenizer_model + " / " + summary.tokenizer_pre + ", " +
        std::to_string(summary.vocabulary) + " tokens");
  print("chat template " + std::string(summary.chat_template ? "yes" : "no"));
  print("memory        " + shown_bytes(memory_needed(summary)) +
        " with one full context of keys and values");
  print("thinkd runs it: " + (summary.runs.ok() ? "yes" : "no: " + summary.runs.message()));
}

void print_catalogue(const Arguments& arguments) {
  OrderedJson list = OrderedJson::array();
  for (const CatalogueEntry& entry : catalogue()) {
    if (arguments.json()) {
      list.push_back({{"name", std::string(entry.name)},
                      {"bytes", entry.bytes},
                      {"sha256", std::string(entry.sha256)},
                      {"licence", std::string(entry.licence)},
                      {"about", std::string(entry.about)}});
    } else {
      print(std::string(entry.name) + "  " + shown_bytes(entry.bytes) + "  " +
            std::string(entry.about) + " (" + std::string(entry.licence) + ")");
    }
  }
  if (arguments.json()) {
    print(to_text(list));
  }
}

}  // namespace

int run_models_list(const Arguments& arguments) {
  const Result<Folder> folder = open_folder(arguments);
  if (!folder) {
    return fail(folder.status());
  }
  const Result<OrderedJson> models = models_json(folder->store_dir);
  if (!models) {
    return fail(models.status());
  }
  if (arguments.json()) {
    print(to_text(*models));
    return kExitDone;
  }
  for (const OrderedJson& model : *models) {
    const bool known = model.value("error", OrderedJson()).is_null();
    print(model["name"].get<std::string>() + "  " +
          (known ? shown_bytes(model["bytes"].get<uint64_t>()) + "  " +
                       model["architecture"].get<std::string>() + "  " +
                       model["quantization"].get<std::string>()
                 : "cannot be run: " + to_text(model["error"])));
  }
  if (models->empty()) {
    print("no models in " + models_folder(folder->store_dir) +
          "; `thinkd models pull` shows what can be had");
  }
  return kExitDone;
}

int run_models_inspect(const Arguments& arguments) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  const Result<std::string> dir = store_dir(*config);
  const Result<std::string> path =
      resolve_model(arguments.text("MODEL"), dir ? *dir : std::string());
  if (!path) {
    return fail(path.status());
  }
  const Result<engine::ModelSummary> summary = engine::inspect_model(*path);
  if (!summary) {
    return fail(summary.status());
  }
  if (arguments.json()) {
    print(to_text(json_of(*summary)));
  } else {
    print_summary(*summary);
  }
  return kExitDone;
}

int run_models_pull(const Arguments& arguments) {
  const Result<Folder> folder = open_folder(arguments);
  if (!folder) {
    return fail(folder.status());
  }
  if (!arguments.has("SOURCE")) {
    print_catalogue(arguments);
    return kExitDone;
  }
  PullOptions options;
  options.sha256 = arguments.text("sha256");
  options.name = arguments.text("name");
  if (arguments.has("python")) {
    options.python = arguments.text("python");
  }
  SignalWatch signals;
  signals.set_handler([] {});  // fired() tells
  std::mutex lock;
  PullProgress latest;
  options.progress = [&](const PullProgress& progress) {
    const std::lock_guard guard(lock);
    latest = progress;
    return !signals.fired();
  };
  Result<PulledModel> pulled = Status(Code::internal, "nothing ran");
  {
    const ProgressLine line([&](double seconds) {
      const std::lock_guard guard(lock);
      std::string text = latest.doing.empty() ? std::string("preparing") : latest.doing;
      if (latest.bytes > 0) {
        text += " " + shown_bytes(latest.bytes);
        text += latest.total > 0 ? " of " + shown_bytes(latest.total) : std::string();
      }
      return text + ", " + shown_number(seconds, 0) + " s";
    });
    pulled = pull_model(arguments.text("SOURCE"), folder->store_dir, options);
  }
  if (!pulled) {
    return fail(pulled.status());
  }
  if (arguments.json()) {
    print(to_text(OrderedJson{{"name", pulled->name},
                              {"path", pulled->path},
                              {"bytes", pulled->bytes},
                              {"sha256", pulled->sha256},
                              {"already_there", pulled->already_there}}));
  } else {
    print(pulled->name + (pulled->already_there ? " is there already: " : ": ") + pulled->path +
          " (" + shown_bytes(pulled->bytes) + ")");
  }
  return kExitDone;
}

}  // namespace thinkd::daemon

#include "engine/chat/evaluator.h"

#include "base/limits.h"

namespace thinkd::engine::chat {
namespace {

constexpr uint32_t kDepth = 4 * limits::kTemplateDepth;

}  // namespace

Evaluator::Frame::Frame(Evaluator& owner, uint32_t line) : owner_(owner) {
  owner_.meter_.line = line;
  owner_.meter_.spend(1);
  if (owner_.frames_ >= kDepth) {
    fail_limit(line, "calls nested more than " + std::to_string(kDepth) + " deep");
  }
  ++owner_.frames_;
}

Evaluator::Evaluator(const RenderOptions& options) : options_(options) {
  static constexpr std::array<std::string_view, 5> kNames = {"raise_exception", "strftime_now",
                                                             "range", "namespace", "dict"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    builtins_[i].name = kNames[i];
    builtins_[i].builtin = true;
    globals_.names[builtins_[i].name] = Value{static_cast<const Macro*>(&builtins_[i])};
  }
  top_.parent = &globals_;
}

Text Evaluator::run(const Template& root) {
  TextBuilder out;
  out_ = &out;
  run_block(root.body);
  return std::move(out.text());
}

void Evaluator::print(const Text& text) {
  meter_.bytes(text.bytes.size());
  check_size(out_->size() + text.bytes.size(), meter_);
  out_->append(text);
}

Evaluator::Flow Evaluator::run_block(const Block& block) {
  for (const auto& node : block) {
    const Flow flow = run_node(*node);
    if (flow != Flow::on) {
      return flow;
    }
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::run_node(const Node& node) {
  const Frame frame(*this, node.line);
  switch (node.kind) {
    case NodeKind::data:
      print(*node.data);
      break;
    case NodeKind::output:
      print(*to_str(eval(*node.expr), node.line));
      break;
    case NodeKind::condition:
      return run_branches(node);
    case NodeKind::loop:
      run_loop(node);
      break;
    case NodeKind::set:
      assign(node, node.targets, node.unpack, eval(*node.expr));
      break;
    case NodeKind::set_block: {
      Scope inner{scope_, nullptr, {}};
      Value text{capture(node.body, inner)};
      assign(node, node.targets, false, std::move(text));
      break;
    }
    case NodeKind::macro:
      scope_->names[node.macro->name] = Value{node.macro.get()};
      break;
    case NodeKind::leave:
      return Flow::leave;
    case NodeKind::next:
      return Flow::next;
    case NodeKind::group:
      return run_block(node.body);
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::run_branches(const Node& node) {
  for (const Branch& branch : node.branches) {
    if (branch.condition == nullptr || truthy(eval(*branch.condition))) {
      return run_block(branch.body);
    }
  }
  return Flow::on;
}

TextRef Evaluator::capture(const Block& block, Scope& scope) {
  TextBuilder text;
  TextBuilder* const outer_text = std::exchange(out_, &text);
  Scope* const outer = std::exchange(scope_, &scope);
  run_block(block);
  scope_ = outer;
  out_ = outer_text;
  return finish(text, meter_);
}

void Evaluator::run_loop(const Node& node) {
  std::vector<Value> items = iterate(eval(*node.expr), meter_);
  Scope* const outer = scope_;
  if (node.filter != nullptr) {
    std::vector<Value> kept;
    for (Value& item : items) {
      Scope inner{outer, nullptr, {}};
      scope_ = &inner;
      assign(node, node.targets, node.unpack, item);
      if (truthy(eval(*node.filter))) {
        kept.push_back(std::move(item));
      }
    }
    scope_ = outer;
    items = std::move(kept);
  }
  uint32_t depth = 1;
  for (const Scope* at = outer; at != nullptr; at = at->parent) {
    depth += at->loop != nullptr ? 1 : 0;
  }
  Loop loop{items, 0, depth};
  // As jinja2 has it: `else` is for a loop of which no pass came to its end, so also for one that
  // was left or cut short in every pass.
  bool passed = false;
  for (; loop.index < items.size(); ++loop.index) {
    Scope inner{outer, &loop, {}};
    scope_ = &inner;
    assign(node, node.targets, node.unpack, items[loop.index]);
    const Flow flow = run_block(node.body);
    scope_ = outer;
    passed = passed || flow == Flow::on;
    if (flow == Flow::leave) {
      break;
    }
  }
  scope_ = outer;
  if (!passed) {
    run_block(node.otherwise);
  }
}

void Evaluator::assign(const Node& node, const std::vector<Target>& targets, bool unpack,
                       Value value) {
  meter_.spend(targets.size());
  if (!unpack) {
    assign_one(targets[0], std::move(value));
    return;
  }
  meter_.line = node.line;
  if (value.is<Undefined>()) {
    fail(node.line, "unpacking an undefined value");
  }
  std::vector<Value> items = iterate(value, meter_);
  if (items.size() != targets.size()) {
    fail(node.line, "unpacking " + std::to_string(items.size()) + " values into " +
                        std::to_string(targets.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) {
    assign_one(targets[i], std::move(items[i]));
  }
}

void Evaluator::assign_one(const Target& target, Value value) {
  if (target.attribute.empty()) {
    scope_->names[target.name] = std::move(value);
    return;
  }
  const Value space = lookup(target.name);
  if (!space.is<NamespaceRef>()) {
    fail(meter_.line, "'" + target.name + "' is no namespace");
  }
  if (value.is<NamespaceRef>() || value.is<const Macro*>()) {
    unsupported(meter_.line, "a namespace or a macro inside a namespace");
  }
  std::get<NamespaceRef>(space.data)->attributes[target.attribute] = std::move(value);
}

}  // namespace thinkd::engine::chat

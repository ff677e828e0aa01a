// tojson as transformers defines it: Python's json.dumps with ensure_ascii off and no HTML escapes.

#include <algorithm>
#include <cmath>

#include "engine/chat/builtins.h"

namespace thinkd::engine::chat {
namespace {

class Writer {
 public:
  Writer(const Args& args, Meter& meter) : meter_(meter) {
    args.allow({"ensure_ascii", "indent", "separators", "sort_keys"}, meter);
    const Value* ascii = args.get(0, "ensure_ascii");
    const Value* indent = args.get(1, "indent");
    const Value* separators = args.get(2, "separators");
    const Value* sort = args.get(3, "sort_keys");
    if (ascii != nullptr && truthy(*ascii)) {
      unsupported(meter.line, "tojson with ensure_ascii");
    }
    if (indent != nullptr && !indent->is<None>()) {
      const int64_t width = need_int(*indent, "tojson indent", meter);
      if (width > 64) {
        fail_limit(meter.line, "tojson indent " + std::to_string(width) + ", limit 64");
      }
      lines_ = true;
      width_ = static_cast<size_t>(std::max<int64_t>(width, 0));
      comma_ = ",";
    }
    if (separators != nullptr && !separators->is<None>()) {
      const List* pair = separators->list();
      if (pair == nullptr || pair->items.size() != 2) {
        fail(meter.line, "tojson separators must be two texts");
      }
      comma_ = need_text(pair->items[0], "tojson separators", meter).bytes;
      colon_ = need_text(pair->items[1], "tojson separators", meter).bytes;
    }
    sort_ = sort != nullptr && truthy(*sort);
  }

  // Values are at most limits::kTemplateDepth deep, and so is this recursion.
  void write(const Value& value, size_t depth) {
    meter_.spend(1);
    check_size(out_.size(), meter_);
    if (const Text* text = value.text()) {
      quoted(*text);
    } else if (value.is<None>()) {
      out_.append("null");
    } else if (const bool* b = value.as<bool>()) {
      out_.append(*b ? "true" : "false");
    } else if (const double* d = value.as<double>()) {
      out_.append(std::isnan(*d)   ? "NaN"
                  : std::isinf(*d) ? (*d < 0 ? "-Infinity" : "Infinity")
                                   : float_repr(*d));
    } else if (value.is<int64_t>()) {
      out_.append(std::to_string(as_int(value)));
    } else if (const List* list = value.list();
               list != nullptr && (list->kind == ListKind::list || list->kind == ListKind::tuple)) {
      array(*list, depth);
    } else if (const Dict* dict = value.dict()) {
      object(*dict, depth);
    } else if (const Undefined* u = value.as<Undefined>()) {
      fail(meter_.line, u->name + " is undefined");
    } else {
      fail(meter_.line, "tojson: a " + std::string(type_name(value)) + " is not JSON");
    }
  }

  TextRef finish() { return chat::finish(out_, meter_); }

 private:
  void line(size_t depth) {
    if (lines_) {
      out_.append("\n");
      check_size(out_.size() + width_ * depth, meter_);
      out_.append(std::string(width_ * depth, ' '));
    }
  }

  void array(const List& list, size_t depth) {
    out_.append("[");
    for (size_t i = 0; i < list.items.size(); ++i) {
      out_.append(i == 0 ? "" : comma_);
      line(depth + 1);
      write(list.items[i], depth + 1);
    }
    if (!list.items.empty()) {
      line(depth);
    }
    out_.append("]");
  }

  void object(const Dict& dict, size_t depth) {
    auto items = dict.items;
    meter_.spend(items.size());
    for (const auto& item : items) {
      if (item.first.text() == nullptr) {
        unsupported(meter_.line, "tojson of a dict whose keys are not texts");
      }
    }
    if (sort_) {
      std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
        return a.first.text()->bytes < b.first.text()->bytes;
      });
    }
    out_.append("{");
    for (size_t i = 0; i < items.size(); ++i) {
      out_.append(i == 0 ? "" : comma_);
      line(depth + 1);
      quoted(*items[i].first.text());
      out_.append(colon_);
      write(items[i].second, depth + 1);
    }
    if (!items.empty()) {
      line(depth);
    }
    out_.append("}");
  }

  void quoted(const Text& text) {
    static constexpr std::string_view kFrom = "\"\\\n\r\t\f\b";
    static constexpr std::string_view kTo = "\"\\nrtfb";
    static constexpr std::string_view kHex = "0123456789abcdef";
    meter_.bytes(text.bytes.size());
    out_.append("\"");
    size_t plain = 0;  // start of the run that needs no escape
    for (size_t i = 0; i < text.bytes.size(); ++i) {
      const char c = text.bytes[i];
      const size_t known = kFrom.find(c);
      if (known == std::string_view::npos && static_cast<unsigned char>(c) >= 0x20) {
        continue;
      }
      out_.append(text, plain, i);
      plain = i + 1;
      std::string escape = "\\";
      if (known != std::string_view::npos) {
        escape += kTo[known];
      } else {
        escape += "u00";
        escape += kHex[static_cast<unsigned char>(c) >> 4];
        escape += kHex[c & 15];
      }
      out_.append(escape, is_user_byte(text, i));
    }
    out_.append(text, plain, text.bytes.size());
    out_.append("\"");
    check_size(out_.size(), meter_);
  }

  Meter& meter_;
  TextBuilder out_;
  std::string comma_ = ", ";
  std::string colon_ = ": ";
  bool lines_ = false;
  bool sort_ = false;
  size_t width_ = 0;
};

}  // namespace

TextRef to_json(const Value& value, const Args& args, Meter& meter) {
  Writer writer(args, meter);
  writer.write(value, 0);
  return writer.finish();
}

}  // namespace thinkd::engine::chat

#include "verifiers/math/names.h"

#include <algorithm>

namespace thinkd::verifiers::math {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kFunctions[] = {
    "sin",  "cos",  "tan",  "cot",  "sec",  "csc", "arcsin", "arccos", "arctan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "ln",  "log",    "lg",     "exp"};

constexpr std::string_view kGreek[] = {
    "alpha", "beta",  "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta",   "theta",
    "iota",  "kappa", "mu",    "nu",    "xi",      "rho",        "tau",  "phi",   "varphi",
    "chi",   "psi",   "omega", "Gamma", "Delta",   "Theta",      "Phi",  "Omega", "lambda"};

constexpr std::string_view kTextCommands[] = {
    "text",   "textbf", "textit", "textrm", "textsf",       "texttt",     "textnormal", "mbox",
    "mathrm", "mathbf", "mathit", "mathsf", "operatorname", "boldsymbol", "hbox",       "emph"};

// Short words that are no product of variables.
constexpr std::string_view kShortWords[] = {
    "km", "cm", "mm", "kg", "mg", "ml", "mL", "hr", "ft", "in", "lb", "oz", "yd", "mi", "kW",
    "Hz", "no", "No", "NO", "is", "it", "so", "we", "to", "of", "up", "by", "at", "am", "pm",
    "AM", "PM", "as", "if", "on", "an", "my", "do", "he", "me", "us", "be", "go", "un"};

constexpr Pair kWords[] = {{"infinity", "inf"},   {"infty", "inf"},    {"inf", "inf"},
                           {"percent", "%"},      {"degrees", "deg"},  {"degree", "deg"},
                           {"deg", "deg"},        {"pi", "pi"},        {"sqrt", "sqrt"},
                           {"frac", "frac"},      {"plusminus", "pm"}, {"union", "cup"},
                           {"emptyset", "empty"}, {"binom", "binom"},  {"cup", "cup"},
                           {"times", "*"},        {"percents", "%"}};

constexpr Pair kCommands[] = {
    {"frac", "frac"},
    {"dfrac", "frac"},
    {"tfrac", "frac"},
    {"cfrac", "frac"},
    {"sqrt", "sqrt"},
    {"binom", "binom"},
    {"dbinom", "binom"},
    {"tbinom", "binom"},
    {"cdot", "*"},
    {"times", "*"},
    {"ast", "*"},
    {"div", "/"},
    {"pm", "pm"},
    {"mp", "mp"},
    {"le", "<="},
    {"leq", "<="},
    {"leqslant", "<="},
    {"ge", ">="},
    {"geq", ">="},
    {"geqslant", ">="},
    {"lt", "<"},
    {"gt", ">"},
    {"ne", "!="},
    {"neq", "!="},
    {"infty", "inf"},
    {"cup", "cup"},
    {"in", "in"},
    {"emptyset", "empty"},
    {"varnothing", "empty"},
    {"pi", "pi"},
    {"circ", "deg"},
    {"degree", "deg"},
    {"over", "over"},
    {"colon", ":"},
    {"mid", "|"},
    {"vert", "|"},
    {"lvert", "|"},
    {"rvert", "|"},
    {"lbrace", "set{"},
    {"rbrace", "set}"},
    {"lbrack", "["},
    {"rbrack", "]"},
    {"left", ""},
    {"right", ""},
    {"big", ""},
    {"Big", ""},
    {"bigg", ""},
    {"Bigg", ""},
    {"bigl", ""},
    {"bigr", ""},
    {"Bigl", ""},
    {"Bigr", ""},
    {"quad", ""},
    {"qquad", ""},
    {"displaystyle", ""},
    {"textstyle", ""},
    {"limits", ""},
    {"rm", ""},
    {"bf", ""},
    {"it", ""},
    {"thinspace", ""},
    {"enspace", ""},
    {"hspace", ""},
    {"nobreak", ""},
    {"textdegree", "deg"},
    {"percent", "%"},
    {"cdotp", "*"},
    {"bullet", "*"},
    {"lparen", "("},
    {"rparen", ")"},
    {"implies", ","},
    {"land", ","},
    {"lor", ","},
    {"textdollar", ""},
    {"pounds", ""},
    {"euro", ""},
    {"textnumero", ""},
    {"strut", ""},
};

constexpr Pair kSigns[] = {
    {"**", "^"},
    {"<=", "<="},
    {">=", ">="},
    {"!=", "!="},
    {"==", "="},
    {"+", "+"},
    {"-", "-"},
    {"*", "*"},
    {"/", "/"},
    {"^", "^"},
    {"_", "_"},
    {"=", "="},
    {"<", "<"},
    {">", ">"},
    {"!", "!"},
    {"%", "%"},
    {",", ","},
    {";", ";"},
    {":", ":"},
    {"|", "|"},
    {"&", "&"},
    {"(", "("},
    {")", ")"},
    {"[", "["},
    {"]", "]"},
    {"{", "{"},
    {"}", "}"},
    {"\xC2\xB2", "^2"},        // superscript 2
    {"\xC2\xB3", "^3"},        // superscript 3
    {"\xC2\xB7", "*"},         // middle dot
    {"\xC3\x97", "*"},         // times
    {"\xE2\x8B\x85", "*"},     // dot operator
    {"\xE2\x88\x97", "*"},     // asterisk operator
    {"\xC3\xB7", "/"},         // division
    {"\xE2\x88\x95", "/"},     // division slash
    {"\xE2\x81\x84", "/"},     // fraction slash
    {"\xE2\x88\x92", "-"},     // minus
    {"\xE2\x80\x93", "-"},     // en dash
    {"\xE2\x80\x94", "-"},     // em dash
    {"\xE2\x80\x91", "-"},     // non-breaking hyphen
    {"\xE2\x88\x9A", "sqrt"},  // radical
    {"\xCF\x80", "pi"},        // pi
    {"\xC2\xB1", "pm"},        // plus-minus
    {"\xE2\x89\xA4", "<="},
    {"\xE2\x89\xA5", ">="},  // less, greater or equal
    {"\xE2\xA9\xBD", "<="},
    {"\xE2\xA9\xBE", ">="},     // slanted
    {"\xE2\x89\xA0", "!="},     // not equal
    {"\xE2\x88\x9E", "inf"},    // infinity
    {"\xE2\x88\xAA", "cup"},    // union
    {"\xE2\x88\x88", "in"},     // element of
    {"\xE2\x88\x85", "empty"},  // empty set
    {"\xC2\xB0", "deg"},        // degree
    {"\xE2\x82\xAC", ""},       // euro
    {"\xC2\xA3", ""},           // pound
    {"\xC2\xA5", ""},           // yen
    {"\xE2\x82\xB9", ""},       // rupee
    {"\xC2\xA0", ""},           // no-break space
    {"\xE2\x80\x89", ""},       // thin space
    {"\xE2\x80\xAF", ""},       // narrow no-break space
    {"\xE3\x80\x80", ""},       // ideographic space
    {"\xEF\xBC\x8C", ","},      // full-width comma
    {"\xE3\x80\x81", ","},      // ideographic comma
    {"\xEF\xBC\x9A", ":"},      // full-width colon
    {"\xEF\xBC\x88", "("},
    {"\xEF\xBC\x89", ")"},  // full-width brackets
    {"\xEF\xBC\x85", "%"},  // full-width percent
    {"\xCE\xB8", "letter theta"},
    {"\xCE\xB1", "letter alpha"},
    {"\xCE\xB2", "letter beta"},
    {"\xCE\xBB", "letter lambda"},
    {"\xCE\xBC", "letter mu"},
    {"\xCF\x86", "letter phi"},
    {"\xE2\x88\x99", "*"},  // bullet operator
    {"\xE3\x80\x82", ""},   // ideographic full stop
};

bool has(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool is_function(std::string_view name) { return has(kFunctions, name); }
bool is_greek(std::string_view name) { return has(kGreek, name); }
bool is_text_command(std::string_view name) { return has(kTextCommands, name); }

std::string_view named_word(std::string_view word) {
  for (const auto& [name, meaning] : kWords) {
    if (name == word) {
      return meaning;
    }
  }
  return {};
}

bool is_product_of_letters(std::string_view word) {
  if (word.size() == 2) {
    return !has(kShortWords, word);
  }
  if (word.size() > 4) {
    return false;
  }
  for (const std::string_view family : {"xyzw", "abc", "mnk", "rst", "pqr"}) {
    if (word.find_first_not_of(family) == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

std::optional<std::string_view> command_meaning(std::string_view name) {
  for (const auto& [command, meaning] : kCommands) {
    if (command == name) {
      return meaning;
    }
  }
  return std::nullopt;
}

std::span<const Pair> signs() { return kSigns; }

}  // namespace thinkd::verifiers::math

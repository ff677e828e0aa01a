#include "engine/chat/strftime.h"

#include <chrono>

#include "engine/chat/value.h"

namespace thinkd::engine::chat {
namespace {

constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};

std::string padded(int64_t number, size_t width, char fill) {
  std::string digits = std::to_string(number);
  if (fill != '\0' && digits.size() < width) {
    digits.insert(0, width - digits.size(), fill);
  }
  return digits;
}

}  // namespace

std::string format_date(std::string_view format, const TemplateDate& date, uint32_t line) {
  namespace chrono = std::chrono;
  const chrono::year_month_day day{chrono::year(date.year), chrono::month(date.month),
                                   chrono::day(date.day)};
  if (!day.ok() || date.year < 1 || date.year > 9999 || date.hour > 23 || date.minute > 59 ||
      date.second > 59) {
    fail(line, "strftime_now: the given date is no date");
  }
  const chrono::sys_days serial(day);
  const auto weekday = chrono::weekday(serial).c_encoding();
  const chrono::sys_days new_year(day.year() / chrono::January / 1);
  const uint32_t hour12 = date.hour % 12 == 0 ? 12 : date.hour % 12;
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    char fill = '0';
    char code = format[++i];
    if (code == '-' && i + 1 < format.size()) {
      fill = '\0';
      code = format[++i];
    }
    switch (code) {
      case 'a':
        out += kDays[weekday].substr(0, 3);
        break;
      case 'A':
        out += kDays[weekday];
        break;
      case 'b':
        out += kMonths[date.month - 1].substr(0, 3);
        break;
      case 'B':
        out += kMonths[date.month - 1];
        break;
      case 'd':
        out += padded(date.day, 2, fill);
        break;
      case 'e':
        out += padded(date.day, 2, fill == '\0' ? fill : ' ');
        break;
      case 'H':
        out += padded(date.hour, 2, fill);
        break;
      case 'I':
        out += padded(hour12, 2, fill);
        break;
      case 'j':
        out += padded((serial - new_year).count() + 1, 3, fill);
        break;
      case 'm':
        out += padded(date.month, 2, fill);
        break;
      case 'M':
        out += padded(date.minute, 2, fill);
        break;
      case 'p':
        out += date.hour < 12 ? "AM" : "PM";
        break;
      case 'S':
        out += padded(date.second, 2, fill);
        break;
      case 'y':
        out += padded(date.year % 100, 2, fill);
        break;
      case 'Y':
        out += std::to_string(date.year);
        break;
      case '%':
        out += '%';
        break;
      default:
        unsupported(line, std::string("the date code '%") + code + "'");
    }
  }
  return out;
}

}  // namespace thinkd::engine::chat

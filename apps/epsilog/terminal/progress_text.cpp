#include "progress_text.hpp"

#include <cmath>
#include <cstdint>

namespace epsilog::command {
namespace {

constexpr std::chrono::seconds kBeforeEstimate{2};
constexpr double kLeastFraction = 0.01;
constexpr double kInTheNextUnit = 90;

std::string left_text(double seconds) {
  const auto whole = [](double amount) {
    return std::to_string(static_cast<std::int64_t>(std::ceil(amount)));
  };
  if (seconds < kInTheNextUnit) return whole(seconds) + " s";
  const double minutes = seconds / 60;
  return minutes < kInTheNextUnit ? whole(minutes) + " min" : whole(minutes / 60) + " h";
}

}  // namespace

std::string progress_text(std::string_view label, double fraction, std::chrono::milliseconds elapsed) {
  std::string text = std::string(label) + " " + std::to_string(static_cast<int>(fraction * 100)) + " %";
  if (elapsed < kBeforeEstimate || fraction < kLeastFraction || fraction >= 1) return text;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  return text + ", about " + left_text(seconds * (1 - fraction) / fraction) + " left";
}

}  // namespace epsilog::command

// Alterations of a well-formed text or message, for targets that build one themselves: a fuzzer finds no
// signature, but it does find the byte that a verifier forgot.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <string>
#include <string_view>

namespace presetbridge::fuzz {

// `original` with up to 16 of its bytes replaced by up to 16 of the input's. May be equal to `original`.
inline std::string spliced(FuzzedDataProvider& input, std::string_view original) {
  const auto at = input.ConsumeIntegralInRange<std::size_t>(0, original.size());
  const auto taken = input.ConsumeIntegralInRange<std::size_t>(0, 16);
  const auto put = input.ConsumeRandomLengthString(16);
  std::string altered(original.substr(0, at));
  altered += put;
  if (original.size() - at > taken) altered += original.substr(at + taken);
  return altered;
}

}  // namespace presetbridge::fuzz

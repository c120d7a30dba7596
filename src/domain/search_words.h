// The search of names by the words that a person types (spec 4.4).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace presetbridge::domain {

// The words of a text: letters and digits, without case, accents and apostrophes; all other characters part words. So
// "plexi '68" finds "Plexi ’68 – Crunch". The text is UTF-8; of any other its ASCII letters are folded.
class SearchWords {
 public:
  explicit SearchWords(std::string_view text);

  bool empty() const { return words_.empty(); }
  // Whether the name has each of the words, whole, as a part of one, or over several ("jcm800" is in "JCM-800"). True
  // without a word.
  bool are_in(std::string_view name) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace presetbridge::domain

// A text that is served as long as the program runs: compressed once, and known by its ETag.
#pragma once

#include <string>
#include <string_view>

#include "api/web_files.h"

namespace presetbridge::api {

// Immutable; every function may be called from any thread.
class CompressedText {
 public:
  // `content_type` outlives this.
  CompressedText(std::string_view content_type, std::string plain);
  CompressedText(const CompressedText&) = delete;
  CompressedText& operator=(const CompressedText&) = delete;

  net::HttpResponse answer(const net::HttpRequest& request) const;

 private:
  const std::string_view content_type_;
  const std::string plain_;
  const std::string gzip_;
  const std::string hash_;
};

}  // namespace presetbridge::api

// The dashboard and the buyer's page as files that browsers fetch (spec 13), compiled in: what web/ builds,
// packed by make_web_files.mjs. Immutable after start; every function may be called from any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/http.h"

namespace presetbridge::api {

struct WebFile {
  std::string_view path;  // as requested: "/assets/index-3f2a91.js"; "/" is the dashboard's page
  std::string_view content_type;
  std::string_view hash;  // of the plain bytes, hexadecimal
  std::string_view plain;
  std::string_view gzip;    // empty: not smaller than `plain`
  std::string_view brotli;  // empty: not smaller than `plain`
};

// All that is compiled in; its texts live as long as the program.
extern const std::span<const WebFile> web_files;

// The file in its smallest encoding that Accept-Encoding takes, or 304 for its ETag.
net::HttpResponse file_response(const WebFile& file, const net::HttpRequest& request);

class WebFiles {
 public:
  // `files` outlive this. `behind_tls`: browsers come by https alone, so the pages say that they stay there
  // (HSTS).
  WebFiles(std::span<const WebFile> files, bool behind_tls);

  // The answer to a GET or HEAD that no route of the API takes, or nothing if no file is meant:
  //   the path of a file           200 with the smallest encoding that Accept-Encoding takes, 304 for the
  //   ETag any other path for which a browser asks for a page (Accept names text/html), below neither /api/
  //   nor /assets/                     200 with the dashboard's page, which says itself what the path means
  // Files under /assets/ are named by their content and cached for a year; the pages are asked for each time.
  std::optional<net::HttpResponse> answer(const net::HttpRequest& request) const;

 private:
  const WebFile* find(const net::HttpRequest& request) const;

  std::map<std::string_view, const WebFile*> files_;
  bool behind_tls_;
};

}  // namespace presetbridge::api

#include "net/smtp_client.h"

#include <curl/curl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "net/ip_address.h"

namespace presetbridge::net {

namespace {

using Kind = MailFailure::Kind;

constexpr std::size_t kMostWaiting = 100;
constexpr std::size_t kLongestSubject = 200;
// A blocked port does not hold the thread as long as a mail may take.
constexpr long kConnectSeconds = 20;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Easy = std::unique_ptr<CURL, Freed<&curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Freed<&curl_multi_cleanup>>;
using List = std::unique_ptr<curl_slist, Freed<&curl_slist_free_all>>;
using Mime = std::unique_ptr<curl_mime, Freed<&curl_mime_free>>;
using Url = std::unique_ptr<CURLU, Freed<&curl_url_cleanup>>;

void enough(bool memory) {
  if (!memory) throw std::bad_alloc();
}

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  // Every option used here exists in the libcurl that is linked, so what remains is a lack of memory.
  enough(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

void append(List& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  enough(longer != nullptr);
  std::ignore = list.release();  // the longer list is the same one
  list.reset(longer);
}

std::optional<std::string> part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return std::nullopt;
  const std::unique_ptr<char, Freed<&curl_free>> owned(text);
  return std::string(text);
}

bool is_plain_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

bool is_mail(const OutgoingMail& mail) {
  const auto is_id_letter = [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; };
  return is_mail_address(mail.to) && is_plain_ascii(mail.subject) && !mail.subject.empty() &&
         mail.subject.size() <= kLongestSubject && mail.text.size() <= kLongestMailText &&
         !mail.text.contains('\0') && !mail.message_id.empty() &&
         std::ranges::all_of(mail.message_id, is_id_letter);
}

std::string with_crlf(std::string_view text) {
  std::string lines;
  for (const char c : text) {
    if (c == '\r') continue;
    if (c == '\n') lines += '\r';
    lines += c;
  }
  return lines;
}

// The server's answer to one recipient or one mail that another attempt will get too.
// A refused sender is not: the operator can mend that.
bool is_final(CURLcode code, long reply, std::string_view error) {
  const bool refused =
      (code == CURLE_SEND_ERROR && error.starts_with("RCPT")) || code == CURLE_WEIRD_SERVER_REPLY;
  return refused && (reply == 550 || reply == 551 || reply == 553);
}

// An smtp:// server "on this machine" is not another one that the name leads to.
curl_socket_t open_on_this_machine(void*, curlsocktype, curl_sockaddr* address) {
  const auto ip = IpAddress::from_sockaddr(address->addr);
  if (!ip || !ip->is_loopback()) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}  // namespace

std::optional<SmtpServer> parse_smtp_url(std::string_view text) {
  constexpr std::size_t kLongest = 1'000;
  if (text.size() > kLongest || !is_plain_ascii(text)) return std::nullopt;
  const Url url(curl_url());
  enough(url != nullptr);
  if (curl_url_set(url.get(), CURLUPART_URL, std::string(text).c_str(), 0) != CURLUE_OK) return std::nullopt;
  const auto scheme = part_of(url.get(), CURLUPART_SCHEME);
  const auto host = part_of(url.get(), CURLUPART_HOST);
  const bool tls = scheme == "smtps";
  if ((!tls && scheme != "smtp") || !host || host->empty() || part_of(url.get(), CURLUPART_USER) ||
      part_of(url.get(), CURLUPART_PATH) != "/" || part_of(url.get(), CURLUPART_QUERY) ||
      part_of(url.get(), CURLUPART_FRAGMENT))
    return std::nullopt;
  const auto port = part_of(url.get(), CURLUPART_PORT).value_or(tls ? "465" : "587");
  auto numeric = std::string_view(*host);
  if (numeric.starts_with('[')) numeric = numeric.substr(1, numeric.size() - 2);
  const auto ip = IpAddress::parse(numeric);
  return SmtpServer{.url = fmt::format("{}://{}:{}", *scheme, *host, port),
                    .loopback = *host == "localhost" || (ip && ip->is_loopback())};
}

struct SmtpClient::State {
  struct Job {
    std::optional<OutgoingMail> mail;  // nothing: a check
    std::function<void(MailResult)> done;
  };

  explicit State(SmtpOptions o)
      : options(std::move(o)),
        started(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK),
        multi(curl_multi_init()) {
    enough(started && multi != nullptr);
  }
  void submit(Job job);
  void work();
  void stop();
  // Waits until the thread is not in an executor, which may end from then on. Called after stop().
  void leave_executors();
  MailResult perform(const std::optional<OutgoingMail>& mail);
  void prepare(CURL* easy) const;

  const SmtpOptions options;
  const bool started;  // libcurl
  const Multi multi;   // of the thread, but for its wake-up
  std::mutex mutex;    // guards all below
  std::condition_variable wanted;
  std::deque<Job> waiting;
  std::function<void(MailResult)> under_way;
  bool reporting = false;  // the thread calls what was `under_way`
  std::condition_variable reported;
  bool stopped = false;
};

void SmtpClient::State::submit(Job job) {
  {
    const std::scoped_lock lock(mutex);
    if (!stopped && waiting.size() < kMostWaiting) {
      waiting.push_back(std::move(job));
      return wanted.notify_one();
    }
    if (!stopped) return job.done(MailFailure{Kind::unavailable, "too many mails wait"});
  }
  job.done(MailFailure{Kind::aborted, "the client has stopped"});
}

void SmtpClient::State::stop() {
  std::vector<std::function<void(MailResult)>> all;
  {
    const std::scoped_lock lock(mutex);
    stopped = true;
    for (auto& job : waiting) all.push_back(std::move(job.done));
    waiting.clear();
    if (under_way) all.push_back(std::exchange(under_way, {}));
    wanted.notify_all();
  }
  curl_multi_wakeup(multi.get());
  for (const auto& done : all) done(MailFailure{Kind::aborted, "the client stops"});
}

void SmtpClient::State::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    wanted.wait(lock, [this] { return stopped || !waiting.empty(); });
    if (stopped) return;
    auto job = std::move(waiting.front());
    waiting.pop_front();
    under_way = std::move(job.done);
    lock.unlock();
    MailResult result;
    try {
      result = perform(job.mail);
    } catch (const std::exception& fault) {
      result = MailFailure{Kind::unavailable, fault.what()};
    }
    lock.lock();
    const auto done = std::exchange(under_way, {});
    if (!done) continue;
    reporting = true;
    lock.unlock();
    done(std::move(result));
    lock.lock();
    reporting = false;
    reported.notify_all();
  }
}

void SmtpClient::State::leave_executors() {
  std::unique_lock lock(mutex);
  reported.wait(lock, [this] { return !reporting; });
}

void SmtpClient::State::prepare(CURL* easy) const {
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_URL, options.server.url.c_str());
  set(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  set(easy, CURLOPT_PROXY, "");  // the empty string also keeps a proxy of the environment out
  set(easy, CURLOPT_TIMEOUT_MS, std::max<long>(1, static_cast<long>(options.deadline.count())));
  set(easy, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  set(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, static_cast<long>(options.reply.count()));
  set(easy, CURLOPT_QUICK_EXIT, 1L);
  set(easy, CURLOPT_FORBID_REUSE, 1L);
  set(easy, CURLOPT_USE_SSL, static_cast<long>(options.server.loopback ? CURLUSESSL_TRY : CURLUSESSL_ALL));
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options.ca_file.empty()) {
    set(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    set(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  }
  if (options.server.loopback) set(easy, CURLOPT_OPENSOCKETFUNCTION, &open_on_this_machine);
  if (!options.user.empty()) {
    set(easy, CURLOPT_USERNAME, options.user.c_str());
    set(easy, CURLOPT_PASSWORD, options.password().c_str());
  }
}

MailResult SmtpClient::State::perform(const std::optional<OutgoingMail>& mail) {
  if (mail && !is_mail(*mail)) return MailFailure{Kind::invalid, "the address cannot be written to"};
  const Easy easy(curl_easy_init());
  enough(easy != nullptr);
  std::array<char, CURL_ERROR_SIZE> error{};
  set(easy.get(), CURLOPT_ERRORBUFFER, error.data());
  prepare(easy.get());
  List recipients;
  List headers;
  const Mime mime(curl_mime_init(easy.get()));
  if (mail) {
    append(recipients, mail->to);
    const auto at = options.from.find('@');
    append(headers, "From: " + options.from_header);
    append(headers, "To: " + mail->to);
    append(headers, "Subject: " + mail->subject);
    append(headers, fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} +0000",
                                std::chrono::floor<std::chrono::seconds>(mail->date)));
    append(headers, fmt::format("Message-ID: <{}{}>", mail->message_id, options.from.substr(at)));
    append(headers, "Auto-Submitted: auto-generated");  // no answers of machines (RFC 3834)
    set(easy.get(), CURLOPT_MAIL_FROM, options.from.c_str());
    set(easy.get(), CURLOPT_MAIL_RCPT, recipients.get());
    set(easy.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_mimepart* part = curl_mime_addpart(mime.get());
    enough(part != nullptr);
    const auto text = with_crlf(mail->text);
    enough(curl_mime_data(part, text.data(), text.size()) == CURLE_OK &&
           curl_mime_type(part, "text/plain; charset=utf-8") == CURLE_OK &&
           curl_mime_encoder(part, "quoted-printable") == CURLE_OK);
    set(easy.get(), CURLOPT_MIMEPOST, mime.get());
  } else {
    set(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  }

  curl_multi_add_handle(multi.get(), easy.get());
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  for (int running = 1; running > 0;) {
    curl_multi_perform(multi.get(), &running);
    if (running > 0) curl_multi_poll(multi.get(), nullptr, 0, 1'000, nullptr);
    const std::scoped_lock lock(mutex);
    if (stopped) break;
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  }
  long reply = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &reply);
  curl_multi_remove_handle(multi.get(), easy.get());
  if (code == CURLE_OK) return std::nullopt;
  return MailFailure{is_final(code, reply, error.data()) ? Kind::refused : Kind::unavailable,
                     error[0] != '\0' ? error.data() : curl_easy_strerror(code)};
}

SmtpClient::SmtpClient(SmtpOptions options) : state_(std::make_shared<State>(std::move(options))) {
  // Detached, because a server can keep it waiting for its last word longer than the program has time to end; the
  // thread shares the state's ownership.
  std::thread([state = state_] { state->work(); }).detach();
}

SmtpClient::~SmtpClient() {
  stop();
  state_->leave_executors();
}

void SmtpClient::stop() {
  state_->stop();
}

Task<MailResult> SmtpClient::send(Executor& executor, OutgoingMail mail) {
  co_return co_await suspend<MailResult>(executor, [this, &mail](std::function<void(MailResult)> done) {
    state_->submit({std::move(mail), std::move(done)});
  });
}

Task<MailResult> SmtpClient::check(Executor& executor) {
  co_return co_await suspend<MailResult>(executor, [this](std::function<void(MailResult)> done) {
    state_->submit({std::nullopt, std::move(done)});
  });
}

}  // namespace presetbridge::net

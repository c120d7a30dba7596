#include "pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing.h"
#include "objects.h"
#include "testing.h"

namespace presetbridge::paysim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Timestamp start = from_unix_ms(1'790'000'000'000);

TEST(Money, IsWrittenWithTheDigitsOfItsCurrency) {
  EXPECT_EQ(money(1'234, "usd"), "12.34 USD");
  EXPECT_EQ(money(5, "eur"), "0.05 EUR");
  EXPECT_EQ(money(50, "jpy"), "50 JPY");
  EXPECT_EQ(money(1'234, "kwd"), "1.234 KWD");
}

class Pages : public ::testing::Test {
 protected:
  net::HttpResponse get(const std::string& path) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = path;
    return answer_page(world, request, start);
  }
  presetbridge::testing::SeededRandom random;
  World world{random, "2026-10-28.endive"};
};

TEST_F(Pages, HostileTextIsShownAsText) {
  auto asked = pack(start);
  asked.items[0].name = "<img src=x onerror=alert(1)>\"'&";
  asked.cancel_url = "http://127.0.0.1/?\"><script>";
  const auto& session = world.create_session(std::move(asked), 1, start);
  const auto page = get(pay_path(session));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("&lt;img src=x onerror=alert(1)&gt;&quot;'&amp;"));
  EXPECT_THAT(page.body, Not(HasSubstr("<img")));
  EXPECT_THAT(page.body, Not(HasSubstr("<script")));
}

TEST_F(Pages, AFormMayLeadToTheShopAndNowhereElse) {
  auto asked = pack(start);
  asked.success_url = "https://Shop.example/done?id={CHECKOUT_SESSION_ID}&again={CHECKOUT_SESSION_ID}";
  auto& session = world.create_session(std::move(asked), 1, start);
  const auto page = get(pay_path(session));
  EXPECT_EQ(page.headers.get("Content-Security-Policy"),
            "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
            "form-action 'self' https://shop.example:443");
  net::HttpRequest request;
  request.method = "POST";
  request.path = pay_path(session);
  request.body = "act=pay";
  const auto answer = answer_page(world, request, start);
  EXPECT_EQ(answer.status, 303);
  EXPECT_EQ(answer.headers.get("Location"),
            "https://Shop.example/done?id=" + session.id + "&again=" + session.id);
}

TEST_F(Pages, AReceiptShowsWhatWasPaidAndRefunded) {
  auto& session = world.create_session(pack(start), 1, start);
  world.pay(session, Method::card, false, start);
  auto& charge = *session.attempts.back();
  world.refund(charge, 250, {}, {}, false, start);
  const auto page = get(receipt_path(charge));
  EXPECT_THAT(page.body, HasSubstr("10.00 USD"));
  EXPECT_THAT(page.body, HasSubstr("Refunded: 2.50 USD"));
  EXPECT_EQ(get("/receipts/ch_none").status, 404);
}

}  // namespace
}  // namespace presetbridge::paysim

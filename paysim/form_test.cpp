#include "form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stripe_error.h"

namespace presetbridge::paysim {
namespace {

using ::testing::ElementsAre;

// What the error says, of "param: message" or "code param: message".
template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const StripeError& error) {
    return error.code + " " + error.param;
  }
  return "none";
}

TEST(Form, ReadsNestedParametersAsStripesClientsWriteThem) {
  const auto form = parse_form("a=1&b%5Bc%5D=x+y%C3%A9&l[0][d]=p&l[0][e]=q&l[1][d]=r&m[]=s&m[]=t&a=2&n=");
  FormFields in(form);
  EXPECT_EQ(in.text("a"), "2");
  EXPECT_EQ(in.object("b")->text("c"), "x yé");
  auto list = in.objects("l", 2);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].text("d"), "p");
  EXPECT_EQ(list[0].text("e"), "q");
  EXPECT_EQ(list[1].text("d"), "r");
  EXPECT_EQ(list[1].path_of("d"), "l[1][d]");
  EXPECT_THAT(in.texts("m", 2), ElementsAre("s", "t"));
  EXPECT_FALSE(in.text("n"));
  EXPECT_FALSE(in.object("nothing"));
  in.done();
}

TEST(Form, RefusesWhatIsNoForm) {
  for (const std::string text : {"a=%zz", "a=%ff", "a=%00", "a[b=1", "[a]=1", "a[b]c=1", "=1", "a=1&a[b]=1",
                                 "a[b]=1&a=1", "a[1][2][3][4][5][6][7][8]=1"}) {
    EXPECT_THROW(parse_form(text), StripeError) << text;
  }
  std::string many;
  for (int i = 0; i < 1'001; ++i) many += "a[]=1&";
  EXPECT_THROW(parse_form(many), StripeError);
}

TEST(Form, NamesTheParameterThatIsAtFault) {
  const auto form = parse_form("o[n]=12x&o[t]=abcd&o[f]=maybe&o[s]=1&m[k]=" + std::string(501, 'x'));
  FormFields in(form);
  auto object = *in.object("o");
  EXPECT_EQ(refusal([&] { object.number("n", 0, 20); }), "parameter_invalid_integer o[n]");
  EXPECT_EQ(refusal([&] { object.number("s", 2, 20); }), "parameter_invalid_integer o[s]");
  EXPECT_EQ(refusal([&] { object.text("t", 3); }), " o[t]");
  EXPECT_EQ(refusal([&] { object.flag("f"); }), " o[f]");
  EXPECT_EQ(refusal([&] { object.required_text("missing"); }), "parameter_missing o[missing]");
  EXPECT_EQ(refusal([&] { object.objects("t", 1); }), " o[t]");
  EXPECT_EQ(refusal([&] { in.text("o"); }), " o");
  EXPECT_EQ(refusal([&] { in.metadata("m"); }), " m[k]");
  object.done();
  const auto other = parse_form("known=1&o[unknown]=2");
  FormFields rest(other);
  rest.text("known");
  EXPECT_EQ(refusal([&] { rest.object("o")->done(); }), "parameter_unknown o[unknown]");
  rest.done();
}

}  // namespace
}  // namespace presetbridge::paysim

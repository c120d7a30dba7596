// Prices. Money is a whole number of the currency's smallest unit as the payment processor counts it, which for some currencies is not
// that of ISO 4217 (docs.stripe.com/currencies): it counts Icelandic crowns and Ugandan shillings in hundredths.

const WHOLE = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const THOUSANDTHS = new Set('BHD JOD KWD OMR TND'.split(' '));
const digitsOf = (currency: string) => {
  const code = currency.toUpperCase();
  return WHOLE.has(code) ? 0 : THOUSANDTHS.has(code) ? 3 : 2;
};

// "€19.00". `parts`: the price of one of so many equal parts, with one more digit: "€0.158".
export function money(amount: number, currency: string, parts = 1): string {
  const digits = digitsOf(currency);
  try {
    return new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: parts === 1 ? digits : digits + 1,
    }).format(amount / 10 ** digits / parts);
  } catch {
    return `${amount} ${currency}`; // not the code of a currency: as the service sent it
  }
}

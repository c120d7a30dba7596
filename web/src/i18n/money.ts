// Prices. Money is in the currency's smallest unit as the processor counts it, which is not everywhere that of ISO 4217
// (docs.stripe.com/currencies): it counts Icelandic crowns and Ugandan shillings in hundredths.

const WHOLE = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const THOUSANDTHS = new Set('BHD JOD KWD OMR TND'.split(' '));
const digitsOf = (currency: string) => {
  const code = currency.toUpperCase();
  return WHOLE.has(code) ? 0 : THOUSANDTHS.has(code) ? 3 : 2;
};

// "€19.00". `parts`: of so many equal parts one, with a digit more: "€0.158".
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
    return `${amount} ${currency}`; // no known currency: as the service sent it
  }
}

// Prices. Money is a whole number of the currency's smallest unit as the payment processor counts it, which for some currencies is not
// that of ISO 4217 (docs.stripe.com/currencies): it counts Icelandic crowns and Ugandan shillings in hundredths.

const WHOLE = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const THOUSANDTHS = new Set('BHD JOD KWD OMR TND'.split(' '));
const digitsOf = (currency: string) => {
  const code = currency.toUpperCase();
  return WHOLE.has(code) ? 0 : THOUSANDTHS.has(code) ? 3 : 2;
};

// "19.00": the decimal number, as no number of floating point holds it.
function decimal(units: bigint, digits: number): `${number}` {
  const written = String(units).padStart(digits + 1, '0');
  return (digits === 0 ? written : `${written.slice(0, -digits)}.${written.slice(-digits)}`) as `${number}`;
}

function written(units: bigint, currency: string, least: number, digits: number): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: least,
    maximumFractionDigits: digits,
  });
  return format.format(decimal(units, digits));
}

// "€19.00".
export function money(amount: number, currency: string): string {
  try {
    const digits = digitsOf(currency);
    return written(BigInt(amount), currency, digits, digits);
  } catch {
    return `${amount} ${currency}`; // not the code of a currency: as the service sent it
  }
}

const MOST_FINER = 3; // digits beyond those of the currency

// The price of one of `parts` equal parts, "€0.1245": exact, or rounded where no decimal number of so few digits is: to a digit more than
// the currency has, and to further ones as long as all are zero.
export function moneyEach(amount: number, currency: string, parts: number): { price: string; exact: boolean } {
  try {
    const digits = digitsOf(currency);
    const [all, n] = [BigInt(amount), BigInt(parts)];
    for (let finer = 0; finer <= MOST_FINER; finer += 1) {
      const units = all * 10n ** BigInt(finer);
      if (units % n === 0n) return { price: written(units / n, currency, digits, digits + finer), exact: true };
    }
    for (let finer = 1; ; finer += 1) {
      const units = (all * 2n * 10n ** BigInt(finer) + n) / (n * 2n);
      if (units > 0n || finer === MOST_FINER)
        return { price: written(units, currency, digits, digits + finer), exact: false };
    }
  } catch {
    return { price: money(amount, currency), exact: parts === 1 };
  }
}

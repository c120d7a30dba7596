// The words, icons and colours of the ledger and of purchases.
import type { Schemas } from '@/api/client';
import { hoursMinutes } from '@/i18n/format';
import { money } from '@/i18n/money';
import { hasText, t } from '@/i18n/text';
import { word, type Colour, type Icon } from './delivery';

export type LedgerKind = Schemas['LedgerKind'];
// The effect of an entry on the available credits: adds, takes, or neither.
const SIGNS = {
  grant: 1,
  purchase: 1,
  reversal_undone: 1,
  spend: -1,
  reversal: -1,
  debt_paid: 0,
} satisfies Record<LedgerKind, -1 | 0 | 1>;
export const LEDGER_KINDS = Object.keys(SIGNS) as LedgerKind[];

// An entry's name. Entries of an earlier version of the service have no cause.
export const ledgerWord = ({ kind, cause }: Pick<Schemas['LedgerEntry'], 'kind' | 'cause'>): string =>
  cause && hasText(`ledger.${kind}.${cause}`) ? word('ledger', `${kind}.${cause}`) : word('ledger', kind);

// The service's note of a share begins as the entry's name does, and names the preset.
export const ledgerNote = ({ kind, note }: Pick<Schemas['LedgerEntry'], 'kind' | 'note'>): string =>
  kind === 'spend' ? note.replace(/^shared /, '') : note;

export function amount(kind: string, credits: number): string {
  const sign = (SIGNS as Record<string, number>)[kind] ?? 0;
  const number = new Intl.NumberFormat('en').format(credits);
  return sign > 0 ? `+${number}` : sign < 0 ? `−${number}` : number;
}

export type Purchase = Schemas['Purchase'];
export type PurchaseState = Schemas['PurchaseState'];
const PURCHASE_LOOKS = {
  pending: ['dashed', 'grey'],
  paid: ['check', 'teal'],
  failed: ['octagon', 'red'],
  expired: ['slash', 'grey'],
  refunded: ['slash', 'grey'],
  disputed: ['octagon', 'red'],
} satisfies Record<PurchaseState, [Icon, Colour]>;
export const PURCHASE_STATES = Object.keys(PURCHASE_LOOKS) as PurchaseState[];
export const purchaseLook = (state: string): [Icon, Colour] =>
  Object.hasOwn(PURCHASE_LOOKS, state) ? PURCHASE_LOOKS[state as PurchaseState] : ['circle', 'grey'];

// A state of the service is of the whole purchase; the amounts show that only a part of the money went back.
export const isPartlyRefunded = ({ state, amount, amountRefunded }: Purchase) =>
  state === 'refunded' && amountRefunded < amount;
export const purchaseWord = (it: Purchase): string =>
  isPartlyRefunded(it) ? t('purchases.partlyRefunded') : word('purchaseState', it.state);

// Where it can be paid. Only http and https, since the address is the payment processor's.
export const payUrl = ({ state, url }: Purchase) =>
  state === 'pending' && url && /^https?:\/\//.test(url) ? url : null;
export const receiptUrl = ({ receiptUrl: url }: Purchase) => (url && /^https?:\/\//.test(url) ? url : null);

// The muted words after a purchase's state.
export function purchaseLine(it: Purchase): string {
  switch (it.state) {
    case 'pending':
      return it.url ? t('purchases.line.pending', { time: hoursMinutes(it.expiresAt) }) : t('purchases.line.bank');
    case 'refunded':
      return t('purchases.line.refunded', { money: money(it.amountRefunded, it.currency) });
    case 'disputed':
      return t('purchases.line.disputed', { money: money(it.amountDisputed, it.currency) });
    default:
      return it.problem ?? '';
  }
}

// All words of the dashboard come from one catalogue (en/) through here: t() gives a string, <T> a sentence with elements in it.
// Keys and the values that a sentence needs are checked by the compiler. The parts that the first page needs are here from the start;
// the others add themselves when a page imports them (`import '@/i18n/en/stores'`), which a test holds pages to.
import { Fragment, type ReactNode } from 'react';
import type { account } from './en/account';
import type { bulk } from './en/bulk';
import type { credits } from './en/credits';
import { frame } from './en/frame';
import { deliveries } from './en/deliveries';
import type { customers } from './en/customers';
import type { delivery } from './en/delivery';
import type { instead } from './en/instead';
import type { lost } from './en/lost';
import type { mail } from './en/mail';
import type { orders } from './en/orders';
import type { more_matches } from './en/more_matches';
import type { own_order } from './en/own_order';
import type { palette } from './en/palette';
import type { people } from './en/people';
import type { presets } from './en/presets';
import type { guide } from './en/guide';
import type { home } from './en/home';
import type { profile } from './en/profile';
import type { questions } from './en/questions';
import type { require_token } from './en/require_token';
import type { step_up } from './en/step_up';
import type { store_kinds } from './en/store_kinds';
import type { stores } from './en/stores';
import type { usage } from './en/usage';
import type { webhooks } from './en/webhooks';
import { names } from './names';
import { isolated } from './outside';
import { addWords, words } from './words';

type Catalogue = typeof frame &
  typeof deliveries &
  typeof delivery &
  typeof store_kinds &
  typeof stores &
  typeof webhooks &
  typeof account &
  typeof bulk &
  typeof credits &
  typeof customers &
  typeof guide &
  typeof home &
  typeof instead &
  typeof lost &
  typeof mail &
  typeof orders &
  typeof more_matches &
  typeof own_order &
  typeof palette &
  typeof people &
  typeof presets &
  typeof profile &
  typeof questions &
  typeof require_token &
  typeof step_up &
  typeof usage;
export type TextKey = keyof Catalogue;

addWords({ ...frame, ...deliveries });

type NamesIn<S> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type Entry<K extends TextKey> = Catalogue[K];
type NamesOf<K extends TextKey> = Exclude<
  Entry<K> extends string ? NamesIn<Entry<K>> : 'count' | NamesIn<Extract<Entry<K>[keyof Entry<K>], string>>,
  keyof typeof names
>;
type Values<K extends TextKey, V> = [NamesOf<K>] extends [never] ? [] : [values: Record<NamesOf<K>, V>];
type Plain = string | number;

const plurals = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');

function pattern(key: TextKey, values: Record<string, unknown>): string {
  const entry = words[key] ?? key;
  return typeof entry === 'string' ? entry : (entry[plurals.select(Number(values.count))] ?? entry.other ?? '');
}

// Numbers as this language writes them; texts so that they cannot turn the sentence.
const shown = (value: unknown) => (typeof value === 'number' ? numbers.format(value) : isolated(String(value ?? '')));

export function t<K extends TextKey>(key: K, ...[values]: Values<K, Plain>): string {
  const given: Record<string, unknown> = { ...names, ...values };
  return pattern(key, given).replace(/\{(\w+)\}/g, (_, name: string) => shown(given[name]));
}

// `values` may hold elements; `count` chooses the plural form.
export function T<K extends TextKey>(
  props: { k: K } & ([NamesOf<K>] extends [never] ? { values?: undefined } : { values: Record<NamesOf<K>, ReactNode> }),
) {
  const values: Record<string, ReactNode> = { ...names, ...props.values };
  const parts = pattern(props.k, values).split(/\{(\w+)\}/);
  return parts.map((part, index) => {
    if (index % 2 === 0) return part;
    const value = values[part];
    return (
      <Fragment key={part}>{typeof value === 'number' || typeof value === 'string' ? shown(value) : value}</Fragment>
    );
  });
}

export const hasText = (key: string): key is TextKey => Object.hasOwn(words, key);

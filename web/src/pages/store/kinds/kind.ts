// The dashboard's knowledge of one kind of shop. A new kind is a file beside this one, with its texts in i18n/en/store_kinds.ts,
// and its line in kinds.ts.
import type { ReactNode } from 'react';
import type { TextKey } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';

// `secret`: ours, the one time that it is known. `onSecret`: receives a new secret, where one can be made here, and null once it is
// stored. `beside`: the shop's secret is entered beside the steps.
export type StepsProps = {
  it: Store;
  secret: string | null;
  onSecret?: (secret: string | null) => void;
  beside?: boolean;
};

export type Word = Extract<TextKey, `steps.word.${string}`>;
// An event in the shop's own words, and its purpose.
export type Event = readonly [name: Word, why: Extract<TextKey, `steps.why.${string}`>];

type Check = Extract<TextKey, `check.${string}`>;

export type StoreKind = {
  // The fields of a choice in a new store.
  name: Extract<TextKey, `shop.${string}`>;
  hint: Extract<TextKey, `shopHint.${string}`>;
  // Whether the shop signs with a secret of its own, which the merchant enters here.
  dictatesSecret: boolean;
  // Whether the shop's webhooks can carry an API token.
  sendsToken: boolean;
  // Whether the shop's orders can say that they are a test, and whether it can report their refund or cancellation at all.
  sendsTests: boolean;
  sendsEnds: boolean;
  // Whether the shop reports cancellations and refunds by webhooks of their own, which a merchant may forget.
  hasWebhooksForEnds: boolean;
  // The events that the shop's webhooks are made for: first the one that sends a paid order. A test compares them with docs/guides.
  webhooks: { first: Word; others: readonly Event[] } | null;
  // Their topics, as the shop names them in its requests.
  topics: readonly (readonly [topic: string, name: Word])[];
  // The questions where no order arrives, and where a body came that is no order.
  checks: readonly Check[];
  checksOfBody: readonly Check[];
  // The code that asks buyers for it, as in docs/guides, and where it belongs.
  snippet: string;
  snippetHint: Extract<TextKey, `shopField.${string}`>;
  // The steps that connect it, in order.
  steps: (props: StepsProps) => ReactNode[];
  // The last step, which sends a first order; null: the steps need none.
  proof: (() => ReactNode) | null;
};

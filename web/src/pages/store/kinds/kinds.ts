// The kinds of shops: those that a new store can be of, and the one of a store.
import type { Schemas } from '@/api/client';
import type { Store } from '@/vocabulary/store';
import { generic } from './generic';
import type { StoreKind } from './kind';
import { shopify } from './shopify';
import { woocommerce } from './woocommerce';

// In the order in which they are offered, by the names that a new store is made with.
export const CHOICES = { shopify, woocommerce, generic } satisfies Partial<Record<Schemas['ProviderName'], StoreKind>>;
export type Choice = keyof typeof CHOICES;

const KINDS: Record<Store['provider'], StoreKind> = { provider_a: shopify, provider_b: woocommerce, generic };

export const kindFor = (it: Pick<Store, 'provider'>) => KINDS[it.provider];

// Whether the store has sent orders, and never a webhook of those that its shop has for cancellations and refunds.
export const neverSentEnds = (it: Store) =>
  kindFor(it).hasWebhooksForEnds &&
  it.lastOrderAt !== null &&
  !it.topicsSeen.some((topic) => /cancel|refund/.test(topic));

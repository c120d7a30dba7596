// The reads of the service: each once, with its key and its poll interval. Pages use these and nothing else.
import { keepPreviousData, QueryClient, queryOptions } from '@tanstack/react-query';
import { api, ok, open, type Schemas } from './client';
import { paced } from '@/live/state';
import { ApiError, isMissing, worthAnotherTry } from './errors';
import type { operations } from './schema.mjs';

// Poll intervals while live changes do not arrive; UNTOLD: for data without live changes.
const CALM_MS = paced(15_000);
const OPEN_MS = paced(5_000, 10_000); // events of the shop's webhooks are no live changes
const POLLED_MS = 5_000;
const BUSY_MS = 1_000;
const SLOW_MS = 60_000;

// Whose days and hours are meant.
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: worthAnotherTry, staleTime: 5_000, gcTime: 10 * 60_000, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

export type DeliveryQuery = NonNullable<operations['listDeliveries']['parameters']['query']>;
export type StatisticsQuery = NonNullable<operations['getDeliveryStatistics']['parameters']['query']>;
export type BulkWanted = Omit<Schemas['ActOnDeliveries'], 'dryRun'>;
type ProductQuery = NonNullable<operations['listProducts']['parameters']['query']>;
export type OrderQuery = NonNullable<operations['listOrders']['parameters']['query']>;
type PresetQuery = NonNullable<operations['listPresets']['parameters']['query']>;
type KeyQuery = NonNullable<operations['listKeys']['parameters']['query']>;
type UsageQuery = NonNullable<operations['getUsage']['parameters']['query']>;
export type EventQuery = NonNullable<operations['listWebhookEvents']['parameters']['query']>;

// The contract offers a table (text/csv) too; JSON is asked for here.
const deliveryPage = (query: DeliveryQuery, signal: AbortSignal) =>
  ok(api.GET('/api/deliveries', { params: { query }, signal })) as Promise<Schemas['DeliveryList']>;

// The rows of every page of a list, or of the first `most` pages; `nextCursor` then says that there are more.
export async function allPages<Row>(
  read: (page: { limit: number; cursor?: string }) => Promise<{ data: Row[]; nextCursor: string | null }>,
  most = Infinity,
) {
  const data: Row[] = [];
  let nextCursor: string | null = null;
  let pages = 0;
  do {
    const page = await read({ limit: 100, ...(nextCursor === null ? {} : { cursor: nextCursor }) });
    data.push(...page.data);
    nextCursor = page.nextCursor;
    pages += 1;
  } while (nextCursor !== null && pages < most);
  return { data, nextCursor };
}

const keyPage = (query: KeyQuery, signal: AbortSignal) => ok(api.GET('/api/keys', { params: { query }, signal }));
const MOST_NAMED = 20; // pages of tokens that are read for their names; inactive tokens have no limit

export const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

export const queries = {
  version: () =>
    queryOptions({ queryKey: ['version'], queryFn: () => ok(open.GET('/api/version')), staleTime: Infinity }),
  account: () => queryOptions({ queryKey: ['account'], queryFn: () => ok(api.GET('/api/account')), staleTime: 60_000 }),
  preferences: () =>
    queryOptions({
      queryKey: ['preferences'],
      queryFn: ({ signal }) => ok(api.GET('/api/me/preferences', { signal })),
      staleTime: 60_000,
    }),
  // Who signs tokens for e-mail and password.
  ownIssuer: () =>
    queryOptions({
      queryKey: ['own issuer'],
      queryFn: async () => (await ok(open.GET('/.well-known/openid-configuration'))).issuer,
      staleTime: Infinity,
    }),
  sessions: () =>
    queryOptions({
      queryKey: ['account', 'sessions'],
      queryFn: ({ signal }) => ok(api.GET('/api/account/sessions', { params: { query: { limit: 100 } }, signal })),
      refetchInterval: CALM_MS,
    }),
  audit: (query: NonNullable<operations['listAudit']['parameters']['query']>) =>
    queryOptions({
      queryKey: ['account', 'audit', query],
      queryFn: ({ signal }) => ok(api.GET('/api/account/audit', { params: { query }, signal })),
      placeholderData: keepPreviousData,
    }),
  people: () =>
    queryOptions({
      queryKey: ['people', 'list'],
      queryFn: ({ signal }) => ok(api.GET('/api/people', { params: { query: { limit: 100 } }, signal })),
      refetchInterval: POLLED_MS,
    }),
  invitations: () =>
    queryOptions({
      queryKey: ['people', 'invitations'],
      queryFn: ({ signal }) => ok(api.GET('/api/invitations', { params: { query: { limit: 100 } }, signal })),
      refetchInterval: POLLED_MS,
    }),

  privacyRequests: (query: NonNullable<operations['listPrivacyRequests']['parameters']['query']>) =>
    queryOptions({
      queryKey: ['privacy requests', query],
      queryFn: ({ signal }) => ok(api.GET('/api/privacy-requests', { params: { query }, signal })),
      placeholderData: keepPreviousData,
      refetchInterval: POLLED_MS,
    }),

  privacyRequestOrders: (id: string, cursor?: string) =>
    queryOptions({
      queryKey: ['privacy requests', id, 'orders', cursor],
      queryFn: ({ signal }) =>
        ok(
          api.GET('/api/privacy-requests/{privacyRequest}/orders', {
            params: { path: { privacyRequest: id }, query: { limit: 20, ...(cursor ? { cursor } : {}) } },
            signal,
          }),
        ),
      placeholderData: keepPreviousData,
    }),

  deliveries: (query: DeliveryQuery) =>
    queryOptions({
      queryKey: ['deliveries', 'list', query],
      queryFn: ({ signal }) => deliveryPage(query, signal),
      placeholderData: keepPreviousData,
      refetchInterval: CALM_MS,
    }),
  deliveryCount: (query: DeliveryQuery) =>
    queryOptions({
      queryKey: ['deliveries', 'count', query],
      queryFn: ({ signal }) => deliveryPage({ ...query, limit: 1, count: true }, signal),
      refetchInterval: CALM_MS,
    }),
  delivery: (id: string) =>
    queryOptions({
      queryKey: ['deliveries', 'one', id],
      queryFn: ({ signal }) =>
        ok(api.GET('/api/deliveries/{delivery}', { params: { path: { delivery: id } }, signal })),
      refetchInterval: OPEN_MS,
    }),

  overview: (store?: string) =>
    queryOptions({
      queryKey: ['overview', store ?? ''],
      queryFn: ({ signal }) =>
        ok(
          api.GET('/api/overview', {
            params: { query: { tz: TIME_ZONE, ...(store ? { integrationId: store } : {}) } },
            signal,
          }),
        ),
      placeholderData: keepPreviousData,
      refetchInterval: 15_000, // the last minute of the limit passes by itself
    }),
  deliveryStatistics: (query: StatisticsQuery) =>
    queryOptions({
      queryKey: ['stats', 'deliveries', query],
      queryFn: ({ signal }) =>
        ok(api.GET('/api/stats/deliveries', { params: { query: { tz: TIME_ZONE, ...query } }, signal })),
      placeholderData: keepPreviousData,
      refetchInterval: CALM_MS,
    }),
  durations: (query: Omit<StatisticsQuery, 'bucket'>) =>
    queryOptions({
      queryKey: ['stats', 'durations', query],
      queryFn: ({ signal }) =>
        ok(api.GET('/api/stats/durations', { params: { query: { tz: TIME_ZONE, ...query } }, signal })),
      placeholderData: keepPreviousData,
      refetchInterval: CALM_MS,
    }),

  // The extent of an action on many. Read anew each time that it is shown.
  bulkPlan: (wanted: BulkWanted) =>
    queryOptions({
      queryKey: ['deliveries', 'bulk plan', wanted],
      queryFn: ({ signal }) =>
        ok(api.POST('/api/deliveries/bulk', { body: { ...wanted, dryRun: true }, signal })) as Promise<
          Schemas['BulkPlan']
        >,
      gcTime: 0,
    }),
  bulkJob: (id: string) =>
    queryOptions({
      queryKey: ['bulk', id],
      queryFn: ({ signal }) => ok(api.GET('/api/bulk/{job}', { params: { path: { job: id } }, signal })),
      refetchInterval: ({ state }) => (state.data?.finishedAt || isMissing(state.error) ? false : BUSY_MS),
    }),
  // The account's buyers at the cloud user, by friendship. The service reads many rows for each answer.
  cloudFriends: () =>
    queryOptions({
      queryKey: ['cloud', 'friends'],
      queryFn: async ({ signal }) =>
        (await ok(api.GET('/api/credentials', { params: { query: { friends: true } }, signal }))).friends ?? null,
      refetchInterval: SLOW_MS,
    }),
  // How fast the cloud account may be used.
  cloudLimit: () =>
    queryOptions({
      queryKey: ['cloud', 'limit'],
      queryFn: async ({ signal }) => (await ok(api.GET('/api/overview', { signal }))).limit,
      refetchInterval: CALM_MS,
    }),

  // Every store that is not archived.
  stores: () =>
    queryOptions({
      queryKey: ['stores', 'list'],
      queryFn: ({ signal }) =>
        allPages<Schemas['Integration']>((page) =>
          ok(api.GET('/api/integrations', { params: { query: page }, signal })),
        ),
      refetchInterval: CALM_MS,
    }),
  store: (id: string) =>
    queryOptions({
      queryKey: ['stores', 'one', id],
      queryFn: ({ signal }) =>
        ok(api.GET('/api/integrations/{integration}', { params: { path: { integration: id } }, signal })),
      refetchInterval: CALM_MS,
    }),
  mappings: (id: string) =>
    queryOptions({
      queryKey: ['stores', 'mappings', id],
      queryFn: ({ signal }) =>
        ok(api.GET('/api/integrations/{integration}/mappings', { params: { path: { integration: id } }, signal })),
    }),
  products: (id: string, query: ProductQuery) =>
    queryOptions({
      queryKey: ['stores', 'products', id, query],
      queryFn: ({ signal }) =>
        ok(
          api.GET('/api/integrations/{integration}/products', { params: { path: { integration: id }, query }, signal }),
        ),
      placeholderData: keepPreviousData,
    }),
  orders: (query: OrderQuery) =>
    queryOptions({
      queryKey: ['orders', 'list', query],
      queryFn: ({ signal }) => ok(api.GET('/api/orders', { params: { query }, signal })),
      placeholderData: keepPreviousData,
      refetchInterval: CALM_MS,
    }),
  order: (id: string) =>
    queryOptions({
      queryKey: ['orders', 'one', id],
      queryFn: ({ signal }) => ok(api.GET('/api/orders/{order}', { params: { path: { order: id } }, signal })),
      refetchInterval: CALM_MS,
    }),
  orderPayload: (id: string) =>
    queryOptions({
      queryKey: ['orders', 'payload', id],
      queryFn: ({ signal }) => ok(api.GET('/api/orders/{order}/payload', { params: { path: { order: id } }, signal })),
      gcTime: 0, // a buyer's data
    }),
  presetPage: (query: PresetQuery) =>
    queryOptions({
      queryKey: ['presets', 'page', query],
      queryFn: ({ signal }) => ok(api.GET('/api/presets', { params: { query: { ...query, usage: true } }, signal })),
      placeholderData: keepPreviousData,
    }),
  // The ids of all files that mappings deliver and the cloud user no longer has: every page of them.
  gonePresets: () =>
    queryOptions({
      queryKey: ['presets', 'page', 'gone'],
      queryFn: async ({ signal }) => {
        const { data } = await allPages<Schemas['Preset']>((page) =>
          ok(api.GET('/api/presets', { params: { query: { gone: true, ...page } }, signal })),
        );
        return data.map(({ id }) => id);
      },
    }),
  preset: (id: string) =>
    queryOptions({
      queryKey: ['presets', 'one', id],
      queryFn: ({ signal }) =>
        ok(api.GET('/api/presets/{preset}', { params: { path: { preset: id }, query: { usage: true } }, signal })),
    }),
  presets: (search: string) =>
    queryOptions({
      queryKey: ['presets', search],
      queryFn: ({ signal }) =>
        ok(api.GET('/api/presets', { params: { query: { limit: 50, ...(search ? { search } : {}) } }, signal })),
      placeholderData: keepPreviousData,
      staleTime: 60_000,
    }),

  subscriptions: () =>
    queryOptions({
      queryKey: ['subscriptions', 'list'],
      queryFn: ({ signal }) => ok(api.GET('/api/webhook-subscriptions', { params: { query: { limit: 100 } }, signal })),
      refetchInterval: CALM_MS,
    }),
  // How many events that failed in the last days would be sent again.
  recovery: (id: string, days: number) =>
    queryOptions({
      queryKey: ['subscriptions', 'recovery', id, days],
      queryFn: ({ signal }) =>
        ok(
          api.POST('/api/webhook-subscriptions/{subscription}/recover', {
            params: { path: { subscription: id } },
            body: { since: daysAgo(days), dryRun: true },
            signal,
          }),
        ),
      gcTime: 0,
    }),
  subscription: (id: string) =>
    queryOptions({
      queryKey: ['subscriptions', 'one', id],
      queryFn: ({ signal }) =>
        ok(api.GET('/api/webhook-subscriptions/{subscription}', { params: { path: { subscription: id } }, signal })),
      refetchInterval: POLLED_MS,
    }),
  events: (id: string, query: EventQuery) =>
    queryOptions({
      queryKey: ['subscriptions', 'events', id, query],
      queryFn: ({ signal }) =>
        ok(
          api.GET('/api/webhook-subscriptions/{subscription}/events', {
            params: { path: { subscription: id }, query },
            signal,
          }),
        ),
      placeholderData: keepPreviousData,
      refetchInterval: POLLED_MS,
    }),
  event: (id: string, event: string) =>
    queryOptions({
      queryKey: ['subscriptions', 'event', id, event],
      queryFn: ({ signal }) =>
        ok(
          api.GET('/api/webhook-subscriptions/{subscription}/events/{event}', {
            params: { path: { subscription: id, event } },
            signal,
          }),
        ),
      refetchInterval: POLLED_MS,
    }),

  // All tokens, for their names.
  keys: () =>
    queryOptions({
      queryKey: ['keys', 'list'],
      queryFn: ({ signal }) => allPages<Schemas['ApiKey']>((page) => keyPage(page, signal), MOST_NAMED),
      refetchInterval: CALM_MS,
    }),
  activeKeys: () =>
    queryOptions({
      queryKey: ['keys', 'active'],
      queryFn: ({ signal }) => allPages<Schemas['ApiKey']>((page) => keyPage({ active: true, ...page }, signal)),
      refetchInterval: CALM_MS,
    }),
  inactiveKeys: (query: Omit<KeyQuery, 'active'>) =>
    queryOptions({
      queryKey: ['keys', 'inactive', query],
      queryFn: ({ signal }) => keyPage({ active: false, ...query }, signal),
      placeholderData: keepPreviousData,
      refetchInterval: CALM_MS,
    }),
  key: (id: string) =>
    queryOptions({
      queryKey: ['keys', 'one', id],
      queryFn: ({ signal }) => ok(api.GET('/api/keys/{key}', { params: { path: { key: id } }, signal })),
      refetchInterval: CALM_MS,
    }),
  // The token, which has no secret, is read with its use, so that its counts are as old.
  keyUsage: (id: string, query: Omit<UsageQuery, 'groupBy' | 'integrationId'>) =>
    queryOptions({
      queryKey: ['keys', 'usage', id, query],
      queryFn: async ({ signal, client }) => {
        const path = { key: id };
        const [usage, it] = await Promise.all([
          ok(api.GET('/api/keys/{key}/usage', { params: { path, query }, signal })),
          ok(api.GET('/api/keys/{key}', { params: { path }, signal })),
        ]);
        client.setQueryData(queries.key(id).queryKey, it);
        return usage;
      },
      placeholderData: keepPreviousData,
      refetchInterval: SLOW_MS,
    }),
  usage: (query: UsageQuery) =>
    queryOptions({
      queryKey: ['usage', 'all', query],
      queryFn: ({ signal }) => ok(api.GET('/api/usage', { params: { query }, signal })),
      placeholderData: keepPreviousData,
      refetchInterval: SLOW_MS,
    }),
  search: (q: string) =>
    queryOptions({
      queryKey: ['search', q],
      queryFn: ({ signal }) => ok(api.GET('/api/search', { params: { query: { q, limit: 5 } }, signal })),
      placeholderData: keepPreviousData,
      enabled: q !== '',
    }),
  cloud: () =>
    queryOptions({
      queryKey: ['cloud'],
      queryFn: ({ signal }) => ok(api.GET('/api/credentials', { signal })),
      refetchInterval: CALM_MS,
    }),
  credits: () =>
    queryOptions({
      queryKey: ['credits', 'balance'],
      queryFn: ({ signal }) => ok(api.GET('/api/credits', { signal })),
      refetchInterval: CALM_MS,
    }),
  packs: () =>
    queryOptions({
      queryKey: ['credits', 'packs'],
      queryFn: ({ signal }) => ok(api.GET('/api/credits/packs', { signal })),
      staleTime: 5 * 60_000,
    }),
  purchases: (query: NonNullable<operations['listPurchases']['parameters']['query']>) =>
    queryOptions({
      queryKey: ['credits', 'purchases', query],
      queryFn: ({ signal }) => ok(api.GET('/api/credits/purchases', { params: { query }, signal })),
      placeholderData: keepPreviousData,
      refetchInterval: CALM_MS,
    }),
  // The outcome of a purchase: the payment processor is asked. `asked`: it answered; else the purchase is as last known.
  settledPurchase: (id: string) =>
    queryOptions({
      queryKey: ['credits', 'settled', id],
      queryFn: async ({ signal }) => {
        const params = { path: { purchase: id } };
        const known = await ok(api.GET('/api/credits/purchases/{purchase}', { params, signal }));
        // Later changes of a settled purchase come by webhooks.
        if (known.state !== 'pending') return { purchase: known, asked: true };
        try {
          const purchase = await ok(api.POST('/api/credits/purchases/{purchase}/refresh', { params, signal }));
          return { purchase, asked: true };
        } catch (error) {
          if (!(error instanceof ApiError) || ![403, 409, 429, 502].includes(error.status)) throw error;
          return { purchase: known, asked: false };
        }
      },
      refetchInterval: ({ state }) => (state.data?.purchase.state === 'pending' ? POLLED_MS : false),
    }),
  ledger: (query: NonNullable<operations['listLedger']['parameters']['query']>) =>
    queryOptions({
      queryKey: ['credits', 'ledger', query],
      queryFn: ({ signal }) => ok(api.GET('/api/credits/ledger', { params: { query }, signal })),
      placeholderData: keepPreviousData,
    }),
};

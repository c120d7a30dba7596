// A delivery as the API returns it, for tests.
import type { Schemas } from '@/api/client';

type Delivery = Schemas['DeliveryWithTimeline'];

const item = (name: string): Delivery['items'][number] => ({
  id: `itm_${name}`, fileId: `f-${name}`, kind: 'preset', name, matchedBy: 'sku', quantity: 1, status: 'owed', sharedAt: null,
  username: null, former: false, staysWithCustomer: false, dryRun: false, credits: 0,
}); // prettier-ignore

// A delivery's items, each with what differs of an owed one, and their counts.
export function itemsOf(...differ: Partial<Delivery['items'][number]>[]) {
  const items = differ.map((more, index) => ({ ...item(`Preset ${index + 1}`), ...more }));
  const present = items.filter(({ former, status }) => !former && status !== 'dropped');
  const done = ['shared', 'already_shared', 'delivered_by_hand'];
  return {
    items,
    itemCount: present.length,
    sharedCount: present.filter(({ status }) => done.includes(status)).length,
  };
}

export function aDelivery(more: Partial<Delivery> = {}): Delivery {
  return {
    id: 'del_0a1b2c3d4e5f6', accountId: 'acc_0a1b2c3d4e5f6', integrationId: 'int_0a1b2c3d4e5f6', integrationName: 'marlowtones.com',
    orderId: '5872094412901', orderNumber: '#4124', eventId: 'oev_1', status: 'queued', resolutionCode: null, resolution: null,
    message: 'It is queued.', reason: null, reviewReason: null, pendingAction: null, targetUsername: 'jonasek_', rawUsername: 'Jonasek_ ',
    customerEmail: 'jonas@posteo.net', cloudAccountId: null, customerId: null, itemCount: 2, sharedCount: 0, firstItemName: 'Lead',
    flags: [], refunded: false, refundedInPart: false, cancelled: false, test: false, attemptCount: 1, nextAttemptAt: null, queuePosition: 2, estimatedAt: null, waitingSince: null, requestedAt: null,
    createdAt: '2026-11-22T13:21:05.000Z', updatedAt: '2026-11-22T13:21:09.000Z', completedAt: null, dryRun: false, sequence: 2,
    items: [item('Lead'), item('Rhythm')],
    steps: (['order_received', 'buyer_found', 'friend_request', 'accepted', 'shared'] as const).map((key, index) => ({ key, state: index === 0 ? 'done' : 'ahead', at: null })),
    allowedActions: ['retry', 'change_username', 'complete', 'reopen', 'invalidate'], resumableUntil: null, partlyUnmapped: false, size: null,
    usernameSource: 'store', firstRequestAt: null, givesUpAt: null, nextLookAt: null, storeOrderUrl: null, buyerUrl: 'https://bridge.example/p#token',
    events: [], timeline: [], timelineNextCursor: null, ...more,
  }; // prettier-ignore
}

export const failedFor = (code: Schemas['ResolutionCode'], more: Partial<Delivery> = {}) =>
  aDelivery({
    status: 'failed',
    resolutionCode: code,
    resolution: {
      code,
      title: 'Title',
      whatHappened: 'What.',
      whatToDo: 'Do.',
      text: 'Text.',
      remedy: 'retry',
      affectedCount: 12,
      creditsNeeded: 3,
      fileName: 'Lofi Bedroom DI',
    },
    ...more,
  });

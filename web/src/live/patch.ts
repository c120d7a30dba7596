// A delivery in a list with the fields of an event.
import type { Schemas } from '@/api/client';

export type LiveDelivery = Schemas['LiveDelivery']['data'];
type Row = Schemas['Delivery'];

// The row with the fields of an event, or the row itself where the event is older or changes nothing.
export function patched<It extends Row>(row: It, now: LiveDelivery): It {
  if (now.updatedAt < row.updatedAt) return row;
  const { shared, total } = now.items;
  if (
    row.status === now.status &&
    row.resolutionCode === now.resolutionCode &&
    row.sharedCount === shared &&
    row.itemCount === total &&
    row.updatedAt === now.updatedAt
  )
    return row;
  return {
    ...row,
    status: now.status,
    resolutionCode: now.resolutionCode,
    sharedCount: shared,
    itemCount: total,
    message: now.status === row.status ? row.message : '',
    updatedAt: now.updatedAt,
    waitingSince:
      now.status === 'waiting_for_friendship' ? (row.status === now.status ? row.waitingSince : now.updatedAt) : null,
    // The page's next read of the list says when the request was sent.
    requestedAt: now.status === 'waiting_for_friendship' ? row.requestedAt : null,
    completedAt: now.status === 'completed' ? (row.completedAt ?? now.updatedAt) : null,
    queuePosition: now.status === row.status ? row.queuePosition : null,
    nextAttemptAt: now.status === row.status ? row.nextAttemptAt : null,
    pendingAction: null,
    reviewReason: now.status === row.status ? row.reviewReason : null,
  };
}

export function withRows<Data extends object>(
  data: Data,
  field: keyof Data,
  all: ReadonlyMap<string, LiveDelivery>,
): Data {
  const rows = data[field];
  if (!Array.isArray(rows)) return data;
  let changed = false;
  const next = (rows as Row[]).map((row) => {
    const now = all.get(row.id);
    const then = now ? patched(row, now) : row;
    changed ||= then !== row;
    return then;
  });
  return changed ? { ...data, [field]: next } : data;
}

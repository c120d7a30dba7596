// Presets of a completed delivery that were taken back from the buyer: its status does not say so.
import '@/i18n/en/delivery';
import { t } from '@/i18n/text';
import { presentHolder } from './holders';
import type { Delivery } from './types';

const presentOf = (it: Delivery) => presentHolder(it).items.filter(({ status }) => status !== 'dropped');
const gone = (items: Delivery['items']) =>
  items.filter(({ status, staysWithCustomer }) => status === 'revoked' && !staysWithCustomer);

export function takenBack(it: Delivery) {
  const present = it.status === 'completed' ? presentOf(it) : [];
  const items = gone(present);
  return { items, total: present.length, all: items.length > 0 && items.length === present.length };
}

// null: nothing was.
export function takenBackWords(it: Delivery): string | null {
  const { items, total, all } = takenBack(it);
  if (items.length === 0) return null;
  return all ? t('delivery.takenBackAll', { count: total }) : t('delivery.takenBack', { count: items.length, total });
}

type Line = { quantity: number; refundedQuantity: number; files: { fileId: string }[] };

const fileIds = (lines: Line[]) => new Set(lines.flatMap(({ files }) => files.map(({ fileId }) => fileId)));
const isPaid = (line: Line) => line.refundedQuantity < line.quantity;

// The files whose products are all refunded.
export function refundedFiles(lines: Line[]): Set<string> {
  const paid = fileIds(lines.filter(isPaid));
  return new Set([...fileIds(lines)].filter((fileId) => !paid.has(fileId)));
}

// The taken back presets that an approval shares again: their products are still paid for. `lines`: the order’s, where it has refunds.
export function shareableAgain(it: Delivery, lines: Line[] = []) {
  const paid = fileIds(lines.filter(isPaid));
  return gone(presentOf(it)).filter(({ fileId }) => !it.refunded || paid.has(fileId));
}

// A preset that was charged once is not charged again.
export function costOf(items: Delivery['items']): string {
  const unpaid = items.filter(({ credits }) => credits === 0).length;
  return unpaid === 0
    ? t('facts.shareAgain.free')
    : t('facts.shareAgain.costs', { credits: t('count.credits', { count: unpaid }) });
}

// Says what an approval shares again. null: nothing.
export function againWords(it: Delivery, lines: Line[] | undefined): string | null {
  const items = shareableAgain(it, lines);
  return items.length === 0 ? null : t('delivery.again', { count: items.length, cost: costOf(items) });
}

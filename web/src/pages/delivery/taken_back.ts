// Presets of a completed delivery that were taken back from the buyer: its status does not say so.
import '@/i18n/en/delivery';
import { t } from '@/i18n/text';
import { presentHolder } from './holders';
import type { Delivery } from './types';

export function takenBack(it: Delivery) {
  const present = it.status === 'completed' ? presentHolder(it).items.filter(({ status }) => status !== 'dropped') : [];
  const items = present.filter(({ status, staysWithCustomer }) => status === 'revoked' && !staysWithCustomer);
  return { items, total: present.length, all: items.length > 0 && items.length === present.length };
}

// null: nothing was.
export function takenBackWords(it: Delivery): string | null {
  const { items, total, all } = takenBack(it);
  if (items.length === 0) return null;
  return all ? t('delivery.takenBackAll', { count: total }) : t('delivery.takenBack', { count: items.length, total });
}

type Line = { quantity: number; refundedQuantity: number; files: { fileId: string }[] };

// The taken back presets that an approval shares again: their products are still paid for. `lines`: the order’s, where it has refunds.
export function shareableAgain(it: Delivery, lines: Line[] = []) {
  const paid = new Set(
    lines
      .filter((line) => line.refundedQuantity < line.quantity)
      .flatMap(({ files }) => files.map(({ fileId }) => fileId)),
  );
  return takenBack(it).items.filter(({ fileId }) => !it.refunded || paid.has(fileId));
}

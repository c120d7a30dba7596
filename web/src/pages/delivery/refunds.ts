// The refunds of a delivery's order: its refunded products, and the presets that the buyer still has of them.
import '@/i18n/en/delivery';
import { listed } from '@/i18n/format';
import { isolated } from '@/i18n/outside';
import { t } from '@/i18n/text';
import { partRefunded } from '@/vocabulary/order';
import { presentHolder, revocable } from './holders';
import { refundedFiles } from './taken_back';
import type { Delivery } from './types';
import type { useLines } from './useLines';

type Lines = ReturnType<typeof useLines>;

const NAMED = 5;

// The products of an order that was refunded in part, by their names in the store. null: none, or all of them.
export function refundedProducts(lines: Lines): string | null {
  if (!partRefunded(lines)) return null;
  const refunded = (lines ?? []).filter(({ refundedQuantity }) => refundedQuantity > 0);
  const names = refunded.slice(0, NAMED).map(({ title, sku, productId, lineId, quantity, refundedQuantity: n }) => {
    const product = isolated(title ?? sku ?? productId ?? lineId);
    return n < quantity ? t('facts.refunded.some', { n, total: quantity, product }) : product;
  });
  const more = refunded.length - NAMED;
  return t('facts.refunded', {
    products: listed(more > 0 ? [...names, t('deliveries.more', { n: more })] : names),
  });
}

// The presets of a completed delivery that are refunded and can be taken back: the panel is about them. A refund of a part leaves those
// whose products are all refunded, which the lines say.
export function keptAfterRefund(it: Delivery, lines: Lines): Delivery['items'] {
  if (it.status !== 'completed' || !it.refunded || it.pendingAction || !it.allowedActions.includes('revoke')) return [];
  const holder = presentHolder(it);
  if (holder.username === '') return [];
  if (!it.refundedInPart) return revocable(holder);
  const refunded = refundedFiles(lines ?? []);
  return revocable(holder).filter(({ fileId }) => refunded.has(fileId));
}

// The names of orders.

// An order's name for people: the number that the shop shows, else the order's id.
export const orderName = (it: { orderNumber: string | null; orderId: string }) => it.orderNumber ?? it.orderId;

// A delivery and its order have one number (docs/decisions/0003).
export const orderIdOf = (delivery: string) => delivery.replace(/^del_/, 'ord_');
export const deliveryIdOf = (order: string) => order.replace(/^ord_/, 'del_');

// How many of its products were refunded, where that is known and a part of them.
export function partRefunded(lines: { quantity: number; refundedQuantity: number }[] = []) {
  let [n, total] = [0, 0];
  for (const { quantity, refundedQuantity } of lines) {
    n += Math.min(quantity, refundedQuantity);
    total += quantity;
  }
  return n > 0 && n < total ? { n, total } : null;
}

// Whether all of its products are known to be refunded.
export const allRefunded = (lines: { quantity: number; refundedQuantity: number }[] = []) =>
  lines.length > 0 && lines.every((line) => line.refundedQuantity >= line.quantity);

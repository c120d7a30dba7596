// The names of orders.

// An order's name for people: the number that the shop shows, else the order's id.
export const orderName = (it: { orderNumber: string | null; orderId: string }) => it.orderNumber ?? it.orderId;

// A delivery and its order have one number (docs/decisions/0003).
export const orderIdOf = (delivery: string) => delivery.replace(/^del_/, 'ord_');

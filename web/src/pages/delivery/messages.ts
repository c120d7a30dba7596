// The messages that the merchant can send the buyer: as text, and as a mail of their own program.
import '@/i18n/en/delivery';
import type { Schemas } from '@/api/client';
import { t, type TextKey } from '@/i18n/text';
import { orderName } from '@/vocabulary/order';

type About = Pick<
  Schemas['DeliveryWithTimeline'],
  'status' | 'resolutionCode' | 'integrationName' | 'orderNumber' | 'orderId' | 'buyerUrl' | 'customerEmail'
>;

type Message = Exclude<Extract<TextKey, `mail.${string}`>, 'mail.subject' | 'mail.us'>;
const KEYS: Partial<Record<Schemas['ResolutionCode'], Message>> = {
  username_missing: 'mail.username',
  username_not_found: 'mail.username',
  friend_request_declined: 'mail.declined',
  friendship_timeout: 'mail.reminder',
  blocked_by_customer: 'mail.blocked',
};

// null: there is nothing that the buyer could do.
export function messageOf(
  it: About,
  shop: string,
  sender = t('mail.us'), // the cloud user from which friend requests come
): { text: string; mailto: string } | null {
  const key =
    it.status === 'waiting_for_friendship' ? 'mail.reminder' : it.resolutionCode ? KEYS[it.resolutionCode] : undefined;
  if (key === undefined) return null;
  const order = orderName(it);
  const text = t(key, { shop, order, sender, url: it.buyerUrl });
  const subject = t('mail.subject', { shop, order });
  const to = (it.customerEmail ?? '').split('@').map(encodeURIComponent).join('@');
  return { text, mailto: `mailto:${to}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text)}` };
}

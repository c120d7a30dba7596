// The end of orders that are refused, by the kind of store.
import '@/i18n/en/lost';
import { hasText, t } from '@/i18n/text';
import { kindOf, type Store } from './store';

export function lostLine(it: Pick<Store, 'platform'>): string {
  const key = `lost.${kindOf(it)}`;
  return hasText(key) ? t(key as 'lost.generic') : '';
}

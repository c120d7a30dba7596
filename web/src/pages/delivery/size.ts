// How much an order has that is too large to be delivered by itself, in a sentence. null: nobody counted.
import '@/i18n/en/delivery';
import { t } from '@/i18n/text';
import type { Delivery } from './types';

export function sizeWords({ size }: Delivery): string | null {
  if (!size) return null;
  const { products, files, limit } = size;
  if (products !== null) return t('size.products', { count: products, limit });
  return files === null ? null : t('size.files', { count: files, limit });
}

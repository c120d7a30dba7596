// Why files of an order cost nothing: it was refunded, or its delivery has shared them.
import '@/i18n/en/stores';
import type { Schemas } from '@/api/client';
import { t } from '@/i18n/text';

export function freeText({ files, credits }: Pick<Schemas['MappingPreview'], 'files' | 'credits'>): string {
  const refunded = files.filter(({ paidQuantity }) => paidQuantity === 0).length;
  const had = files.length - credits - refunded;
  return [
    had > 0 ? t('try.free.had', { count: had }) : '',
    refunded > 0 ? t('try.free.refunded', { count: refunded }) : '',
  ]
    .filter(Boolean)
    .join(' ');
}

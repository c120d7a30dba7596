// The delivery of orders after a save of matches. If it fails, the bar says that the matches are saved, and offers the
// delivery again.
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useRef, useState, type ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { Alert } from '@/components/Alert';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import styles from './products.module.css';

export const Bar = ({ children }: { children: ReactNode }) => (
  <div className={styles.sticky} role="region" aria-label={t('action.save')}>
    {children}
  </div>
);

// They move to a line of their own together.
export const BarButtons = ({ children }: { children: ReactNode }) => <div className={styles.buttons}>{children}</div>;

type Texts = { delivering: string; failed: (why: string) => string; again: string };

// `bar` is null while nothing is to be delivered.
export function useDeliverAfterSave<T>(deliver: (orders: T) => Promise<void>, texts: Texts) {
  const [owed, setOwed] = useState<{ orders: T; error?: unknown } | null>(null);
  const { begin, end } = useSubmit();
  const next = useRef<{ orders: T } | null>(null); // a save while a delivery is under way
  async function run(orders: T) {
    if (!begin()) {
      next.current = { orders };
      return;
    }
    setOwed({ orders });
    try {
      await deliver(orders);
      setOwed(null);
    } catch (error) {
      setOwed({ orders, error });
    } finally {
      end();
    }
    const later = next.current;
    next.current = null;
    if (later) await run(later.orders);
  }
  if (!owed) return { run, bar: null };
  const bar = owed.error ? (
    <Bar>
      <Alert>{texts.failed(sentence(owed.error))}</Alert>
      <BarButtons>
        <Button variant="subtle" onClick={() => setOwed(null)}>
          {t('products.notNow')}
        </Button>
        <Button variant="filled" onClick={() => void run(owed.orders)}>
          {texts.again}
        </Button>
      </BarButtons>
    </Bar>
  ) : (
    <Bar>
      <p role="status">{texts.delivering}</p>
    </Bar>
  );
  return { run, bar };
}

export const toastSaved = ({ unknownFileIds }: Pick<Schemas['MappingSet'], 'unknownFileIds'>) =>
  toast(unknownFileIds ? t('products.unknownFiles', { count: unknownFileIds.length }) : t('products.saved'), {
    tone: unknownFileIds ? 'bad' : 'good',
  });

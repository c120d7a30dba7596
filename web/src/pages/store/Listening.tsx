// Waits for the first order of a store, and shows a refused request that came instead. After a refused one, or three minutes without any, the
// list of what to check is open.
import '@/i18n/en/stores';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { queries } from '@/api/queries';
import { Shape } from '@/components/StatusIcon';
import { useNow } from '@/components/Time';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { newestRefusal } from '@/vocabulary/store';
import { kindFor } from './kinds/kinds';
import styles from './steps.module.css';

const CHECKS = ['address', 'secret', 'event', 'format', 'paid', 'active'] as const;
const EVERY_MS = 3_000;
const LATE_MS = 3 * 60_000;

export function Listening({ id }: { id: string }) {
  const read = useQuery({ ...queries.store(id), refetchInterval: EVERY_MS });
  const now = useNow(10_000);
  const [began] = useState(now);
  const [asked, setAsked] = useState<boolean | null>(null); // null: nobody has opened or closed the list
  const it = read.data;
  const client = useQueryClient();
  // The other reads of a page poll more slowly, and would still say that no order came.
  const lastOrderAt = it?.lastOrderAt ?? null;
  useEffect(() => {
    if (lastOrderAt === null) return;
    const others = [['stores', 'list'], ['stores', 'products', id], ['orders'], ['overview']];
    for (const queryKey of others) void client.invalidateQueries({ queryKey });
  }, [client, id, lastOrderAt]);
  if (!it) return null;
  const refusal = newestRefusal(it);
  const came = it.lastOrderAt !== null && !refusal;
  const late = now - began >= LATE_MS;
  const help = asked ?? (late || refusal !== null);
  const [title, text] = came
    ? [t('listen.got'), t('listen.gotText')]
    : !refusal
      ? [t('listen.title'), t(late && help ? 'listen.late' : 'listen.text')]
      : refusal.code === 'INVALID_SIGNATURE'
        ? [t('listen.bad'), t('listen.badText')]
        : [t('listen.refused'), t('listen.refusedText', { cause: word('cause', refusal.code) })];
  return (
    <div className={styles.waiting} data-state={came ? 'came' : refusal ? 'refused' : 'waiting'}>
      <div className={styles.received} aria-live="polite">
        {came ? (
          <Shape icon="check" colour="teal" size={18} />
        ) : refusal ? (
          <Shape icon="octagon" colour="red" size={18} />
        ) : (
          <i className={styles.pulse} />
        )}
        <div>
          <strong>{title}</strong>
          <p className="muted">{text}</p>
        </div>
        {came ? null : (
          <button type="button" className="link" aria-expanded={help} onClick={() => setAsked(!help)}>
            {t('listen.nothing')}
          </button>
        )}
      </div>
      {help && !came ? (
        <ul className={styles.checks}>
          {CHECKS.map((check) =>
            check === 'secret' && !kindFor(it).dictatesSecret ? null : <li key={check}>{t(`check.${check}`)}</li>,
          )}
        </ul>
      ) : null}
    </div>
  );
}

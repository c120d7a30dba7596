// Waits for the first order of a store, and shows a refused request that came instead.
import '@/i18n/en/stores';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { queries } from '@/api/queries';
import { Shape } from '@/components/StatusIcon';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { newestRefusal } from '@/vocabulary/store';
import styles from './steps.module.css';

const CHECKS = ['address', 'event', 'format', 'paid', 'active'] as const;
const EVERY_MS = 3_000;

export function Listening({ id }: { id: string }) {
  const read = useQuery({ ...queries.store(id), refetchInterval: EVERY_MS });
  const [help, setHelp] = useState(false);
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
  const [title, text] = came
    ? [t('listen.got'), t('listen.gotText')]
    : !refusal
      ? [t('listen.title'), t('listen.text')]
      : refusal.code === 'INVALID_SIGNATURE'
        ? [t('listen.bad'), t('listen.badText')]
        : [t('listen.refused'), t('listen.refusedText', { cause: word('cause', refusal.code) })];
  return (
    <div className={styles.listening} data-state={came ? 'came' : refusal ? 'refused' : 'waiting'}>
      <div className={styles.heard} aria-live="polite">
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
          <button type="button" className="link" aria-expanded={help} onClick={() => setHelp(!help)}>
            {t('listen.nothing')}
          </button>
        )}
      </div>
      {help && !came ? (
        <ul className={styles.checks}>
          {CHECKS.map((check) => (
            <li key={check}>{t(`check.${check}`)}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

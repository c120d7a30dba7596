// Waits for the first order of a store, and shows a refused request that came instead. Where nothing came for three minutes, the list of what
// to check is open.
import '@/i18n/en/store_kinds';
import { useState } from 'react';
import { Shape } from '@/components/StatusIcon';
import { useNow } from '@/components/Time';
import { hoursMinutesSeconds } from '@/i18n/format';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { newestRefusal, openRefusal } from '@/vocabulary/store';
import { kindFor } from './kinds/kinds';
import { useSampled } from './sampled';
import { useHeard } from './useHeard';
import styles from './steps.module.css';

const LATE_MS = 3 * 60_000;

export function Listening({ id }: { id: string }) {
  const it = useHeard(id);
  const sampled = useSampled(it);
  const now = useNow(10_000);
  const [began] = useState(now);
  const [asked, setAsked] = useState<boolean | null>(null); // null: nobody has opened or closed the list
  const open = it ? openRefusal(it) : null;
  const refusal = open ?? (it ? newestRefusal(it) : null);
  const wrong = refusal?.code === 'INVALID_SIGNATURE';
  if (!it) return null;
  const came = it.lastOrderAt !== null && !refusal;
  const { dictatesSecret: dictated, checks: all, checksOfBody } = kindFor(it);
  const missing = dictated && it.secretSetBy !== 'merchant' && it.topicsSeen.length === 0;
  // The secret is newer than the refusal, so the next order shows whether it is right; one that the service made is not the shop's.
  const mended = wrong && open === null && !missing;
  const refused = refusal !== null && !mended;
  const late = now - began >= LATE_MS;
  const help = asked ?? late;
  const checks = came ? [] : !refused ? (help ? all : []) : refusal.code === 'INVALID_PAYLOAD' ? checksOfBody : [];
  const [title, text] = came
    ? sampled
      ? [t('listen.sample'), t('listen.sampleText')]
      : [t('listen.got'), t('listen.gotText')]
    : mended
      ? [t('listen.title'), t(dictated ? 'listen.newSecret' : 'listen.newOwn')]
      : !refusal
        ? [t('listen.title'), t(late && help ? 'listen.late' : 'listen.text')]
        : wrong
          ? [t('listen.bad'), t(missing ? 'listen.noSecret' : 'listen.badText')]
          : [t('listen.refused'), t('listen.refusedText', { cause: word('cause', refusal.code) })];
  return (
    <div className={styles.waiting} data-state={came ? 'came' : refused ? 'refused' : 'waiting'}>
      <div className={styles.received} aria-live="polite">
        {came ? (
          <Shape icon="check" colour="teal" size={18} />
        ) : refused ? (
          <Shape icon="octagon" colour="red" size={18} />
        ) : (
          <i className={styles.pulse} />
        )}
        <div>
          <strong>{title}</strong>
          <p className="muted">{text}</p>
          {refusal ? (
            <p className="muted">
              {t('listen.last', { count: refusal.count, time: hoursMinutesSeconds(refusal.lastAt) })}
            </p>
          ) : null}
        </div>
        {came || refused ? null : (
          <button type="button" className="link" aria-expanded={help} onClick={() => setAsked(!help)}>
            {t('listen.nothing')}
          </button>
        )}
      </div>
      {checks.length > 0 ? (
        <ul className={styles.checks}>
          {checks.map((check) => (
            <li key={check}>{t(check)}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

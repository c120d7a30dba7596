// The balance: the available credits as one big figure, holds and debt, and when to warn that credits run low.
import '@/i18n/en/credits';
import { Button, NumberInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { toast } from '@/components/toasts';
import { useNow } from '@/components/Time';
import { useSubmit } from '@/components/useSubmit';
import { date, pace } from '@/i18n/format';
import { t, T } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { isLongEnough } from './forecast';
import styles from './credits.module.css';

type It = Schemas['Balance'];
const number = new Intl.NumberFormat('en');
const DAY_MS = 86_400_000;
const SOON_DAYS = 30;

export function Balance({ it }: { it: It }) {
  const owner = useIsOwner();
  const sums = [
    ['granted', it.granted],
    ['purchased', it.purchased],
    ['spent', it.spent],
    ['reversed', it.reversed + it.debt], // what could not be taken is debt; the ledger has both in one entry
  ] as const;
  return (
    <section className={styles.balance}>
      <div className={styles.main}>
        <p className={styles.figure}>
          <strong>{number.format(it.available)}</strong> {t('credits.available', { count: it.available })}
        </p>
        {it.held > 0 ? <p className="muted">{t('credits.held', { count: it.held })}</p> : null}
        {it.debt > 0 ? (
          <p>
            <span className="red">{t('credits.debt', { count: it.debt })}</span>{' '}
            <span className="muted">{t('credits.debtWhy')}</span>
          </p>
        ) : null}
        {it.available > 0 && it.available <= it.lowThreshold ? (
          <p className="quiet">
            {it.available < it.lowThreshold ? t('credits.below', { limit: it.lowThreshold }) : t('credits.at')}
          </p>
        ) : null}
        <Pace it={it} />
      </div>
      <dl className={styles.sums}>
        {sums.map(([name, sum]) => (
          <div key={name}>
            <dt>{t(`credits.${name}`)}</dt>
            <dd>
              {number.format(sum)}
              {name === 'reversed' && it.debt > 0 ? (
                <span className="muted">{t('credits.reversedDebt', { count: it.debt })}</span>
              ) : null}
            </dd>
          </div>
        ))}
      </dl>
      {owner ? <Threshold key={it.lowThreshold} now={it.lowThreshold} /> : null}
    </section>
  );
}

function Pace({ it }: { it: It }) {
  const now = useNow();
  const madeAt = useQuery(queries.account()).data?.createdAt;
  if (it.perDay === 0 || !isLongEnough(madeAt, now)) return null;
  const n = pace(it.perDay);
  if (it.runsOutAt === null || it.available === 0) return <p className="quiet">{t('credits.pace', { n })}</p>;
  const days = Math.max(1, Math.round((Date.parse(it.runsOutAt) - now) / DAY_MS));
  const when = days <= SOON_DAYS ? t('credits.inDays', { count: days }) : t('time.on', { date: date(it.runsOutAt) });
  return <p className="quiet">{t('credits.paceLast', { n, when })}</p>;
}

// Where the warning goes.
function Heard() {
  const receivers = useQuery(queries.subscriptions()).data?.data;
  // It is of no store: a receiver of some stores is not sent it. One without types is sent all.
  const heard = receivers?.some(
    ({ active, eventTypes, integrationIds }) =>
      active && integrationIds.length === 0 && (eventTypes.length === 0 || eventTypes.includes('credits.low')),
  );
  if (heard === undefined) return null;
  if (heard) return t('credits.lowHint');
  const link = (
    <Link className="link" to="/integrations/webhooks" search={{}}>
      {t('credits.lowLink')}
    </Link>
  );
  return <T k="credits.lowNobody" values={{ link }} />;
}

function Threshold({ now }: { now: number }) {
  const [value, setValue] = useState<number | string>(now);
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    try {
      client.setQueryData(
        queries.credits().queryKey,
        await ok(api.PATCH('/api/credits', { body: { lowThreshold: Number(value) } })),
      );
      toast(t('credits.lowSaved'));
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    } finally {
      end();
    }
  }
  return (
    <form className={styles.threshold} onSubmit={(event) => void submit(event)}>
      <NumberInput
        label={t('credits.lowLabel')}
        description={<Heard />}
        inputWrapperOrder={['label', 'input', 'description']}
        min={0}
        max={1_000_000}
        allowDecimal={false}
        allowNegative={false}
        hideControls
        value={value}
        onChange={setValue}
      />
      <Button type="submit" disabled={value === '' || Number(value) === now} aria-disabled={busy || undefined}>
        {busy ? t('action.saving') : t('action.save')}
      </Button>
    </form>
  );
}

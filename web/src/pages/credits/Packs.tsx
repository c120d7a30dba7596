// The packs of credits. Paying happens on the payment processor's page, from which people come back to /credits/return.
import '@/i18n/en/credits';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { ApiError, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { Bdi } from '@/components/Bdi';
import { ForOwners } from '@/components/ForOwners';
import { Loaded, SkeletonRows } from '@/components/States';
import tick from '@/components/Tick.module.css';
import { money, moneyEach } from '@/i18n/money';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { payUrl } from '@/vocabulary/credits';
import styles from './credits.module.css';

type Pack = Schemas['CreditPack'];

// The words of a name, however its numbers are written.
const says = (name: string) => name.replace(/(?<=\d)[\s.,'’](?=\d)/gu, '');

function eachOf({ amount, currency, credits }: Pack): string {
  const { price, exact } = moneyEach(amount, currency, credits);
  return t(exact ? 'packs.each' : 'packs.eachAbout', { price });
}

export function Packs({ debt }: { debt: number }) {
  const read = useQuery(queries.packs());
  const owner = useIsOwner();
  return (
    <Loaded read={read} what={t('packs.what')} skeleton={<SkeletonRows rows={3} height={56} />}>
      {({ data }) =>
        data.length === 0 ? (
          <p className={styles.off}>{t('credits.more')}</p>
        ) : owner === false ? (
          <div className={styles.off}>
            <ForOwners>{t('packs.owners')}</ForOwners>
          </div>
        ) : owner ? (
          <Choice packs={data} debt={debt} />
        ) : null
      }
    </Loaded>
  );
}

function refusal(error: unknown): string {
  if (!(error instanceof ApiError)) return sentence(error);
  if (error.code === 'PAYMENTS_UNAVAILABLE') return t('packs.unavailable');
  if (error.code === 'PAYMENTS_OFF') return t('packs.off');
  if (error.code === 'LIMIT_REACHED') return t('packs.limit');
  return sentence(error);
}

function Choice({ packs, debt }: { packs: Pack[]; debt: number }) {
  const [chosen, setChosen] = useState(packs[0]?.id);
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  // Back from the payment page by the browser's own button, the page is as it was left.
  useEffect(() => {
    const shown = (event: PageTransitionEvent) => event.persisted && end();
    addEventListener('pageshow', shown);
    return () => removeEventListener('pageshow', shown);
  }, [end]);
  const pack = packs.find(({ id }) => id === chosen) ?? packs[0];
  if (!pack) return null;
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (busy || !pack) return;
    if (!begin()) return;
    setError(undefined);
    try {
      const url = payUrl(await ok(api.POST('/api/credits/checkout', { body: { packId: pack.id } })));
      if (url) window.location.assign(url);
      else throw new ApiError(502, 'PAYMENTS_UNAVAILABLE', '');
    } catch (failure) {
      setError(failure);
      end();
      void client.invalidateQueries({ queryKey: ['credits', 'purchases'] });
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <h2>{t('packs.title')}</h2>
      <fieldset className={styles.packs}>
        <legend className="unseen">{t('packs.legend')}</legend>
        {packs.map((it) => (
          <label key={it.id} className={styles.pack}>
            <input
              className={tick.tick}
              type="radio"
              name="pack"
              checked={it.id === pack.id}
              onChange={() => setChosen(it.id)}
            />
            <span>
              <span className="strong">{t('packs.holds', { count: it.credits })}</span>{' '}
              {says(it.name) === says(t('packs.holds', { count: it.credits })) ? null : (
                <Bdi className="muted">{it.name}</Bdi>
              )}
            </span>
            <span className="muted">{eachOf(it)}</span>
            <span className={styles.price}>{money(it.amount, it.currency)}</span>
          </label>
        ))}
      </fieldset>
      <div className={styles.pay}>
        <Button type="submit" variant="filled" size="lg" aria-disabled={busy || undefined}>
          {busy ? t('packs.opening') : t('packs.button')}
        </Button>
        <p className="quiet">
          {debt > 0 ? `${t('packs.debt', { count: Math.min(debt, pack.credits) })} ` : null}
          {t('packs.note')}
        </p>
      </div>
      {error ? <Alert>{refusal(error)}</Alert> : null}
    </form>
  );
}

// An order as the shop writes it goes the whole way, as a rehearsal; its journey is followed live.
import '@/i18n/en/guide';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { Bdi } from '@/components/Bdi';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import type { Store } from '@/vocabulary/store';
import { Followed } from './Followed';
import styles from './start.module.css';

type Props = { store: Store | undefined; done: boolean; onSent: () => void; onDone: () => void };

export function TestStep({ store, done, onSent, onDone }: Props) {
  const cloud = useQuery(queries.cloud());
  const former = useQuery(queries.deliveries({ dryRun: true, limit: 1 })).data?.data[0]?.id;
  const [sent, setSent] = useState<string | null>(null);
  const { busy, begin, end } = useSubmit();
  const [problem, setProblem] = useState<string | null>(null);
  const client = useQueryClient();
  const goOn = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (sent && done) goOn.current?.focus();
  }, [sent, done]);
  const shown = sent ?? former;
  if (!store) return <p className="muted">{t('guide.store.text')}</p>;
  async function send(id: string) {
    if (!begin()) return;
    setProblem(null);
    try {
      const answer = await ok(
        api.POST('/api/integrations/{integration}/test-order', { params: { path: { integration: id } }, body: {} }),
      );
      if (answer.deliveryId) {
        setSent(answer.deliveryId);
        onSent();
        // The button waits for the way on, so that a second press sends no second order.
        await client.invalidateQueries({ queryKey: ['overview'] });
      } else setProblem(t('store.test.ignored', { reason: word('reason', answer.reason ?? answer.status) }));
      void client.invalidateQueries({ queryKey: ['deliveries'] });
    } catch (failure) {
      setProblem(sentence(failure));
    }
    end();
  }
  return (
    <div className={styles.parts}>
      {cloud.data?.cloudUsername ? (
        <p className="muted">
          <Bdi>{t('guide.test.to', { name: cloud.data.cloudUsername })}</Bdi>
        </p>
      ) : null}
      {shown ? <Followed id={shown} /> : null}
      {problem ? <Alert>{problem}</Alert> : null}
      <div className={styles.line}>
        {done ? (
          <Button ref={goOn} variant="filled" size="md" onClick={onDone}>
            {t('guide.goOn')}
          </Button>
        ) : null}
        <Button
          variant={done || shown ? 'default' : 'filled'}
          size="md"
          aria-disabled={busy || undefined}
          onClick={() => (busy ? undefined : void send(store.id))}
        >
          {busy ? t('action.working') : t(shown ? 'guide.test.again' : 'guide.test.button')}
        </Button>
        {shown ? (
          <Link className="link" to="/deliveries/$id" params={{ id: shown }} search={{}}>
            {t('guide.test.show')}
          </Link>
        ) : null}
      </div>
    </div>
  );
}

// The first real delivery, followed live; and at the end what is worth doing next.
import '@/i18n/en/guide';
import { Button } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { ForOwners } from '@/components/ForOwners';
import { Shape } from '@/components/StatusIcon';
import { t } from '@/i18n/text';
import { AskForCredits, useSale } from '@/session/sale';
import { useIsOwner } from '@/session/useIsOwner';
import { orderIdOf } from '@/vocabulary/order';
import type { Store } from '@/vocabulary/store';
import { useBare, useFirstOrder } from './lines';
import { Followed } from './Followed';
import { SkippedOrders } from '../store/products/SkippedOrders';
import { skippedJob, useSkipped } from '../store/products/skipped';
import styles from './start.module.css';

const Gift = lazy(() => import('./Gift').then((part) => ({ default: part.Gift })));

type Row = Schemas['Delivery'];
const COMPLETED = { status: 'completed', dryRun: false, sort: 'createdAt', limit: 10 } as const;
const earlier = (a: Row | undefined, b: Row) => (a && (a.completedAt ?? '') <= (b.completedAt ?? '') ? a : b);

// `ready`: there is a cloud login, and the shop has sent an order. A gift before that would count as the first order.
type Props = { store: Store | undefined; ready: boolean; done: boolean; onLeave: () => void; onMatch: () => void };

export function FirstStep({ store, ready, done, onLeave, onMatch }: Props) {
  const newest = useQuery(queries.deliveries({ dryRun: false, limit: 1 })).data?.data[0]?.id;
  const completed = useQuery({ ...queries.deliveries(COMPLETED), enabled: done }).data?.data ?? [];
  const [sent, setSent] = useState<string | null>(null);
  const [asked, setAsked] = useState<boolean>(); // undefined: never
  // The delivery that completed the step, once one has.
  const first = done ? completed.reduce<Row | undefined>(earlier, undefined)?.id : undefined;
  const shown = first ?? sent ?? newest;
  const order = useFirstOrder(store)?.order.id;
  const bare = useBare(shown ? orderIdOf(shown) : order);
  const credits = useQuery(queries.credits());
  const owner = useIsOwner();
  const sold = useSale();
  const skipped = useSkippedFirst(done ? undefined : store);
  const none = !done && credits.data !== undefined && credits.data.available <= 0;
  return (
    <div className={styles.parts}>
      {none ? (
        <div className={styles.waiting} data-short>
          <Shape icon="clock" colour="amber" size={18} />
          <div>
            <strong>{t('guide.first.none')}</strong>
            <p className="muted">{t('guide.first.noneText')}</p>
          </div>
          {sold === false ? (
            <AskForCredits />
          ) : owner && sold ? (
            <Button component={Link} to="/credits" variant="filled" size="md">
              {t('guide.first.buy')}
            </Button>
          ) : owner === false && sold ? (
            <ForOwners>{t('guide.first.owners')}</ForOwners>
          ) : null}
        </div>
      ) : null}
      {store && skipped ? <SkippedOrders key={store.id} id={store.id} /> : null}
      {shown ? (
        <Followed id={shown} />
      ) : skipped !== false ? null : (
        <div className={styles.waiting}>
          <i className={styles.pulse} aria-hidden="true" />
          <div>
            <strong>{t('guide.first.wait')}</strong>
            <p className="muted">{t('guide.first.waitText')}</p>
          </div>
        </div>
      )}
      {bare ? (
        <div className={styles.waiting} data-short>
          <Shape icon="clock" colour="amber" size={18} />
          <div>
            <Bdi>{t('guide.first.bare', bare)}</Bdi>
          </div>
          <Button size="md" onClick={onMatch}>
            {t('guide.first.match', { count: bare.count })}
          </Button>
        </div>
      ) : null}
      {shown || (store && ready && !done) ? (
        <div className={styles.line}>
          {store && ready && !done ? (
            <Button size="md" variant={shown || none ? 'default' : 'filled'} onClick={() => setAsked(true)}>
              {t('guide.gift')}
            </Button>
          ) : null}
          {shown ? (
            <Link className="link" to="/deliveries/$id" params={{ id: shown }} search={{}}>
              {t('guide.test.show')}
            </Link>
          ) : null}
        </div>
      ) : null}
      {store && asked !== undefined ? (
        <Suspense>
          <Gift opened={asked} guide={store} onClose={() => setAsked(false)} onSent={setSent} />
        </Suspense>
      ) : null}
      {credits.data && !none ? (
        <p className={styles.line}>
          <span>{t('guide.first.cost', { count: credits.data.available })}</span>
          {sold === false ? (
            <AskForCredits />
          ) : owner && sold ? (
            <Link className="link" to="/credits" search={{}}>
              {t('guide.first.buy')}
            </Link>
          ) : null}
        </p>
      ) : null}
      {done ? (
        <>
          <h3>{t('guide.first.done')}</h3>
          <div>
            <Button variant="filled" size="md" onClick={onLeave}>
              {t('guide.first.go')}
            </Button>
          </div>
          <NextThings store={store} credits={credits.data} />
        </>
      ) : null}
    </div>
  );
}

// Whether an order was skipped, or is on its way since: where tests of the shop alone have come, it is not the first of a buyer.
// undefined: not counted yet.
function useSkippedFirst(store: Store | undefined) {
  const came = useFirstOrder(store) !== undefined;
  const { orders, known } = useSkipped(store?.id ?? '', store?.lastOrderAt ? 'saved' : null);
  const job = useQuery(skippedJob(store?.id ?? '')).data ?? null;
  if (!came) return false;
  return job !== null || (known ? orders.count > 0 : undefined);
}

function NextThings({ store, credits }: { store: Store | undefined; credits: Schemas['Balance'] | undefined }) {
  const owner = useIsOwner();
  const sold = useSale();
  const lacks = useFirstOrder(store)?.lacks ?? false;
  const low = credits !== undefined && credits.available <= credits.lowThreshold;
  const things: { title: string; text: string; link: LinkProps }[] = [
    ...(owner && sold && low
      ? [
          {
            title: t('guide.next.credits'),
            text: t('guide.next.credits.text', { count: credits.available }),
            link: { to: '/credits', search: {} } as LinkProps,
          },
        ]
      : []),
    {
      title: t('guide.next.webhook'),
      text: t('guide.next.webhook.text'),
      link: { to: '/integrations/webhooks', search: {} },
    },
  ];
  if (store && lacks)
    things.push({
      title: t('guide.next.username'),
      text: t('guide.next.username.text', { store: store.name }),
      link: { to: '/integrations/stores/$id/connection', params: { id: store.id }, search: {} },
    });
  return (
    <section aria-label={t('guide.next')}>
      <h3>{t('guide.next')}</h3>
      <ul className={styles.things}>
        {things.map(({ title, text, link }) => (
          <li key={title}>
            <Link {...link}>
              <span>
                <strong>{title}</strong>
                <span>
                  <Bdi>{text}</Bdi>
                </span>
              </span>
              <IconChevronRight size={17} aria-hidden="true" />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

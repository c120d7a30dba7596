// How far an action on many orders has come. Its id is in the address, so that it is found again after a reload.
import '@/i18n/en/orders';
import { ActionIcon } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Schemas } from '@/api/client';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { NoJob } from '@/components/NoJob';
import { Panel } from '@/components/Panel';
import { Loaded } from '@/components/States';
import { t } from '@/i18n/text';
import { orderName } from '@/vocabulary/order';
import styles from './orders.module.css';

const SHOWN = 10;

type Known = Pick<Schemas['Order'], 'id' | 'orderNumber' | 'orderId'>;
type Props = { id: string; orders: Known[]; onClose: () => void }; // `orders`: of the page, for their numbers

export function Job({ id, orders, onClose }: Props) {
  const read = useQuery(queries.bulkJob(id));
  const client = useQueryClient();
  const { done, finishedAt } = read.data ?? {};
  useEffect(() => {
    if (done) for (const key of ['orders', 'deliveries']) void client.invalidateQueries({ queryKey: [key] });
  }, [client, done, finishedAt]);
  if (isMissing(read.error))
    return (
      <div className={styles.place}>
        <NoJob onClose={onClose} />
      </div>
    );
  return (
    <div className={styles.place}>
      <Loaded read={read} what={t('job.what')} skeleton={null}>
        {(it) => <Progress it={it} orders={orders} onClose={onClose} />}
      </Loaded>
    </div>
  );
}

function Progress({ it, orders, onClose }: Omit<Props, 'id'> & { it: Schemas['BulkJob'] }) {
  const names = new Map(orders.map((order) => [order.id, orderName(order)]));
  const running = it.finishedAt === null;
  const more = it.failedCount - Math.min(it.failed.length, SHOWN);
  return (
    <Panel tone={running ? 'plain' : it.failedCount > 0 || it.fault ? 'amber' : 'teal'}>
      <div className={styles.job}>
        <div>
          <p role="status">
            <strong>
              {!running
                ? t('job.done', { count: it.done })
                : it.totalIsExact
                  ? t('job.running', { done: it.done, total: it.total })
                  : t('job.runningMany', { done: it.done })}
            </strong>
            {it.failedCount > 0 ? `, ${t('job.failed', { count: it.failedCount })}` : null}
          </p>
          {running ? (
            <>
              <progress aria-label={t('job.what')} max={Math.max(it.total, 1)} value={it.done} />
              <p className="muted">{t('job.leave')}</p>
            </>
          ) : null}
          {it.fault ? <p className="red">{t('job.fault')}</p> : null}
          {it.failed.length > 0 ? (
            <ul className={styles.failed}>
              {it.failed.slice(0, SHOWN).map(({ id, message }) => (
                <li key={id}>
                  <Link className="link" to="/orders/$id" params={{ id }} search={{}}>
                    <Bdi>{names.get(id) ?? t('job.anOrder')}</Bdi>
                  </Link>{' '}
                  <span className="muted">{message}</span>
                </li>
              ))}
              {more > 0 ? <li className="muted">{t('job.failedMore', { count: more })}</li> : null}
            </ul>
          ) : null}
        </div>
        {running ? null : (
          <ActionIcon aria-label={t('action.close')} onClick={onClose}>
            <IconX size={17} />
          </ActionIcon>
        )}
      </div>
    </Panel>
  );
}

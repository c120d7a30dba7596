// How far an erasure has come. It is named in the address, so that it is found again.
import '@/i18n/en/customers';
import { ActionIcon } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Schemas } from '@/api/client';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { NoJob } from '@/components/NoJob';
import { Panel } from '@/components/Panel';
import { Loaded } from '@/components/States';
import { t } from '@/i18n/text';
import { forgetRecent } from '@/shell/recent';
import styles from './customers.module.css';

export function Erasure({ id, onClose }: { id: string; onClose: () => void }) {
  const read = useQuery(queries.bulkJob(id));
  const client = useQueryClient();
  const finished = Boolean(read.data?.finishedAt);
  useEffect(() => {
    if (!finished) return;
    forgetRecent();
    // Nothing of the cache from before the erasure is shown again.
    client.removeQueries({ type: 'inactive' });
    void client.invalidateQueries();
  }, [client, finished]);
  if (isMissing(read.error))
    return (
      <div className={styles.place}>
        <NoJob onClose={onClose} />
      </div>
    );
  return (
    <div className={styles.place}>
      <Loaded read={read} what={t('erasure.what')} skeleton={null}>
        {(it) => <Progress it={it} onClose={onClose} />}
      </Loaded>
    </div>
  );
}

function Progress({ it, onClose }: { it: Schemas['BulkJob']; onClose: () => void }) {
  const running = it.finishedAt === null;
  const short = it.failedCount > 0 || it.fault !== null;
  return (
    <Panel tone={running ? 'plain' : short ? 'amber' : 'teal'}>
      <div className={styles.job}>
        <div>
          <p role="status">
            <strong>
              {!running
                ? t('erasure.done', { count: it.done })
                : it.totalIsExact
                  ? t('erasure.running', { done: it.done, count: it.total })
                  : t('erasure.runningMany', { done: it.done })}
            </strong>
            {it.failedCount > 0 ? ` ${t('erasure.failed', { count: it.failedCount })}.` : null}
          </p>
          {running ? (
            <>
              <progress aria-label={t('erasure.what')} max={Math.max(it.total, 1)} value={it.done} />
              <p className="muted">{t('erasure.leave')}</p>
            </>
          ) : short ? (
            <p>
              {it.fault ? `${t('erasure.fault')} ` : null}
              {t('erasure.again')}
            </p>
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

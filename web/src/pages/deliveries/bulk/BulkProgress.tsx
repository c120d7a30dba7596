// A job on many, from its beginning to its end, in a line that can be left.
import '@/i18n/en/bulk';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Schemas } from '@/api/client';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';
import { BulkFailures } from './BulkFailures';
import type { BulkAction } from './wanted';
import styles from './bulk.module.css';

type Job = Schemas['BulkJob'];
const actionOf = (job: Job) => job.action.split('.')[1] as BulkAction;

function ended(job: Job): string {
  const done = t(`bulk.done.${actionOf(job)}`, { count: job.done });
  if (job.failedCount === 0) return t('bulk.alone', { done });
  return t('bulk.both', { done, refused: t('bulk.refused', { count: job.failedCount }) });
}

export function BulkProgress({ id, onEnd }: { id: string; onEnd: () => void }) {
  const { data: job, error } = useQuery(queries.bulkJob(id));
  const [shown, setShown] = useState(false);
  const client = useQueryClient();
  const end = useRef(onEnd);
  const finished = Boolean(job?.finishedAt);
  const clean = finished && job?.failedCount === 0 && !job.fault;
  useEffect(() => {
    if (finished) void client.invalidateQueries({ queryKey: ['deliveries'] });
    if (clean) end.current();
  }, [client, finished, clean]);
  if (!finished && isMissing(error)) return t('error.noJob');
  if (!job) return error ? t('bulk.away') : t('action.working');
  if (!finished) {
    return (
      <span className={styles.progress}>
        {t(`bulk.going.${actionOf(job)}`, { count: job.eligible })}
        <progress max={Math.max(job.eligible, 1)} value={job.done + job.failedCount} aria-hidden="true" />
        {error ? <span className="muted">{t('bulk.away')}</span> : null}
      </span>
    );
  }
  return (
    <span className={styles.progress}>
      <span>
        {ended(job)} {job.fault ? <Bdi>{t('bulk.fault', { fault: job.fault })}</Bdi> : null}
      </span>
      {job.failedCount > 0 ? <Button onClick={() => setShown(true)}>{t('bulk.show')}</Button> : null}
      {shown ? <BulkFailures job={job} onClose={() => setShown(false)} /> : null}
    </span>
  );
}

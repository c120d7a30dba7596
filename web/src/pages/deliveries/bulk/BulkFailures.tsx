// The deliveries that a job on many refused, each by its name with the reason.
import '@/i18n/en/bulk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Dialog } from '@/components/Dialogs';
import { t } from '@/i18n/text';
import { orderName } from '@/vocabulary/order';
import styles from './bulk.module.css';

const NAMED = 20; // deliveries whose order is read; the others are shown by their id

export function BulkFailures({ job, onClose }: { job: Schemas['BulkJob']; onClose: () => void }) {
  const more = job.failedCount - job.failed.length;
  return (
    <Dialog opened onClose={onClose} title={t('bulk.failures')} size={560}>
      <ul className={styles.failures}>
        {job.failed.map(({ id, message }, index) => (
          <li key={id}>
            <Link className="link" to="/deliveries/$id" params={{ id }} search={{}} onClick={onClose}>
              {index < NAMED ? <Named id={id} /> : <Bdi>{id}</Bdi>}
            </Link>
            <span className="muted">
              <Bdi>{message}</Bdi>
            </span>
          </li>
        ))}
      </ul>
      {more > 0 ? <p className="muted">{t('bulk.failuresMore', { count: more })}</p> : null}
    </Dialog>
  );
}

function Named({ id }: { id: string }) {
  const { data } = useQuery({ ...queries.delivery(id), refetchInterval: false });
  return <Bdi>{data ? t('bulk.delivery', { order: orderName(data) }) : id}</Bdi>;
}

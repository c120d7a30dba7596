// The states of a part of a page that has no current content: loading, empty, failed, or from an earlier time.
import { Button } from '@mantine/core';
import { IconRefresh, IconSearch, type TablerIcon } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { ApiError, sentence } from '@/api/errors';
import { hoursMinutes, timeLeft } from '@/i18n/format';
import { t } from '@/i18n/text';
import { useLiveState } from '@/live/state';
import { CopyIcon } from './Copy';
import { useSecondsLeft } from './useSecondsLeft';
import styles from './States.module.css';

type EmptyProps = { icon: TablerIcon; title: string; body: ReactNode; action?: ReactNode };

export function EmptyState({ icon: Icon, title, body, action }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <Icon size={22} stroke={1.6} aria-hidden="true" />
      <h2>{title}</h2>
      <p>{body}</p>
      {action}
    </div>
  );
}

// `body` says how much the filters hide.
type NoMatchProps = { onClear: () => void; body?: string; button?: string };

export function NoMatch({ onClear, body = t('deliveries.none.body'), button = t('action.clear') }: NoMatchProps) {
  return (
    <EmptyState
      icon={IconSearch}
      title={t('deliveries.none.title')}
      body={body}
      action={<Button onClick={onClear}>{button}</Button>}
    />
  );
}

// Shows nothing for 150 ms, then rows of the size that the content will have.
export function SkeletonRows({ rows = 8, height = 44 }: { rows?: number; height?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={styles.skeleton} aria-busy="true" data-late={late || undefined}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={styles.bone} style={{ height }}>
          <i />
          <i style={{ width: `${[42, 30, 48, 26][row % 4]}%` }} />
          <i />
        </div>
      ))}
    </div>
  );
}

// `what` names the part that could not be loaded. While the service asks to wait (429), the button does nothing.
export function ErrorState({ what, error, onRetry }: { what: string; error: unknown; onRetry: () => void }) {
  const id = error instanceof ApiError ? error.requestId : null;
  const wait = error instanceof ApiError && error.status === 429 ? error.retryAfterSeconds : null;
  const left = useSecondsLeft(error, wait ?? 0);
  return (
    <div className={styles.error} role="alert">
      <div>
        <h2>{t('error.part', { what })}</h2>
        <p>
          {wait === null ? (
            sentence(error)
          ) : left > 0 ? (
            <span role="timer">{t('error.rateLimit', { time: timeLeft(left * 1000) })}</span>
          ) : (
            t('error.rateLimitOver')
          )}
        </p>
        {id ? (
          <p className={styles.id}>
            {t('error.requestId', { id })} <CopyIcon text={id} what={id} />
          </p>
        ) : null}
      </div>
      <Button
        leftSection={<IconRefresh size={16} />}
        aria-disabled={left > 0 || undefined}
        onClick={() => (left > 0 ? undefined : onRetry())}
      >
        {t('action.again')}
      </Button>
    </div>
  );
}

type Read<Data> = { data: Data | undefined; error: unknown; dataUpdatedAt: number; refetch: () => unknown };

// The bars whose reads failed. Only the first of them shows: a service that is away fails every read of a page.
const bars = new Set<symbol>();
const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

function useFirstBar(failed: boolean): boolean {
  const [me] = useState(() => Symbol('stale'));
  useEffect(() => {
    if (!failed) return;
    bars.add(me);
    changed();
    return () => {
      bars.delete(me);
      changed();
    };
  }, [failed, me]);
  return useSyncExternalStore(subscribe, () => bars.values().next().value === me);
}

// Stands over a part that shows an older read since the newest one failed; its button repeats all reads that failed. Nothing is shown
// offline, as the bar over the whole page says so, nor after the end of the session, when the sign-in covers the page.
export function StaleBar({ read }: { read: Read<unknown> }) {
  const { link } = useLiveState();
  const ended = read.error instanceof ApiError && read.error.status === 401;
  const failed = Boolean(read.error) && !ended && read.data !== undefined && link !== 'offline';
  const first = useFirstBar(failed);
  const client = useQueryClient();
  if (!failed || !first) return null;
  return (
    <div className={styles.stale} role="status">
      <span className={styles.ring} aria-hidden="true" />
      <span>
        <strong>{t('stale.title', { time: hoursMinutes(new Date(read.dataUpdatedAt).toISOString()) })}</strong>{' '}
        {t('stale.body')}
      </span>
      <Button
        size="compact-sm"
        onClick={() =>
          void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
        }
      >
        {t('stale.now')}
      </Button>
    </div>
  );
}

type LoadedProps<Data> = {
  read: Read<Data>;
  what: string; // the part's name, for its error and its heading
  page?: boolean; // it is the whole page, whose heading comes with its content
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
};
// A part of a page that one read fills: its skeleton, its error, or its content, under a bar if that is old.
export function Loaded<Data>({ read, what, page, skeleton = <SkeletonRows />, children }: LoadedProps<Data>) {
  if (read.data !== undefined) {
    return (
      <>
        <StaleBar read={read} />
        {children(read.data)}
      </>
    );
  }
  return (
    <>
      {page ? <h1 className="unseen">{what}</h1> : null}
      {read.error ? <ErrorState what={what} error={read.error} onRetry={() => void read.refetch()} /> : skeleton}
    </>
  );
}

import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import {
  IconClock,
  IconFileCheck,
  IconFileX,
  IconKey,
  IconLayersLinked,
  IconNote,
  IconReceipt,
  IconStack2,
  IconUser,
  IconUserCheck,
  IconUserPlus,
  IconUserSearch,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { Alert } from '@/components/Alert';
import { Bdi } from '@/components/Bdi';
import { Buyer, Name } from '@/components/Buyer';
import { StatusIcon } from '@/components/StatusIcon';
import { day, duration, hoursMinutesSeconds, moment, momentWithin, utc, zone } from '@/i18n/format';
import { isolated } from '@/i18n/outside';
import { t, T } from '@/i18n/text';
import { codeWord } from '@/vocabulary/delivery';
import { hasAccepted } from './accepted';
import { Actor } from './Actor';
import { presentHolder } from './holders';
import type { Delivery } from './types';
import { didKey, isSomebodys, replacedIn, saidKey, usernames } from './said';
import { folded, inOrder, outcomeOf, type Entry, type Folded } from './timeline';
import styles from './Timeline.module.css';

const ICONS: Partial<Record<Entry['type'], TablerIcon>> = {
  order_received: IconReceipt,
  matched: IconLayersLinked,
  queued: IconStack2,
  looked_up: IconUserSearch,
  request_sent: IconUserPlus,
  waiting: IconClock,
  put_off: IconClock,
  accepted: IconUserCheck,
  item_shared: IconFileCheck,
  item_revoked: IconFileX,
  item_revoke_failed: IconFileX,
  event_told: IconWebhook,
};

export function Timeline({ it }: { it: Delivery }) {
  const older = useInfiniteQuery({
    queryKey: ['deliveries', 'timeline', it.id, it.timelineNextCursor],
    enabled: false,
    initialPageParam: it.timelineNextCursor,
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/deliveries/{delivery}/timeline', {
          params: { path: { delivery: it.id }, query: { cursor: pageParam ?? undefined } },
        }),
      ),
    getNextPageParam: (page) => page.nextCursor,
  });
  const entries = inOrder([...it.timeline, ...(older.data?.pages.flatMap(({ data }) => data) ?? [])]);
  const outcome = outcomeOf(entries);
  const more = older.data ? older.hasNextPage : it.timelineNextCursor !== null;
  const all = folded(entries);
  const names = usernames(entries, it.targetUsername);
  const next =
    it.status === 'queued' && it.nextAttemptAt
      ? t('timeline.next', { time: momentWithin(it.nextAttemptAt) })
      : it.nextLookAt && it.status !== 'queued' && !hasAccepted(it)
        ? t('timeline.nextLook', { time: momentWithin(it.nextLookAt) })
        : null;
  return (
    <section>
      <div className={styles.head}>
        <h2>{t('delivery.history')}</h2>
        <span className="quiet">{t('time.yours', { zone: zone() })}</span>
      </div>
      <ol className={styles.list}>
        {next ? (
          <li data-future="">
            <span className={styles.icon}>
              <IconClock size={16} stroke={1.7} aria-hidden="true" />
            </span>
            <span />
            <div className={styles.words}>{next}</div>
          </li>
        ) : null}
        {all.map((one, index) => {
          const itsDay = day(one.entry.at);
          const before = all[index - 1];
          const dayBefore = before ? day(before.entry.at) : t('time.today');
          return (
            <EntryRow
              key={one.entry.id}
              it={it}
              row={one}
              username={names.get(one.entry.id) ?? null}
              coloured={one.entry.id === outcome}
              separator={itsDay === dayBefore ? null : itsDay}
            />
          );
        })}
      </ol>
      {more ? (
        <div className={styles.older}>
          {older.error && !older.isFetching ? (
            <Alert>
              {t('error.part', { what: t('timeline.olderWhat') })} {sentence(older.error)}
            </Alert>
          ) : null}
          <Button onClick={() => void (older.data ? older.fetchNextPage() : older.refetch())}>
            {t('timeline.older')}
          </Button>
        </div>
      ) : null}
    </section>
  );
}

function EntryRow({
  it,
  row,
  username,
  coloured,
  separator,
}: {
  it: Delivery;
  row: Folded;
  username: string | null; // of the buyer then
  coloured: boolean;
  separator: string | null;
}) {
  const { entry, again } = row;
  const [opened, setOpened] = useState(false);
  const acted = entry.actor === 'order' ? IconReceipt : entry.actor.startsWith('key_') ? IconKey : IconUser;
  const Icon = ICONS[entry.type] ?? (entry.type === 'action' ? acted : IconNote);
  const status = coloured ? statusOf(entry) : null;
  const line =
    entry.type === 'completed' && status === 'completed' && hadAll(it) ? t('timeline.said.hadAll') : secondLine(entry);
  return (
    <>
      {separator ? <li className={styles.day}>{separator}</li> : null}
      <li>
        <span className={styles.icon}>
          {status ? <StatusIcon status={status} /> : <Icon size={16} stroke={1.7} aria-hidden="true" />}
        </span>
        <time dateTime={entry.at} title={utc(entry.at)}>
          {hoursMinutesSeconds(entry.at)}
        </time>
        <div className={styles.words}>
          <div className={coloured ? 'strong' : undefined}>
            <Sentence it={it} entry={entry} username={username} />
          </div>
          {line ? <div className={styles.second}>{line}</div> : null}
          {again.length > 0 ? (
            <div className={styles.second}>
              {t('timeline.fold', { count: again.length + 1, time: hoursMinutesSeconds(entry.at) })}{' '}
              {opened ? null : (
                <button type="button" className="link" onClick={() => setOpened(true)}>
                  {t('timeline.showAll')}
                </button>
              )}
            </div>
          ) : null}
          {opened
            ? again.map(({ id, at }) => (
                <div key={id} className={styles.second}>
                  {moment(at)}
                </div>
              ))
            : null}
        </div>
      </li>
    </>
  );
}

// The newest outcome shared nothing new.
function hadAll(it: Delivery) {
  const present = presentHolder(it).items.filter(({ status }) => status !== 'dropped');
  return present.length > 0 && present.every(({ status }) => status === 'already_shared');
}

function statusOf(entry: Entry): string | null {
  switch (entry.type) {
    case 'queued':
    case 'completed':
    case 'failed':
    case 'in_review':
    case 'invalidated':
      return entry.type;
    case 'waiting':
    case 'request_sent':
      return 'waiting_for_friendship';
    case 'action':
      return entry.status;
    default:
      return null;
  }
}

function Sentence({ it, entry, username }: { it: Delivery; entry: Entry; username: string | null }): ReactNode {
  const { data } = entry;
  const buyer = <Buyer username={username} />;
  const file = <Bdi>{data.fileName ?? ''}</Bdi>;
  const actor = <Actor of={entry} />;
  switch (entry.type) {
    case 'order_received':
      return <T k="timeline.order_received" values={{ store: <Bdi>{it.integrationName}</Bdi> }} />;
    case 'looked_up':
      return data.username ? <T k="timeline.looked_up" values={{ buyer }} /> : t('timeline.looked_up.none');
    case 'request_sent':
    case 'waiting':
    case 'accepted':
      return username ? <T k={`timeline.${entry.type}`} values={{ buyer }} /> : t(`timeline.${entry.type}.none`);
    case 'item_shared':
    case 'item_revoked':
    case 'item_revoke_failed':
      return <T k={`timeline.${entry.type}`} values={{ file }} />;
    case 'failed':
      return t('timeline.failed', { code: entry.resolutionCode ? codeWord(entry.resolutionCode) : '' });
    case 'event_told':
      return <T k="timeline.event_told" values={{ event: <code>{data.eventType ?? ''}</code> }} />;
    case 'action':
    case 'note':
      if (data.to !== undefined && data.from)
        return (
          <T k="timeline.changed" values={{ actor, from: <Name>{data.from}</Name>, to: <Name>{data.to}</Name> }} />
        );
      if (data.to !== undefined) return <T k="timeline.given" values={{ actor, to: <Name>{data.to}</Name> }} />;
      return <Did it={it} entry={entry} actor={actor} />;
    case 'matched':
    case 'queued':
    case 'put_off':
    case 'in_review':
    case 'invalidated':
      return t(`timeline.${entry.type}`);
    case 'completed':
      return t(it.dryRun ? 'status.rehearsed' : 'timeline.completed');
    default:
      return said(entry); // newer than this page
  }
}

function Did({ it, entry, actor }: { it: Delivery; entry: Entry; actor: ReactNode }) {
  const key = didKey(entry);
  if (key === 'timeline.did.takingBack') {
    const count = it.items.filter(({ status }) => status !== 'dropped').length;
    return <T k={key} values={{ actor, count }} />;
  }
  return key ? <T k={key} values={{ actor }} /> : said(entry);
}

function said({ message }: Entry): string {
  const replaced = replacedIn(message);
  if (replaced) {
    const files = isolated(replaced.gone);
    return replaced.instead === null
      ? t('timeline.said.leftOut', { files })
      : t('timeline.said.replaced', { files, others: isolated(replaced.instead) });
  }
  const key = saidKey(message);
  return key ? t(key) : message;
}

function secondLine(entry: Entry): ReactNode {
  switch (entry.type) {
    case 'looked_up':
    case 'item_shared':
    case 'request_sent':
      return entry.durationMs === null
        ? null
        : t('timeline.took', { n: entry.attempt, time: duration(entry.durationMs) });
    case 'order_received':
    case 'event_told':
      return null;
    case 'action':
    case 'note':
      if (entry.data.to !== undefined || didKey(entry) || !isSomebodys(entry)) return null;
      return <T k="timeline.by" values={{ actor: <Actor of={entry} within /> }} />;
    case 'accepted':
      return entry.message === 'The customer accepted the friend request.' ? null : said(entry);
    default:
      return said(entry);
  }
}

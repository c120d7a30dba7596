// The events of a receiver at the left, the chosen one at the right. Which one is chosen stands in the address.
import '@/i18n/en/webhooks';
import { Button, NativeSelect } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { queries, type EventQuery } from '@/api/queries';
import { Pager } from '@/components/Pager';
import { Loaded, SkeletonRows } from '@/components/States';
import { Shape } from '@/components/StatusIcon';
import { hoursMinutes } from '@/i18n/format';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { EVENT_STATUSES, lookOfEvent, type Subscription } from '@/vocabulary/webhook';
import type { Schemas } from '@/api/client';
import { Time, useNow } from '@/components/Time';
import { changed, cursorsOf, type Search } from '../search';
import { EventView } from './EventView';
import styles from './webhook.module.css';

const route = getRouteApi('/inside/integrations/webhooks/$id');
const PAGE = 30;
const day = 86_400_000;

// The name of an event, which a narrow column breaks behind its marks.
function breakable(name: string) {
  return name.split(/(?<=[._])/).map((part, index) => (
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}

export function Events({ it }: { it: Subscription }) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const status = EVENT_STATUSES.find((one) => one === search.status);
  const cursors = cursorsOf(search);
  const cursor = cursors.at(-1);
  const query: EventQuery = { limit: PAGE, ...(status ? { status } : {}), ...(cursor ? { cursor } : {}) };
  const read = useQuery(queries.events(it.id, query));
  const go = (next: Search) => void navigate({ to: '/integrations/webhooks/$id', params: { id: it.id }, search: next });
  const at = (next: string[]) =>
    go({ ...changed(search, { event: undefined }), ...(next.length > 0 ? { at: next.join('.') } : {}) });
  const rows = read.data?.data ?? [];
  // If the address names no event, the one that was first when the list opened stays shown.
  const list = [it.id, status, cursor].join(' ');
  const [first, setFirst] = useState({ list: '', id: '' });
  if (rows[0] && first.list !== list && !read.isPlaceholderData) setFirst({ list, id: rows[0].id });
  const chosen = search.event ?? (first.list === list || read.isPlaceholderData ? first.id : undefined);
  const next = read.data?.nextCursor;
  return (
    <div className={styles.columns} data-chosen={search.event ? true : undefined}>
      <section className={styles.events}>
        <div className={styles.head}>
          <h2>{t('events.title')}</h2>
          <NativeSelect
            aria-label={t('events.filter')}
            value={status ?? ''}
            onChange={(event) =>
              go(changed(search, { status: event.currentTarget.value || undefined, event: undefined }))
            }
            data={[
              { value: '', label: t('events.all') },
              ...EVENT_STATUSES.map((value) => ({ value, label: word('eventStatus', value) })),
            ]}
          />
        </div>
        <Loaded read={read} what={t('events.what')} skeleton={<SkeletonRows rows={6} height={52} />}>
          {() =>
            rows.length === 0 ? (
              <p className="muted">{t(status ? 'events.noneOf' : 'answers.none')}</p>
            ) : (
              <ul>
                {rows.map((event) => (
                  <EventRow
                    key={event.id}
                    event={event}
                    subscription={it.id}
                    search={search}
                    chosen={event.id === chosen}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
        <Pager
          page={cursors.length + 1}
          size={PAGE}
          shown={rows.length}
          onNewer={cursors.length > 0 ? () => at(cursors.slice(0, -1)) : undefined}
          onOlder={next ? () => at([...cursors, next]) : undefined}
        />
      </section>
      <section className={styles.event} aria-label={t('event.what')}>
        <Button
          className={styles.back}
          variant="subtle"
          leftSection={<IconArrowLeft size={16} />}
          onClick={() => go(changed(search, { event: undefined }))}
        >
          {t('event.back')}
        </Button>
        {chosen ? (
          <EventView key={chosen} subscription={it} id={chosen} />
        ) : (
          <p className="muted">{t('events.choose')}</p>
        )}
      </section>
    </div>
  );
}

function EventRow({
  event,
  subscription,
  search,
  chosen,
}: {
  event: Schemas['WebhookEvent'];
  subscription: string;
  search: Search;
  chosen: boolean;
}) {
  const now = useNow();
  const { icon, colour } = lookOfEvent(event);
  const when = event.createdAt; // as the list is in its order; its attempts have their times in its detail
  const order = event.orderNumber ?? event.orderId;
  return (
    <li>
      <Link
        className={styles.row}
        to="/integrations/webhooks/$id"
        params={{ id: subscription }}
        search={{ ...search, event: event.id }}
        aria-current={chosen ? 'true' : undefined}
      >
        <Shape icon={icon} colour={colour} />
        <span className={styles.names}>
          <code>{breakable(event.type)}</code>
          <span>
            {order ? t('events.order', { order }) : event.type === 'webhook.test' ? t('events.test') : null}
            {event.attemptCount > 1 ? `, ${t('events.attempt', { n: event.attemptCount })}` : null}
          </span>
        </span>
        <span className={styles.ends}>
          <span data-bad={colour === 'red' || undefined}>
            {event.lastStatusCode ?? (event.attemptCount > 0 ? t('answer.none') : '')}
          </span>
          <span>{now - Date.parse(when) < day ? hoursMinutes(when) : <Time at={when} form="ago" />}</span>
        </span>
      </Link>
    </li>
  );
}

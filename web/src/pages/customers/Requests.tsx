// Privacy requests: the service carries out erasures by itself; the others are the merchant's work, who closes them.
import '@/i18n/en/customers';
import { Button, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Pager } from '@/components/Pager';
import { Rows, type Column } from '@/components/Rows';
import { Loaded, SkeletonRows } from '@/components/States';
import { Time } from '@/components/Time';
import { moment } from '@/i18n/format';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { changed, cursorsOf } from '../search';
import { CloseRequest } from './CloseRequest';
import { RequestOrders } from './RequestOrders';
import { RequestState } from './RequestState';
import { StoreName } from './StoreName';
import styles from './customers.module.css';

const route = getRouteApi('/inside/account/customers');
const PAGE = 20;
type Request = Schemas['PrivacyRequest'];

export function Requests() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Request | null>(null);
  const [looked, setLooked] = useState<Request | null>(null);
  const all = search.show === 'all';
  const cursors = cursorsOf(search);
  const cursor = cursors.at(-1);
  const read = useQuery(queries.privacyRequests({ limit: PAGE, open: !all, ...(cursor ? { cursor } : {}) }));
  const rows = read.data?.data ?? [];
  const next = read.data?.nextCursor;
  const to = (change: Record<string, string | undefined>) =>
    void navigate({ to: '/account/customers', search: changed(search, change), resetScroll: false });
  const at = (pages: string[]) => to(pages.length > 0 ? { at: pages.join('.') } : {});
  return (
    <section aria-labelledby="requests">
      <div className={styles.head}>
        <div>
          <h2 id="requests">{t('requests.title')}</h2>
          <p className="muted">{t('requests.lead')}</p>
        </div>
        <SegmentedControl
          aria-label={t('requests.shown')}
          value={all ? 'all' : 'open'}
          onChange={(show) => to({ show: show === 'all' ? 'all' : undefined })}
          data={[
            { value: 'open', label: t('requests.open') },
            { value: 'all', label: t('requests.all') },
          ]}
        />
      </div>
      <Loaded read={read} what={t('requests.what')} skeleton={<SkeletonRows rows={2} />}>
        {() =>
          rows.length > 0 ? (
            <Rows
              label={t('requests.title')}
              columns={columnsOf(setAsked, setLooked)}
              rows={rows}
              idOf={({ id }) => id}
              busy={read.isPlaceholderData}
            />
          ) : (
            <p className={styles.none}>{t(all ? 'requests.noneEver' : 'requests.none')}</p>
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
      <CloseRequest it={asked} onClose={() => setAsked(null)} />
      <RequestOrders it={looked} onClose={() => setLooked(null)} />
    </section>
  );
}

const columnsOf = (onClose: (it: Request) => void, onOrders: (it: Request) => void): Column<Request>[] => [
  {
    key: 'state',
    header: t('requests.col.state'),
    width: '25%',
    narrow: 'second',
    cell: (it) => <RequestState it={it} />,
  },
  {
    key: 'kind',
    header: t('requests.col.kind'),
    width: '20%',
    narrow: 'first',
    cell: (it) => <span className="strong">{word('requestKind', it.kind)}</span>,
  },
  {
    key: 'store',
    header: t('requests.col.store'),
    cell: (it) => <StoreName id={it.integrationId} />,
  },
  {
    key: 'orders',
    header: t('requests.col.orders'),
    width: '124px',
    end: true,
    narrow: 'secondEnd',
    cell: (it) =>
      it.kind === 'data_request' && it.orderCount > 0 ? (
        <Button
          size="compact-md"
          aria-label={t('requests.orders.show', { count: it.orderCount })}
          onClick={() => onOrders(it)}
        >
          {t('requests.orders.count', { count: it.orderCount })}
        </Button>
      ) : (
        t('requests.orders.count', { count: it.orderCount })
      ),
  },
  {
    key: 'received',
    header: t('requests.col.received'),
    width: '80px',
    end: true,
    cell: (it) => <Time at={it.receivedAt} form="ago" />,
  },
  {
    key: 'close',
    header: '',
    width: '92px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) =>
      it.closedAt === null ? (
        <Button
          size="compact-md"
          aria-label={t('requests.closeOf', { when: moment(it.receivedAt), kind: word('requestKind', it.kind) })}
          onClick={() => onClose(it)}
        >
          {t('requests.close')}
        </Button>
      ) : null,
  },
];

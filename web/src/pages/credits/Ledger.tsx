// Every change of the balance, newest first, with the balance behind it.
import '@/i18n/en/credits';
import { Button, NativeSelect } from '@mantine/core';
import { IconCoins, IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api, ok, type Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { download } from '@/components/download';
import { Pager } from '@/components/Pager';
import { Rows, type Column } from '@/components/Rows';
import { EmptyState, Loaded } from '@/components/States';
import { Time, useNow } from '@/components/Time';
import { toast } from '@/components/toasts';
import { useAct } from '@/components/useAct';
import { t } from '@/i18n/text';
import { amount, LEDGER_KINDS, ledgerNote, ledgerWord, type LedgerKind } from '@/vocabulary/credits';
import { word } from '@/vocabulary/delivery';
import { beginOf, PERIODS } from '../period';
import { changed, cursorsOf } from '../search';
import styles from './credits.module.css';

const route = getRouteApi('/inside/credits');
const PAGE = 50;
const number = new Intl.NumberFormat('en');
type Entry = Schemas['LedgerEntry'];
type Filter = { kind?: LedgerKind; createdFrom?: string };

const columns: Column<Entry>[] = [
  { key: 'what', header: t('ledger.col.what'), width: '24%', narrow: 'first', cell: ledgerWord },
  { key: 'note', header: t('ledger.col.note'), narrow: 'second', cell: (it) => <Note it={it} /> },
  {
    key: 'credits',
    header: t('ledger.col.credits'),
    width: '80px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) => <span className={styles.amount}>{amount(it.kind, it.credits)}</span>,
  },
  {
    key: 'balance',
    header: t('ledger.col.balance'),
    width: '90px',
    end: true,
    cell: (it) => (it.balanceAfter === null ? null : number.format(it.balanceAfter).replace('-', '−')),
  },
  {
    key: 'when',
    header: t('ledger.col.when'),
    width: '180px',
    end: true,
    narrow: 'secondEnd',
    cell: (it) => <Time at={it.at} />,
  },
];

// The note and, of a share, the order that it was for.
function Note({ it }: { it: Entry }) {
  return (
    <span className={styles.note}>
      <Bdi className="muted">{ledgerNote(it)}</Bdi>
      {it.deliveryId ? (
        <Link to="/deliveries/$id" params={{ id: it.deliveryId }} search={{}}>
          <Bdi>{it.orderNumber ?? it.orderId ?? it.deliveryId}</Bdi>
        </Link>
      ) : null}
    </span>
  );
}

export function Ledger() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const now = useNow(60_000);
  const kind = LEDGER_KINDS.find((one) => one === search.kind);
  const period = PERIODS.find((one) => one === search.created);
  const cursors = cursorsOf(search);
  const cursor = cursors.at(-1);
  const filter: Filter = { ...(kind ? { kind } : {}), ...(period ? { createdFrom: beginOf(period, now) } : {}) };
  const read = useQuery(queries.ledger({ limit: PAGE, ...filter, ...(cursor ? { cursor } : {}) }));
  const go = (next: Record<string, string>) => void navigate({ to: '/credits', search: next, resetScroll: false });
  const at = (next: string[]) => go({ ...changed(search, {}), ...(next.length > 0 ? { at: next.join('.') } : {}) });
  const next = read.data?.nextCursor;
  return (
    <section className={styles.part}>
      <div className={styles.head}>
        <h2>{t('ledger.title')}</h2>
        <NativeSelect
          aria-label={t('ledger.kind')}
          value={kind ?? ''}
          onChange={(event) => go(changed(search, { kind: event.currentTarget.value }))}
          data={[
            { value: '', label: t('ledger.all') },
            ...LEDGER_KINDS.map((value) => ({ value, label: word('ledger', value) })),
          ]}
        />
        <NativeSelect
          aria-label={t('ledger.period')}
          value={period ?? ''}
          onChange={(event) => go(changed(search, { created: event.currentTarget.value }))}
          data={[
            { value: '', label: t('ledger.anyTime') },
            ...PERIODS.map((value) => ({ value, label: t(`filter.created.${value}`) })),
          ]}
        />
        <Export filter={filter} />
      </div>
      <Loaded read={read} what={t('ledger.what')}>
        {({ data }) =>
          data.length > 0 ? (
            <Rows
              label={t('ledger.title')}
              columns={columns}
              rows={data}
              idOf={({ id }) => id}
              busy={read.isPlaceholderData}
            />
          ) : next ? (
            <p className="muted">{t('list.searchedSoFar')}</p>
          ) : kind || period ? (
            <p className="muted">{t('ledger.noMatch')}</p>
          ) : (
            <EmptyState icon={IconCoins} title={t('ledger.none.title')} body={t('ledger.none.body')} />
          )
        }
      </Loaded>
      <Pager
        page={cursors.length + 1}
        size={PAGE}
        shown={read.data?.data.length ?? 0}
        onNewer={cursors.length > 0 ? () => at(cursors.slice(0, -1)) : undefined}
        onOlder={next ? () => at([...cursors, next]) : undefined}
      />
    </section>
  );
}

function Export({ filter }: { filter: Filter }) {
  const { busy, button } = useAct(async () => {
    const answer = api.GET('/api/credits/ledger.csv', { params: { query: filter }, parseAs: 'text' });
    const text = await ok<unknown>(answer);
    download('ledger.csv', String(text));
    if ((await answer).response.headers.has('x-next-cursor')) toast(t('ledger.exportPart'));
  });
  return (
    <Button leftSection={<IconDownload size={16} />} {...button}>
      {busy ? t('ledger.exporting') : t('ledger.export')}
    </Button>
  );
}

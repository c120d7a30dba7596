// The purchases, newest first, with their receipts.
import '@/i18n/en/credits';
import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Pager } from '@/components/Pager';
import { Rows, type Column } from '@/components/Rows';
import { Loaded, SkeletonRows } from '@/components/States';
import { Tag } from '@/components/Tag';
import { Time } from '@/components/Time';
import { moment } from '@/i18n/format';
import { money } from '@/i18n/money';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { payUrl, PURCHASE_STATES, receiptUrl, type Purchase, type PurchaseState as State } from '@/vocabulary/credits';
import { word } from '@/vocabulary/delivery';
import { PurchaseState } from './PurchaseState';
import styles from './credits.module.css';

const route = getRouteApi('/inside/credits');
const PAGE = 10;

const columns: Column<Purchase>[] = [
  {
    key: 'state',
    header: t('purchases.col.state'),
    width: '30%',
    narrow: 'first',
    cell: (it) => <PurchaseState it={it} />,
  },
  {
    key: 'pack',
    header: t('purchases.col.pack'),
    narrow: 'second',
    cell: (it) => (
      <>
        <Bdi>{it.packName}</Bdi> {it.live ? null : <Tag>{t('purchases.test')}</Tag>}
      </>
    ),
  },
  {
    key: 'price',
    header: t('purchases.col.price'),
    width: '90px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) => money(it.amount, it.currency),
  },
  {
    key: 'when',
    header: t('purchases.col.when'),
    width: '180px',
    end: true,
    cell: (it) => <Time at={it.paidAt ?? it.createdAt} />,
  },
  {
    key: 'links',
    header: t('purchases.col.links'),
    width: '72px',
    end: true,
    narrow: 'secondEnd',
    cell: (it) => <Links it={it} />,
  },
];

function Links({ it }: { it: Purchase }) {
  const owner = useIsOwner();
  const pay = owner ? payUrl(it) : null;
  const receipt = receiptUrl(it);
  const of = { pack: it.packName, when: moment(it.createdAt) };
  if (pay)
    return (
      <a className="link" href={pay} aria-label={t('purchases.payOf', of)}>
        {t('purchases.pay')}
      </a>
    );
  return receipt ? (
    <a
      className="link"
      href={receipt}
      target="_blank"
      rel="noopener noreferrer"
      aria-label={t('purchases.receiptOf', of)}
    >
      {t('purchases.receipt')}
    </a>
  ) : null;
}

// `state` and `pages` (the cursors of the pages before this one and its own) are in the address beside the ledger's own values.
export function Purchases() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const state = PURCHASE_STATES.find((one) => one === search.state);
  const cursors = search.pages ? search.pages.split('.') : [];
  const cursor = cursors.at(-1);
  const read = useQuery(queries.purchases({ limit: PAGE, ...(state ? { state } : {}), ...(cursor ? { cursor } : {}) }));
  const go = (wanted: State | undefined, pages: string[] = []) => {
    const { state: _, pages: __, ...next } = search;
    if (wanted) next.state = wanted;
    if (pages.length > 0) next.pages = pages.join('.');
    void navigate({ to: '/credits', search: next, resetScroll: false });
  };
  const next = read.data?.nextCursor;
  // An account without purchases sees no table, nor while they are being read.
  const none = read.data ? read.data.data.length === 0 : !read.error;
  if (none && !state && cursors.length === 0) return null;
  return (
    <section className={styles.part}>
      <div className={styles.head}>
        <h2>{t('purchases.title')}</h2>
        <NativeSelect
          aria-label={t('purchases.filter')}
          value={state ?? ''}
          onChange={(event) => go(PURCHASE_STATES.find((one) => one === event.currentTarget.value))}
          data={[
            { value: '', label: t('purchases.all') },
            ...PURCHASE_STATES.map((value) => ({ value, label: word('purchaseState', value) })),
          ]}
        />
      </div>
      <Loaded read={read} what={t('purchases.what')} skeleton={<SkeletonRows rows={2} />}>
        {({ data }) =>
          data.length > 0 ? (
            <Rows
              label={t('purchases.title')}
              columns={columns}
              rows={data}
              idOf={({ id }) => id}
              busy={read.isPlaceholderData}
              icons
            />
          ) : (
            <p className="muted">{t('purchases.none')}</p>
          )
        }
      </Loaded>
      <Pager
        page={cursors.length + 1}
        size={PAGE}
        shown={read.data?.data.length ?? 0}
        onNewer={cursors.length > 0 ? () => go(state, cursors.slice(0, -1)) : undefined}
        onOlder={next ? () => go(state, [...cursors, next]) : undefined}
      />
    </section>
  );
}

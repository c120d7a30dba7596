// Stores as rows: whether orders come in, and what needs somebody.
import '@/i18n/en/store_kinds';
import '@/i18n/en/stores';
import { Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { Bdi } from '@/components/Bdi';
import { Rows, type Column } from '@/components/Rows';
import { Shape } from '@/components/StatusIcon';
import { Time } from '@/components/Time';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { kindOf, STORE_LOOKS, storeState, type Store } from '@/vocabulary/store';
import styles from './stores.module.css';

export function StateText({ it }: { it: Store }) {
  const state = storeState(it);
  const [icon, colour] = STORE_LOOKS[state];
  return (
    <span className={styles.state} data-state={state}>
      <Shape icon={icon} colour={colour} />
      {t(`store.state.${state}`)}
    </span>
  );
}

const Failed = ({ it }: { it: Store }) => (
  <Link
    className={styles.failed}
    data-above=""
    to="/integrations/stores/$id/deliveries"
    params={{ id: it.id }}
    search={{ status: 'failed' }}
  >
    {t('stores.failed', { n: it.counts.failed })}
  </Link>
);

// The counts that have a column of their own on a wide screen.
const NarrowCounts = ({ it }: { it: Store }) => (
  <span className={styles.narrowCounts}>
    {it.counts.failed > 0 ? <Failed it={it} /> : null}
    {it.counts.unmappedProducts > 0 ? (
      <span className={styles.unmapped}>{t('stores.unmapped', { n: it.counts.unmappedProducts })}</span>
    ) : null}
  </span>
);

const columns: Column<Store>[] = [
  {
    key: 'name',
    header: t('stores.col.name'),
    width: '28%',
    narrow: 'first',
    cell: (it) => (
      <>
        <Bdi className="strong" title={it.name}>
          {it.name}
        </Bdi>{' '}
        <span className="muted">{word('shop', kindOf(it))}</span>
      </>
    ),
  },
  {
    key: 'state',
    header: t('stores.col.state'),
    narrow: 'second',
    cell: (it) => (
      <>
        <StateText it={it} />
        <NarrowCounts it={it} />
      </>
    ),
  },
  {
    key: 'failed',
    header: t('stores.col.failed'),
    width: '88px',
    end: true,
    cell: (it) => (it.counts.failed > 0 ? <Failed it={it} /> : '0'),
  },
  {
    key: 'unmapped',
    header: t('stores.col.unmapped'),
    width: '120px',
    end: true,
    cell: (it) => (
      <span className={it.counts.unmappedProducts > 0 ? styles.unmapped : undefined}>{it.counts.unmappedProducts}</span>
    ),
  },
  {
    key: 'last',
    header: t('stores.col.last'),
    width: '96px',
    end: true,
    narrow: 'secondEnd',
    cell: (it) => (it.lastOrderAt ? <Time at={it.lastOrderAt} form="ago" /> : t('store.never')),
  },
  {
    key: 'on',
    header: t('stores.col.on'),
    width: '64px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) => <OnSwitch it={it} />,
  },
];

function OnSwitch({ it }: { it: Store }) {
  const client = useQueryClient();
  async function turn(active: boolean) {
    try {
      await ok(
        api.PATCH('/api/integrations/{integration}', { params: { path: { integration: it.id } }, body: { active } }),
      );
      toast(t(active ? 'stores.switchedOn' : 'stores.switchedOff', { name: it.name }));
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    }
    await client.invalidateQueries({ queryKey: ['stores'] });
  }
  return (
    <Switch
      className={styles.switch}
      data-above=""
      aria-label={t('stores.switch', { name: it.name })}
      checked={it.active}
      onChange={(event) => void turn(event.currentTarget.checked)}
    />
  );
}

export function StoreRows({ rows }: { rows: Store[] }) {
  return (
    <Rows
      label={t('stores.title')}
      columns={columns}
      rows={rows}
      height={56}
      idOf={({ id }) => id}
      linkOf={({ id }) => ({ to: '/integrations/stores/$id/products', params: { id }, search: {} })}
    />
  );
}

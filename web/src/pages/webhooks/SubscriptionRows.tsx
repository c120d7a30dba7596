import '@/i18n/en/webhooks';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Rows, type Column } from '@/components/Rows';
import { Shape } from '@/components/StatusIcon';
import { useNow } from '@/components/Time';
import { t } from '@/i18n/text';
import { stateOf } from '@/vocabulary/health';
import { nameOf, STATE_LOOKS, type Subscription } from '@/vocabulary/webhook';
import { Ticks } from './Ticks';
import styles from './webhooks.module.css';

export function StateText({ it }: { it: Subscription }) {
  const state = stateOf(it, useNow(60_000));
  const [icon, colour] = STATE_LOOKS[state] ?? ['circle', 'grey'];
  return (
    <span className={styles.health} title={it.health}>
      <Shape icon={icon} colour={colour} />
      {t(`health.${state}`)}
    </span>
  );
}

export const eventsText = ({ eventTypes }: Pick<Subscription, 'eventTypes'>) =>
  eventTypes.length === 0 ? t('webhooks.allEvents') : t('webhooks.someEvents', { count: eventTypes.length });
export const storesText = ({ integrationIds }: Pick<Subscription, 'integrationIds'>) =>
  integrationIds.length === 0 ? t('webhooks.allStores') : t('count.stores', { count: integrationIds.length });

const columns: Column<Schemas['Subscription']>[] = [
  {
    key: 'url',
    header: t('webhooks.col.url'),
    width: '27%',
    narrow: 'first',
    cell: (it) => (
      <Bdi className="strong" title={it.url}>
        {nameOf(it)}
      </Bdi>
    ),
  },
  { key: 'state', header: t('webhooks.col.state'), narrow: 'second', cell: (it) => <StateText it={it} /> },
  { key: 'events', header: t('webhooks.col.events'), width: '100px', cell: eventsText },
  { key: 'stores', header: t('webhooks.col.stores'), width: '100px', cell: storesText },
  {
    key: 'recent',
    header: t('webhooks.col.recent'),
    width: '164px',
    narrow: 'secondEnd',
    cell: (it) => <Ticks recent={it.recent} width="list" />,
  },
];

export function SubscriptionRows({ rows }: { rows: Schemas['Subscription'][] }) {
  return (
    <Rows
      label={t('webhooks.title')}
      columns={columns}
      rows={rows}
      height={56}
      idOf={({ id }) => id}
      linkOf={({ id }) => ({ to: '/integrations/webhooks/$id', params: { id }, search: {} })}
    />
  );
}

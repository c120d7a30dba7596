import '@/i18n/en/presets';
import { IconMicrophone2, IconWaveSine } from '@tabler/icons-react';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Rows, type Column } from '@/components/Rows';
import { Tag } from '@/components/Tag';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import styles from './presets.module.css';

type Preset = Schemas['Preset'];

// Counted up to 1,000.
const MOST = 1000;
const number = new Intl.NumberFormat('en');
export const countText = (count: number) => `${number.format(count)}${count >= MOST ? '+' : ''}`;

const columns: Column<Preset>[] = [
  {
    key: 'name',
    header: t('presets.col.name'),
    narrow: 'first',
    cell: (it) => {
      const Icon = it.kind === 'capture' ? IconMicrophone2 : IconWaveSine;
      return (
        <span className={styles.name}>
          <Icon size={16} stroke={1.7} aria-hidden="true" />
          <Bdi>{it.name || it.id}</Bdi>
          {it.gone ? <Tag>{t('presets.gone')}</Tag> : null}
        </span>
      );
    },
  },
  {
    key: 'kind',
    header: t('presets.col.kind'),
    width: '20%',
    narrow: 'second',
    cell: (it) => <span className="muted">{word('kind', it.kind)}</span>,
  },
  {
    key: 'usedBy',
    header: t('presets.col.usedBy'),
    width: '20%',
    narrow: 'secondEnd',
    cell: (it) =>
      it.usedBy === undefined ? null : it.usedBy > 0 ? (
        t('presets.usedBy', { count: it.usedBy })
      ) : (
        <span className="quiet">{t('presets.unused')}</span>
      ),
  },
  {
    key: 'delivered',
    header: t('presets.col.delivered'),
    width: '110px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) =>
      it.deliveredCount === undefined ? null : (
        <>
          {countText(it.deliveredCount)}
          <span className={styles.unit}> {t('presets.deliveries', { count: it.deliveredCount })}</span>
        </>
      ),
  },
];

export function PresetRows({ rows, busy }: { rows: Preset[]; busy: boolean }) {
  return (
    <Rows
      label={t('presets.what')}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      busy={busy}
      icons
      linkOf={({ id }) => ({ to: '/presets/$id', params: { id }, search: {} })}
    />
  );
}

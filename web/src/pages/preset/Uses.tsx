import '@/i18n/en/presets';
import '@/i18n/en/stores';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Rows, type Column } from '@/components/Rows';
import { Tag } from '@/components/Tag';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import styles from './preset.module.css';

type Use = Schemas['PresetUse'];

const columns: Column<Use>[] = [
  {
    key: 'product',
    header: t('preset.col.product'),
    narrow: 'first',
    cell: (it) => (
      <>
        <Bdi className="strong">{it.matchValue}</Bdi> {it.stale ? <Tag>{t('preset.stale')}</Tag> : null}
      </>
    ),
  },
  {
    key: 'by',
    header: t('preset.col.by'),
    width: '24%',
    narrow: 'firstEnd',
    cell: (it) => <span className="muted">{word('match', it.matchType)}</span>,
  },
  {
    key: 'store',
    header: t('preset.col.store'),
    width: '32%',
    narrow: 'second',
    cell: (it) => <Bdi>{it.integrationName}</Bdi>,
  },
];

// Each product links to its match, where it can be changed.
export function Uses({ uses, total }: { uses: Use[]; total: number }) {
  return (
    <section>
      <div className={styles.head}>
        <h2>{t('preset.uses')}</h2>
        {total > uses.length ? (
          <span className="quiet">{t('preset.uses.some', { count: uses.length, total })}</span>
        ) : null}
      </div>
      {uses.length > 0 ? (
        <Rows
          label={t('preset.uses')}
          columns={columns}
          rows={uses}
          idOf={({ integrationId, matchType, matchValue }) => `${integrationId} ${matchType} ${matchValue}`}
          linkOf={({ integrationId, matchValue }) => ({
            to: '/integrations/stores/$id/products',
            params: { id: integrationId },
            search: { q: matchValue },
          })}
        />
      ) : (
        <p className="muted">{t('preset.uses.none')}</p>
      )}
    </section>
  );
}

// The use by each token or each store, with a bar for its share.
import '@/i18n/en/usage';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { useNarrow } from '@/components/narrow';
import { Rows, type Column } from '@/components/Rows';
import { t } from '@/i18n/text';
import styles from './usage.module.css';

type Group = Schemas['UsageOfAll']['groups'][number];
const number = new Intl.NumberFormat('en');
const idOf = ({ keyId, integrationId }: Group) => keyId ?? integrationId ?? '';
const isNamed = (group: Group) => idOf(group) !== '';

export function Groups({ groups, by }: { groups: Group[]; by: 'key' | 'store' }) {
  const narrow = useNarrow();
  const most = Math.max(1, ...groups.map(({ requests }) => requests));
  const columns: Column<Group>[] = [
    {
      key: 'name',
      header: t(`usage.col.name.${by}`),
      width: '30%',
      narrow: 'first',
      cell: (it) =>
        isNamed(it) ? (
          <Bdi className="strong">{it.name ?? idOf(it)}</Bdi>
        ) : (
          t(by === 'key' ? 'usage.noKey' : 'usage.noStore')
        ),
    },
    {
      key: 'share',
      header: '',
      cell: (it) => (
        <svg className={styles.share} aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 8">
          <rect width={Math.max((it.requests / most) * 100, it.requests > 0 ? 0.8 : 0)} height="8" rx="1" />
        </svg>
      ),
    },
    ...(['requests', 'limited'] as const).map((one): Column<Group> => ({
      key: one,
      header: t(`usage.${one}`),
      width: '112px',
      end: true,
      narrow: one === 'requests' ? 'firstEnd' : 'second',
      cell: (it) => (
        <span className={it[one] > 0 && one === 'limited' ? 'red' : undefined}>
          {narrow ? t(`usage.narrow.${one}`, { count: it[one] }) : number.format(it[one])}
        </span>
      ),
    })),
    {
      key: 'made',
      header: t('usage.deliveries'),
      width: '104px',
      end: true,
      cell: (it) => number.format(it.deliveries.made),
    },
    {
      key: 'failed',
      narrow: 'secondEnd',
      header: t('usage.failed'),
      width: '84px',
      end: true,
      cell: (it) =>
        narrow ? t('usage.narrow.failed', { n: it.deliveries.failed }) : number.format(it.deliveries.failed),
    },
  ];
  if (groups.length === 0) return <p className="muted">{t('usage.none')}</p>;
  return (
    <Rows
      label={t(by === 'key' ? 'usage.by.key' : 'usage.by.store')}
      columns={columns}
      rows={[...groups.filter(isNamed), ...groups.filter((group) => !isNamed(group))]}
      idOf={idOf}
      quiet={(it) => !isNamed(it)}
      linkOf={(it) =>
        !isNamed(it)
          ? null
          : it.keyId
            ? { to: '/keys/$id', params: { id: it.keyId }, search: {} }
            : { to: '/integrations/stores/$id/products', params: { id: idOf(it) }, search: {} }
      }
    />
  );
}

// Tokens as rows: their rights, and how much they are used.
import '@/i18n/en/account';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { useNarrow } from '@/components/narrow';
import { Rows, type Column } from '@/components/Rows';
import { Tag } from '@/components/Tag';
import { Time } from '@/components/Time';
import { momentWithin } from '@/i18n/format';
import { t, T } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { expired } from './About';
import { KeyActions } from './KeyActions';
import { Rights } from './Rights';
import styles from './keys.module.css';

type Key = Schemas['ApiKey'];
const number = new Intl.NumberFormat('en');

// A token that another one has replaced ends soon too.
function Ends({ it }: { it: Key }) {
  if (!it.active) return <Tag>{t('keysPage.inactive')}</Tag>;
  if (expired(it)) return <Tag>{t('keysPage.expired')}</Tag>;
  return it.expiresAt ? <Tag>{t('keysPage.until', { time: momentWithin(it.expiresAt) })}</Tag> : null;
}

type Props = { label: string; rows: Key[]; busy?: boolean; onIssued: (key: Schemas['IssuedApiKey']) => void };

export function KeyRows({ label, rows, busy, onIssued }: Props) {
  const owner = useIsOwner();
  const narrow = useNarrow();
  const columns: Column<Key>[] = [
    {
      key: 'name',
      header: t('keysPage.col.name'),
      width: '20%',
      narrow: 'first',
      cell: (it) => (
        <span className={styles.whole}>
          <Bdi className={it.active ? 'strong' : undefined}>{it.name}</Bdi> <Ends it={it} />
        </span>
      ),
    },
    {
      key: 'token',
      header: t('keysPage.col.token'),
      width: '144px',
      narrow: 'second',
      cell: (it) => <code className="muted">{it.preview}</code>,
    },
    {
      key: 'may',
      header: t('keysPage.col.may'),
      cell: (it) => <Rights of={it.permissions} />,
    },
    {
      key: 'hour',
      header: t('keysPage.col.hour'),
      width: '96px',
      wide: true,
      end: true,
      cell: (it) => (it.active ? t('keysPage.hour', { n: it.usedThisHour, limit: it.rateLimit }) : null),
    },
    {
      key: 'requests',
      header: t('keysPage.col.requests'),
      width: '84px',
      wide: true,
      end: true,
      cell: (it) => number.format(it.requests),
    },
    {
      key: 'deliveries',
      header: t('keysPage.col.deliveries'),
      width: '88px',
      wide: true,
      end: true,
      cell: (it) => number.format(it.deliveries),
    },
    {
      key: 'active',
      header: t('keysPage.col.active'),
      width: '92px',
      end: true,
      narrow: 'secondEnd',
      cell: (it) =>
        !narrow ? (
          it.lastActiveAt ? (
            <Time at={it.lastActiveAt} form="ago" />
          ) : (
            t('keysPage.never')
          )
        ) : it.lastActiveAt ? (
          <T k="keysPage.narrow.used" values={{ when: <Time at={it.lastActiveAt} form="lately" /> }} />
        ) : (
          t('keysPage.narrow.never')
        ),
    },
    {
      key: 'actions',
      header: '',
      width: '44px',
      end: true,
      narrow: 'firstEnd',
      cell: (it) => (owner ? <KeyActions it={it} onIssued={onIssued} /> : null),
    },
  ];
  return (
    <Rows
      label={label}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      linkOf={({ id }) => ({ to: '/keys/$id', params: { id }, search: {} })}
      busy={busy}
      quiet={(it) => !it.active}
    />
  );
}

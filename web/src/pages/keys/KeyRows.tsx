// Tokens as rows: their rights, and how much they are used.
import '@/i18n/en/account';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Rows, type Column } from '@/components/Rows';
import { Tag } from '@/components/Tag';
import { Time } from '@/components/Time';
import { momentWithin } from '@/i18n/format';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { hasUsual, permissionList, permissionWord } from '@/vocabulary/keys';
import { expired } from './About';
import { KeyActions } from './KeyActions';

type Key = Schemas['ApiKey'];
const number = new Intl.NumberFormat('en');
const rights = (permissions: string[]) => (hasUsual(permissions) ? t('keysPage.all') : permissionList(permissions));

// A token that another one has replaced ends soon too.
function Ends({ it }: { it: Key }) {
  if (!it.active) return <Tag>{t('keysPage.inactive')}</Tag>;
  if (expired(it)) return <Tag>{t('keysPage.expired')}</Tag>;
  return it.expiresAt ? <Tag>{t('keysPage.until', { time: momentWithin(it.expiresAt) })}</Tag> : null;
}

type Props = { label: string; rows: Key[]; busy?: boolean; onIssued: (key: Schemas['IssuedApiKey']) => void };

export function KeyRows({ label, rows, busy, onIssued }: Props) {
  const owner = useIsOwner();
  const columns: Column<Key>[] = [
    {
      key: 'name',
      header: t('keysPage.col.name'),
      width: '20%',
      narrow: 'first',
      cell: (it) => (
        <>
          <Bdi className={it.active ? 'strong' : undefined}>{it.name}</Bdi> <Ends it={it} />
        </>
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
      cell: (it) => <span title={it.permissions.map(permissionWord).join('\n')}>{rights(it.permissions)}</span>,
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
      cell: (it) => (it.lastActiveAt ? <Time at={it.lastActiveAt} form="ago" /> : t('keysPage.never')),
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

// Who belongs to the account, and who is invited.
import '@/i18n/en/people';
import '@/i18n/en/profile';
import { Button } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Rows, type Column } from '@/components/Rows';
import { Loaded, SkeletonRows } from '@/components/States';
import { Tag } from '@/components/Tag';
import { Time } from '@/components/Time';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { AccountPage } from '../account/AccountPage';
import { hostOf } from '../account/issuers';
import { changed } from '../search';
import { Invitations } from './Invitations';
import { LinkOnce } from './LinkOnce';
import { PersonActions } from './PersonActions';
import { roleWord } from './roles';
import styles from './people.module.css';

const route = getRouteApi('/inside/account/people');
type Person = Schemas['Person'];
type Made = Schemas['CreatedInvitation'];
const NewInvitation = lazy(() => import('./NewInvitation').then((part) => ({ default: part.NewInvitation })));

export function People() {
  const owner = useIsOwner();
  const read = useQuery(queries.people());
  const ours = useQuery(queries.ownIssuer()).data;
  const client = useQueryClient();
  const search = route.useSearch();
  const navigate = useNavigate();
  const inviting = owner === true && search.new === 'invitation';
  const setInviting = (now: boolean) =>
    void navigate({
      to: '/account/people',
      search: changed(search, { new: now ? 'invitation' : undefined }),
      replace: !now,
    });
  const [made, setMade] = useState<Made | null>(null);
  const columns: Column<Person>[] = [
    {
      key: 'person',
      header: t('people.col.person'),
      width: '34%',
      narrow: 'first',
      cell: (it) => (
        <span className={styles.name}>
          <Bdi className="strong" title={it.email ?? undefined}>
            {it.email ?? t('people.noAddress')}
          </Bdi>
          {it.current ? <Tag>{t('people.you')}</Tag> : null}
        </span>
      ),
    },
    { key: 'role', header: t('people.col.role'), width: '84px', narrow: 'second', cell: (it) => roleWord(it.role) },
    {
      key: 'by',
      header: t('people.col.by'),
      cell: (it) => <Bdi className="muted">{it.issuer === ours ? t('people.password') : hostOf(it.issuer)}</Bdi>,
    },
    {
      key: 'joined',
      header: t('people.col.joined'),
      width: '150px',
      end: true,
      narrow: 'secondEnd',
      cell: (it) => <Time at={it.joinedAt} />,
    },
    {
      key: 'actions',
      header: '',
      width: '96px', // as in the table of invitations below
      end: true,
      narrow: 'firstEnd',
      cell: (it) => (owner || it.current ? <PersonActions it={it} owner={owner === true} /> : null),
    },
  ];
  return (
    <AccountPage tab="people">
      <div className={styles.lead}>
        <p className="muted">{t(owner === false ? 'people.leadMember' : 'people.lead')}</p>
        {owner ? (
          <Button variant="filled" leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(true)}>
            {t('invitations.invite')}
          </Button>
        ) : null}
      </div>
      <Loaded read={read} what={t('people.what')} skeleton={<SkeletonRows rows={3} />}>
        {({ data }) => <Rows label={t('accountPage.people')} columns={columns} rows={data} idOf={({ id }) => id} />}
      </Loaded>
      {owner ? <Invitations people={read.data?.data ?? []} /> : null}
      <Suspense>
        {inviting ? (
          <NewInvitation
            onClose={() => setInviting(false)}
            onMade={(it) => {
              setInviting(false);
              setMade(it);
              void client.invalidateQueries({ queryKey: ['people'] });
            }}
          />
        ) : null}
      </Suspense>
      <LinkOnce made={made} onDone={() => setMade(null)} />
    </AccountPage>
  );
}

// The actions on a person: an owner has them for everybody, a member for themselves.
import '@/i18n/en/people';
import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { ConfirmDialog } from '@/components/Dialogs';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { session } from '@/session';
import { roleWord } from './roles';

type Person = Schemas['Person'];

export function PersonActions({ it, owner }: { it: Person; owner: boolean }) {
  const [asked, setAsked] = useState<'role' | 'remove' | 'leave' | null>(null);
  const account = useQuery(queries.account());
  const client = useQueryClient();
  const name = it.email ?? it.id;
  const close = () => setAsked(null);
  const next: Person['role'] = it.role === 'owner' ? 'member' : 'owner';
  const params = { path: { person: it.id } };
  const readAnew = async () => {
    await client.invalidateQueries({ queryKey: ['people'] });
    if (it.current) await client.invalidateQueries({ queryKey: ['account'] });
  };
  async function changeRole() {
    await ok(api.PATCH('/api/people/{person}', { params, body: { role: next } })).finally(readAnew);
    toast(t('people.changed', { name, role: roleWord(next).toLowerCase() }));
  }
  async function remove() {
    await ok(api.DELETE('/api/people/{person}', { params })).finally(readAnew);
    toast(t('people.removed', { name }));
  }
  async function leave() {
    await ok(api.POST('/api/account/leave'));
    await session.signOut();
  }
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon aria-label={t('people.of', { name })}>
            <IconDots size={17} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {owner ? (
            <Menu.Item onClick={() => setAsked('role')}>
              {t(next === 'owner' ? 'people.makeOwner' : 'people.makeMember')}
            </Menu.Item>
          ) : null}
          {it.current ? (
            <Menu.Item data-danger onClick={() => setAsked('leave')}>
              {t('people.leave')}
            </Menu.Item>
          ) : (
            <Menu.Item data-danger onClick={() => setAsked('remove')}>
              {t('people.remove')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={asked === 'role'}
        onClose={close}
        title={it.current && next === 'member' ? t('people.member.own') : t(`people.${next}.title`, { name })}
        body={it.current && next === 'member' ? t('people.member.ownBody') : t(`people.${next}.body`)}
        button={t(`people.${next}.button`)}
        onConfirm={changeRole}
      />
      <ConfirmDialog
        opened={asked === 'remove'}
        onClose={close}
        title={t('people.remove.title', { name })}
        body={t('people.remove.body')}
        button={t('people.remove.button')}
        danger
        onConfirm={remove}
      />
      <ConfirmDialog
        opened={asked === 'leave'}
        onClose={close}
        title={t('people.leave.title', { account: account.data?.name ?? '' })}
        body={t('people.leave.body')}
        button={t('people.leave.button')}
        danger
        onConfirm={leave}
      />
    </>
  );
}

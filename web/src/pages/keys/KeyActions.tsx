// The actions on a token.
import '@/i18n/en/account';
import { ActionIcon, Button, Menu, TextInput } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { ConfirmDialog } from '@/components/Dialogs';
import { toast } from '@/components/toasts';
import { momentWithin } from '@/i18n/format';
import { t } from '@/i18n/text';
import { expired } from './About';

const RotateKey = lazy(() => import('./RotateKey').then((part) => ({ default: part.RotateKey })));

type Key = Schemas['ApiKey'];
type Issued = Schemas['IssuedApiKey'];

// `page`: beside the token's name, where reactivating it is a button.
type Props = { it: Key; page?: boolean; onIssued: (key: Issued) => void };

export function KeyActions({ it, page = false, onIssued }: Props) {
  const [asked, setAsked] = useState<'rename' | 'rotate' | 'deactivate' | null>(null);
  const [name, setName] = useState(it.name);
  const client = useQueryClient();
  const params = { path: { key: it.id } };
  const active = useQuery({ ...queries.activeKeys(), enabled: asked === 'deactivate' && it.rotatedFrom !== null });
  const former = active.data?.data.find((key) => key.id === it.rotatedFrom && !expired(key));
  const change = async (body: { name?: string; active?: boolean }) => {
    await ok(api.PATCH('/api/keys/{key}', { params, body }));
    await client.invalidateQueries({ queryKey: ['keys'] });
  };
  const close = () => setAsked(null);
  const reactivate = () =>
    void change({ active: true }).then(
      () => toast(t('keysPage.reactivated', { name: it.name })),
      (error: unknown) => toast(sentence(error), { tone: 'bad' }),
    );
  return (
    <>
      {page && !it.active ? <Button onClick={reactivate}>{t('keysPage.reactivate')}</Button> : null}
      <Menu>
        <Menu.Target>
          <ActionIcon aria-label={t('keysPage.of', { name: it.name })}>
            <IconDots size={17} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsked('rename')}>{t('keysPage.rename')}</Menu.Item>
          {it.active && !expired(it) ? (
            <Menu.Item onClick={() => setAsked('rotate')}>{t('keysPage.rotate')}</Menu.Item>
          ) : null}
          {it.active ? (
            <Menu.Item data-danger onClick={() => setAsked('deactivate')}>
              {t('keysPage.deactivate')}
            </Menu.Item>
          ) : page ? null : (
            <Menu.Item onClick={reactivate}>{t('keysPage.reactivate')}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={asked === 'rename'}
        onClose={close}
        title={t('keysPage.rename.title')}
        body={null}
        button={t('action.save')}
        ready={name.trim() !== ''}
        onConfirm={() => change({ name: name.trim() })}
      >
        <TextInput
          label={t('keysPage.new.name')}
          size="md"
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'deactivate'}
        onClose={close}
        title={t('keysPage.deactivate.title', { name: it.name })}
        body={
          <>
            <p>{t('keysPage.deactivate.body')}</p>
            {former ? (
              <p>
                {former.expiresAt
                  ? t('keysPage.deactivate.formerUntil', { time: momentWithin(former.expiresAt) })
                  : t('keysPage.deactivate.former')}
              </p>
            ) : null}
          </>
        }
        button={t('keysPage.deactivate.button')}
        danger
        onConfirm={() => change({ active: false })}
      />
      <Suspense>{asked === 'rotate' ? <RotateKey it={it} onClose={close} onIssued={onIssued} /> : null}</Suspense>
    </>
  );
}

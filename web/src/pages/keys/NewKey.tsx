import '@/i18n/en/account';
import { Button, Checkbox, MultiSelect, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { problemsOf } from '@/api/errors';
import { queries } from '@/api/queries';
import { FormError } from '@/components/FormError';
import { Dialog } from '@/components/Dialogs';
import { useFailure } from '@/components/useFailure';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { ALL_PERMISSIONS, permissionWord, USUAL, type Permission } from '@/vocabulary/keys';
import styles from './keys.module.css';

const LIVES = ['never', '30', '90', '365'] as const;
type Props = { opened: boolean; onClose: () => void; onIssued: (key: Schemas['IssuedApiKey']) => void };

export function NewKey({ opened, onClose, onIssued }: Props) {
  return (
    <Dialog opened={opened} onClose={onClose} title={t('keysPage.new.title')} size={520}>
      <Form onClose={onClose} onIssued={onIssued} />
    </Dialog>
  );
}

function Form({ onClose, onIssued }: Omit<Props, 'opened'>) {
  const stores = useQuery(queries.stores());
  const [name, setName] = useState('');
  const [permissions, setPermissions] = useState<string[]>(USUAL);
  const [integrationIds, setStores] = useState<string[]>([]);
  const [life, setLife] = useState<(typeof LIVES)[number]>('365');
  const { busy, begin, end } = useSubmit();
  const { error, fail, clear } = useFailure(t('keysPage.create'));
  const problems = problemsOf(error);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    clear();
    const expiresAt = life === 'never' ? undefined : new Date(Date.now() + Number(life) * 86_400_000).toISOString();
    try {
      onIssued(
        await ok(
          api.POST('/api/keys', {
            body: {
              name: name.trim(),
              permissions: permissions as Permission[],
              integrationIds,
              ...(expiresAt ? { expiresAt } : {}),
            },
          }),
        ),
      );
    } catch (failure) {
      fail(failure);
      end();
    }
  }
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        label={t('keysPage.new.name')}
        description={t('keysPage.new.nameHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        size="md"
        maxLength={100}
        value={name}
        error={problems.name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Checkbox.Group
        label={t('keysPage.new.may')}
        description={t('keysPage.new.mayNot')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={permissions}
        onChange={setPermissions}
        error={permissions.length === 0 ? t('keysPage.new.none') : problems.permissions}
      >
        <div className={styles.rights}>
          {ALL_PERMISSIONS.map((permission) => (
            <Checkbox
              key={permission}
              value={permission}
              label={permissionWord(permission)}
              description={permission === 'login' ? t('permissionHint.login') : undefined}
            />
          ))}
        </div>
      </Checkbox.Group>
      <MultiSelect
        label={t('keysPage.new.stores')}
        description={t('keysPage.new.storesHint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        size="md"
        data={(stores.data?.data ?? []).map(({ id, name: label }) => ({ value: id, label }))}
        value={integrationIds}
        onChange={setStores}
        error={problems.integrationIds}
      />
      <Select
        label={t('keysPage.new.expires')}
        size="md"
        data={LIVES.map((value) => ({ value, label: t(`keysPage.new.expires.${value}`) }))}
        value={life}
        onChange={(value) => setLife((value as typeof life | null) ?? 'never')}
        error={problems.expiresAt}
      />
      <FormError error={error} />
      <div className={styles.buttons}>
        <Button size="lg" onClick={onClose}>
          {t('action.cancel')}
        </Button>
        <Button
          size="lg"
          type="submit"
          variant="filled"
          disabled={!name.trim() || permissions.length === 0}
          aria-disabled={busy || undefined}
        >
          {busy ? t('action.working') : t('keysPage.create')}
        </Button>
      </div>
    </form>
  );
}

import '@/i18n/en/profile';
import { ActionIcon, NativeSelect } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { t } from '@/i18n/text';
import { PERIODS } from '../period';
import type { Search } from '../search';
import { filtersOf, KINDS } from './audit_filters';
import { Target } from './Deed';
import styles from './audit.module.css';

type Props = { search: Search; onChange: (change: Record<string, string | undefined>) => void };
type Option = { value: string; label: string };

// The value of the address is among the options, known or not.
const withIt = (options: Option[], value: string | undefined) =>
  value && !options.some((one) => one.value === value) ? [...options, { value, label: value }] : options;

// Tokens of one name, which a rotation makes, also show their last characters.
function tokensOf(keys: Pick<Schemas['ApiKey'], 'id' | 'name' | 'preview'>[]): Option[] {
  const times = new Map<string, number>();
  for (const { name } of keys) times.set(name, (times.get(name) ?? 0) + 1);
  return keys.map(({ id, name, preview }) => ({
    value: id,
    label:
      times.get(name) === 1
        ? t('audit.tokenOf', { name })
        : t('audit.tokenEnding', { name, end: preview.slice(preview.lastIndexOf('…')) }),
  }));
}

export function AuditFilters({ search, onChange }: Props) {
  const people = useQuery(queries.people());
  const keys = useQuery({ ...queries.keys(), refetchInterval: false });
  const { actor, action, target, period } = filtersOf(search);
  const who = [
    { value: '', label: t('audit.anybody') },
    ...(people.data?.data ?? []).map(({ id, email }) => ({ value: id, label: email ?? id })),
    ...tokensOf(keys.data?.data ?? []),
    { value: 'operator', label: t('audit.operator') },
    { value: 'system', label: t('audit.system') },
  ];
  const what = [
    { value: '', label: t('audit.anything') },
    ...KINDS.map((value) => ({ value, label: t(`audit.kind.${value}`) })),
  ];
  const when = [
    { value: '', label: t('audit.anyTime') },
    ...PERIODS.map((value) => ({ value, label: t(`filter.created.${value}`) })),
  ];
  return (
    <div className={styles.filters} role="group" aria-label={t('filter.list')}>
      <NativeSelect
        aria-label={t('audit.col.who')}
        value={actor ?? ''}
        onChange={(event) => onChange({ actor: event.currentTarget.value })}
        data={withIt(who, actor)}
      />
      <NativeSelect
        aria-label={t('audit.col.what')}
        value={action ?? ''}
        onChange={(event) => onChange({ action: event.currentTarget.value })}
        data={withIt(what, action)}
      />
      <NativeSelect
        aria-label={t('audit.col.when')}
        value={period ?? ''}
        onChange={(event) => onChange({ when: event.currentTarget.value })}
        data={when}
      />
      {target ? (
        <span className={styles.chip}>
          {t('audit.target')} <Target id={target} />
          <ActionIcon
            size={24}
            aria-label={t('filter.clearOne', { name: t('audit.target') })}
            onClick={() => onChange({ target: undefined })}
          >
            <IconX size={14} />
          </ActionIcon>
        </span>
      ) : null}
    </div>
  );
}

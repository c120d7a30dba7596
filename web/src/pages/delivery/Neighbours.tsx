// The position of a delivery in the list from which it was opened, with links to the ones before and after it.
import '@/i18n/en/delivery';
import { ActionIcon } from '@mantine/core';
import { IconArrowDown, IconArrowUp, type TablerIcon } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { closeSaid } from '@/components/toasts';
import { t } from '@/i18n/text';
import { useShortcuts } from '@/shell/shortcuts';
import { viewOf } from '../deliveries/filters';
import { parseSearch, type Search } from '../search';
import type { Walk } from './walk';
import styles from './delivery.module.css';

export function Neighbours({ list, walk }: { list: string | undefined; walk: Walk | null }) {
  const navigate = useNavigate();
  const search = parseSearch(list ?? '');
  const same: Search = list === undefined ? {} : { list };
  const to = (row: { id: string } | undefined) =>
    row ? ({ to: '/deliveries/$id', params: { id: row.id }, search: same } as const) : undefined;
  const previous = walk ? to(walk.rows[walk.place - 1]) : undefined;
  const next = walk ? to(walk.rows[walk.place + 1]) : undefined;
  const go = (place: typeof next) => {
    if (!place) return;
    closeSaid();
    void navigate(place);
  };
  useShortcuts({
    k: () => go(previous),
    ArrowUp: () => go(previous),
    j: () => go(next),
    ArrowDown: () => go(next),
  });
  if (!walk) return null;
  const { n, total } = walk;
  return (
    <>
      <span>{t(viewOf(search) === 'needs' ? 'delivery.placeNeeds' : 'delivery.place', { n, total })}</span>
      <Step to={previous?.params.id} search={same} label={t('delivery.previous')} icon={IconArrowUp} />
      <Step to={next?.params.id} search={same} label={t('delivery.next')} icon={IconArrowDown} />
    </>
  );
}

function Step({
  to,
  search,
  label,
  icon: Icon,
}: {
  to: string | undefined;
  search: Search;
  label: string;
  icon: TablerIcon;
}) {
  if (to === undefined) {
    return (
      <ActionIcon disabled className={styles.end} aria-label={label}>
        <Icon size={17} />
      </ActionIcon>
    );
  }
  return (
    <Link
      to="/deliveries/$id"
      params={{ id: to }}
      search={search}
      className={styles.step}
      onClick={closeSaid}
      aria-label={label}
      title={label}
    >
      <Icon size={17} aria-hidden="true" />
    </Link>
  );
}

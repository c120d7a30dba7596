// Newer and older pages of a list by cursor. The cursors of the pages before stand in the address, so that Back works.
import { Button } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { t } from '@/i18n/text';
import styles from './Pager.module.css';

type Props = {
  page: number; // from 1
  size: number; // rows a page
  shown: number;
  count?: number;
  exact?: boolean;
  onNewer?: () => void;
  onOlder?: () => void;
  words?: { newer: string; older: string }; // of a list that is not by time
};

export function Pager({ page, size, shown, count, exact = true, onNewer, onOlder, words }: Props) {
  if (!onNewer && !onOlder) return null;
  const from = (page - 1) * size + 1;
  const range = { from, to: from + shown - 1 };
  return (
    <nav className={styles.pager} aria-label={t('list.pages')}>
      <span className="quiet tabular">
        {count === undefined ? t('list.some', range) : t(exact ? 'list.range' : 'list.rangeMany', { ...range, count })}
      </span>
      <Button leftSection={<IconChevronLeft size={16} />} disabled={!onNewer} onClick={onNewer}>
        {words?.newer ?? t('list.newer')}
      </Button>
      <Button rightSection={<IconChevronRight size={16} />} disabled={!onOlder} onClick={onOlder}>
        {words?.older ?? t('list.older')}
      </Button>
    </nav>
  );
}

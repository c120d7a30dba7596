// Between the deliveries that need somebody and their problems.
import { Button } from '@mantine/core';
import { IconLayoutList, IconList } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { t } from '@/i18n/text';
import { changed, type Search } from '../search';
import styles from './deliveries.module.css';

export function GroupSwitch({ search, grouped }: { search: Search; grouped: boolean }) {
  const to = changed(search, { group: grouped ? undefined : 'problem' });
  return (
    <div className={styles.switch}>
      <Button
        variant="subtle"
        leftSection={grouped ? <IconList size={16} /> : <IconLayoutList size={16} />}
        renderRoot={(props) => <Link {...props} to="/deliveries" search={to} />}
      >
        {t(grouped ? 'problems.oneByOne' : 'problems.group')}
      </Button>
    </div>
  );
}

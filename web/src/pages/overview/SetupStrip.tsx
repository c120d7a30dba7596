// How far the guide has come, while it is put off.
import '@/i18n/en/home';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { t } from '@/i18n/text';
import { stepsDone } from '../start/later';
import styles from './overview.module.css';

export function SetupStrip({ setup }: { setup: Schemas['Overview']['setup'] }) {
  const done = stepsDone(setup);
  return (
    <div className={styles.strip}>
      <div className={styles.words}>
        <strong>{t('overview.setup', { done: done.filter(Boolean).length })}</strong>
        <div className={styles.steps} aria-hidden="true">
          {done.map((is, step) => (
            <i key={step} data-done={is || undefined} />
          ))}
        </div>
      </div>
      <Button component={Link} to="/start">
        {t('overview.setupGo')}
      </Button>
    </div>
  );
}

// Why an action failed, beside its control. Screen readers announce it at once.
import { IconAlertCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import styles from './Alert.module.css';

export function Alert({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.alert} role="alert">
      <IconAlertCircle size={17} aria-hidden="true" />
      <span>{children}</span>
      {action}
    </div>
  );
}

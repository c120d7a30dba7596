// Stands instead of a control that only owners have.
import { IconLock } from '@tabler/icons-react';
import { AskOwners } from './AskOwners';
import styles from './ForOwners.module.css';

export function ForOwners({ children }: { children: string }) {
  return (
    <p className={styles.note}>
      <IconLock size={16} stroke={1.7} aria-hidden="true" />
      <span>
        {children} <AskOwners />
      </span>
    </p>
  );
}

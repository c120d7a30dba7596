// Code of several lines to take elsewhere, whole, with its button.
import { CopyButton } from '@/components/Copy';
import styles from './steps.module.css';

export function Snippet({ code, label }: { code: string; label: string }) {
  return (
    <div className={styles.snippet}>
      <pre tabIndex={0} aria-label={label}>
        {code}
      </pre>
      <CopyButton text={code} />
    </div>
  );
}

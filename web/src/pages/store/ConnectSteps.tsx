// How to connect a store, in the shop's own words.
import '@/i18n/en/stores';
import { t } from '@/i18n/text';
import type { StepsProps } from './kinds/kind';
import { kindFor } from './kinds/kinds';
import { UsernameField } from './UsernameField';
import styles from './steps.module.css';

// `username`: whether the field for it is a step; before the order that shows whether all is right.
export function ConnectSteps({ username = true, ...props }: StepsProps & { username?: boolean }) {
  const { steps, proof } = kindFor(props.it);
  const all = [
    ...steps(props),
    ...(username
      ? [
          <div>
            <strong>{t('connection.username')}</strong>
            <UsernameField it={props.it} />
          </div>,
        ]
      : []),
    ...(proof ? [proof()] : []),
  ];
  return (
    <ol className={styles.steps}>
      {all.map((step, index) => (
        <li key={index}>
          <span className={styles.number} aria-hidden="true">
            {String.fromCharCode(97 + index)}
          </span>
          <div className={styles.step}>{step}</div>
        </li>
      ))}
    </ol>
  );
}

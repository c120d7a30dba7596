// How to connect a store, in the shop's own words.
import type { StepsProps } from './kinds/kind';
import { kindFor } from './kinds/kinds';
import styles from './steps.module.css';

export function ConnectSteps(props: StepsProps) {
  return (
    <ol className={styles.steps}>
      {kindFor(props.it)
        .steps(props)
        .map((step, index) => (
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

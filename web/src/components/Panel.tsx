// A group of what belongs together. With a tone it is what the page is about just now.
import type { ReactNode } from 'react';
import styles from './Panel.module.css';

type Props = {
  tone?: 'plain' | 'red' | 'amber' | 'violet' | 'teal';
  title?: string;
  children: ReactNode;
  foot?: ReactNode;
};

export function Panel({ tone = 'plain', title, children, foot }: Props) {
  return (
    <section className={styles.panel} data-tone={tone} aria-label={title}>
      <div className={styles.body}>
        {title ? <h2>{title}</h2> : null}
        {children}
      </div>
      {foot ? <div className={styles.foot}>{foot}</div> : null}
    </section>
  );
}

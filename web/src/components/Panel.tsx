// A group of things that belong together. One with a tone is the page's present subject.
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

// Names and values in the right column.
import type { ReactNode } from 'react';
import { Bdi } from './Bdi';
import styles from './Facts.module.css';

export function Facts({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.facts}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

// An e-mail address, which wraps before its @ at the end of a line.
export function Email({ of }: { of: string }) {
  const at = of.lastIndexOf('@');
  return (
    <Bdi>
      {of.slice(0, Math.max(at, 0))}
      <wbr />
      {of.slice(Math.max(at, 0))}
    </Bdi>
  );
}

export function FactList({ children }: { children: ReactNode }) {
  return <dl className={styles.list}>{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

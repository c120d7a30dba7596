// One step: a line, or a card with what is to be done.
import '@/i18n/en/guide';
import { useEffect, useRef, type ReactNode } from 'react';
import { Bdi } from '@/components/Bdi';
import { Shape } from '@/components/StatusIcon';
import { t } from '@/i18n/text';
import styles from './start.module.css';

type Props = {
  number: number;
  done: boolean;
  open: boolean;
  title: string;
  text: ReactNode;
  change: string;
  onOpen: () => void;
  children: ReactNode;
};

export function Step({ number, done, open, title, text, change, onOpen, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const was = useRef(false);
  useEffect(() => {
    // A person whose focus was in the step before, or on the page before, goes on in this one.
    const { activeElement: at, body } = document;
    if (open && !was.current && (at === body || at?.tagName === 'H1')) heading.current?.focus();
    was.current = open;
  }, [open]);
  return (
    <li className={styles.step} data-open={open || undefined} aria-current={open ? 'step' : undefined}>
      <div className={styles.mark}>
        {done ? <Shape icon="check" colour="teal" size={20} /> : <span aria-hidden="true">{number}</span>}
      </div>
      <div className={styles.head}>
        <h2 ref={heading} tabIndex={-1}>
          <Bdi>{title}</Bdi>
          {done ? <span className="unseen"> {t('guide.done')}</span> : null}
        </h2>
        <div className={styles.text}>{text}</div>
      </div>
      {open ? null : (
        <button type="button" className={styles.change} onClick={onOpen} aria-label={`${change}: ${title}`}>
          {change}
        </button>
      )}
      {open ? <div className={styles.content}>{children}</div> : null}
    </li>
  );
}

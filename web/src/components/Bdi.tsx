// Text of other people, apart from the direction of ours around it (i18n/outside.ts).
import { Children, type ComponentProps, type ReactNode } from 'react';
import { steering, type Sign } from '@/i18n/outside';
import styles from './Buyer.module.css';

export function withSigns(text: string, signs: Sign[]): ReactNode {
  if (signs.length === 0) return text;
  const ends = [0, ...signs.map(({ at, length }) => at + length)];
  return [
    ...signs.flatMap(({ at, sign }, index) => [
      text.slice(ends[index], at),
      <span key={at} className={styles.unseen}>
        {sign}
      </span>,
    ]),
    text.slice(ends.at(-1)),
  ];
}

export function Bdi({ children, ...props }: ComponentProps<'bdi'>) {
  const shown = Children.map(children, (child) =>
    typeof child === 'string' ? withSigns(child, steering(child)) : child,
  );
  // eslint-disable-next-line no-restricted-syntax
  return <bdi {...props}>{shown}</bdi>;
}

// Seven silhouettes that differ without colour. Hidden from readers: the word beside it is what is read.
import { Bdi } from './Bdi';
import { lookOf, stateWord, type Colour, type Icon } from '@/vocabulary/delivery';
import styles from './StatusIcon.module.css';

const SHAPES: Record<Icon, React.ReactNode> = {
  dashed: <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.6" strokeDasharray="2.2 2.5" />,
  arc: (
    <>
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.8" opacity="0.22" />
      <path
        className={styles.turning}
        d="M2 8a6 6 0 0 1 6-6"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
      />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="6.1" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path
        d="M8 4.8V8l2.1 1.3"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  ),
  check: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path
        className={styles.cut}
        d="m5 8.2 2.1 2.1L11 6.1"
        fill="none"
        strokeWidth="1.7"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  ),
  octagon: (
    <>
      <path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" fill="currentColor" />
      <path className={styles.cut} d="M8 4.4v4" fill="none" strokeWidth="1.8" strokeLinecap="round" />
      <circle className={styles.dot} cx="8" cy="11.2" r="1" />
    </>
  ),
  diamond: (
    <>
      <path
        d="M8 1.2 14.8 8 8 14.8 1.2 8z"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.6"
        strokeLinejoin="round"
      />
      <circle cx="8" cy="8" r="1.7" fill="currentColor" />
    </>
  ),
  slash: (
    <>
      <circle cx="8" cy="8" r="6.1" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="m5.4 10.6 5.2-5.2" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
    </>
  ),
  circle: <circle cx="8" cy="8" r="6.1" fill="none" stroke="currentColor" strokeWidth="1.6" />,
};

export function Shape({ icon, colour, size = 16 }: { icon: Icon; colour: Colour; size?: number }) {
  return (
    <svg className={styles.icon} data-colour={colour} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[icon]}
    </svg>
  );
}

export function StatusIcon({ status, size }: { status: string; size?: number }) {
  return <Shape {...lookOf(status)} size={size} />;
}

// Icon, word, and what stands after it, muted. The service's own name is in the tooltip.
export function StatusText({ status, dryRun = false, line }: { status: string; dryRun?: boolean; line?: string }) {
  return (
    <span className={styles.text} title={status}>
      <StatusIcon status={status} />
      <span>{stateWord({ status, dryRun })}</span>
      {line ? <Bdi className={styles.line}>{line}</Bdi> : null}
    </span>
  );
}

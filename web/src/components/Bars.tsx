// Stacked bars over time. Pointer, focus and arrow keys show the words of one bar; the table beside it has those of all bars.
import { useElementSize } from '@mantine/hooks';
import { ticks } from 'd3-array';
import { useId, useState, type KeyboardEvent } from 'react';
import styles from './Bars.module.css';
import { Bdi } from './Bdi';

export type Part = { key: string; name: string; look: 'full' | 'hatched' | 'hollow' | 'failed' };
export type Bar = { key: string; label: string; title: string; values: number[] }; // from the ground up, one for each part

type Props = { name: string; parts: Part[]; bars: Bar[]; slots?: number; height?: number };

const LEAST_LEFT = 36; // px, for the numbers of the lines
const DIGIT = 8; // px, at most
const SPACE = 10; // px, between the numbers and the lines
const BOTTOM = 24;
const TOP = 6;
const GAP = 2; // px, between the parts of a bar
const LEAST = 3; // px: a small value is seen too
const number = new Intl.NumberFormat('en');

const isOutlined = (look: Part['look'] | undefined) => look === 'hatched' || look === 'hollow';

// The lines and the top of the scale: whole numbers, three spaces at most.
function scaleOf(max: number): { lines: number[]; top: number } {
  const raw = ticks(0, Math.max(max, 4), 3).filter(Number.isInteger);
  const step = (raw[1] ?? 4) - (raw[0] ?? 0);
  const top = Math.max(step, Math.ceil(max / step) * step);
  return { lines: Array.from({ length: top / step + 1 }, (_, n) => n * step), top };
}

export function Bars({ name, parts, bars, slots = bars.length, height = 220 }: Props) {
  const { ref, width } = useElementSize();
  const [at, setAt] = useState<number | null>(null);
  const hatch = useId();
  const ground = height - BOTTOM;
  const { lines, top } = scaleOf(Math.max(0, ...bars.map(({ values }) => values.reduce((sum, n) => sum + n, 0))));
  const left = Math.max(LEAST_LEFT, number.format(top).length * DIGIT + SPACE);
  const inner = Math.max(0, width - left);
  const y = (n: number) => ground - (n / top) * (ground - TOP);
  const slot = slots > 0 ? inner / slots : 0;
  const wide = Math.min(Math.max(slot * 0.58, 2), 28);
  const x = (index: number) => left + slot * index + (slot - wide) / 2;
  const every = Math.max(1, Math.ceil(slots / Math.max(1, Math.floor(inner / 96))));
  const isNamed = (index: number) =>
    index === bars.length - 1 || (index % every === 0 && (bars.length - 1 - index) * slot > 64);
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === 'Escape') setAt(null);
    if (step === undefined) return;
    event.preventDefault();
    setAt((now) => Math.min(Math.max((now ?? bars.length - 1) + step, 0), bars.length - 1));
  };
  const bar = at === null ? undefined : bars[at];
  return (
    <div ref={ref} className={styles.bars}>
      <svg
        role="img"
        aria-label={name}
        width={width}
        height={height}
        tabIndex={0}
        onKeyDown={onKey}
        onFocus={() => setAt((now) => now ?? bars.length - 1)}
        onBlur={() => setAt(null)}
        onPointerLeave={() => setAt(null)}
        onPointerMove={(event) => {
          const index = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - left) / slot);
          setAt(bars[index] ? index : null);
        }}
      >
        <defs>
          <pattern id={hatch} width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="4" height="4" className={styles.ground} />
            <rect width="1.4" height="4" className={styles.stroke} />
          </pattern>
        </defs>
        {lines.map((line) => (
          <g key={line}>
            <line
              className={styles.line}
              data-ground={line === 0 || undefined}
              x1={left}
              x2={width}
              y1={y(line)}
              y2={y(line)}
            />
            <text className={styles.tick} x={left - SPACE} y={y(line)} dy="0.35em" textAnchor="end">
              {number.format(line)}
            </text>
          </g>
        ))}
        {at === null ? null : (
          <rect className={styles.cursor} x={left + slot * at} y={TOP} width={slot} height={ground - TOP} />
        )}
        {bars.map(({ key, values, label }, index) => {
          let foot = ground;
          return (
            <g key={key}>
              {values.map((value, part) => {
                if (value === 0) return null;
                const size = Math.max((value / top) * (ground - TOP) - (foot === ground ? 0 : GAP), LEAST);
                foot -= size + (foot === ground ? 0 : GAP);
                const look = parts[part]?.look;
                return (
                  <rect
                    key={parts[part]?.key}
                    className={styles.part}
                    data-look={look}
                    fill={look === 'hatched' ? `url(#${hatch})` : undefined}
                    x={isOutlined(look) ? x(index) + 0.6 : x(index)}
                    y={isOutlined(look) ? foot + 0.6 : foot}
                    width={isOutlined(look) ? wide - 1.2 : wide}
                    height={isOutlined(look) ? Math.max(size - 1.2, 1.8) : size}
                    rx={Math.min(2, wide / 4)}
                  />
                );
              })}
              {isNamed(index) ? (
                <text
                  className={styles.tick}
                  x={x(index) + wide / 2}
                  y={height - 4}
                  textAnchor={index === bars.length - 1 && slots === bars.length ? 'end' : 'middle'}
                  dx={index === bars.length - 1 && slots === bars.length ? wide / 2 : 0}
                >
                  {label}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
      {bar && at !== null ? (
        <div
          className={styles.tip}
          style={{ left: Math.min(Math.max(left + slot * (at + 0.5), 84), Math.max(width - 84, 84)) }}
          aria-hidden="true"
        >
          <strong>{bar.title}</strong>
          {parts
            .map((part, index) => (
              <span key={part.key}>
                <i className={styles.swatch} data-look={part.look} />
                <Bdi>{part.name}</Bdi>
                <b>{number.format(bar.values[index] ?? 0)}</b>
              </span>
            ))
            .reverse()}
        </div>
      ) : null}
    </div>
  );
}

// The name of each part, with its sum.
export function Legend({ parts, sums }: { parts: Part[]; sums: number[] }) {
  return (
    <ul className={styles.legend}>
      {parts.map((part, index) => (
        <li key={part.key}>
          <i className={styles.swatch} data-look={part.look} aria-hidden="true" />
          <Bdi>{part.name}</Bdi> <strong>{number.format(sums[index] ?? 0)}</strong>
        </li>
      ))}
    </ul>
  );
}

// A table of rows that are links: one line of 44 px, or two lines on a narrow screen. Arrow keys and J, K walk it.
import { Link, type LinkProps } from '@tanstack/react-router';
import { Fragment, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { t } from '@/i18n/text';
import { useShortcuts } from '@/shell/shortcuts';
import { SelectAll, SelectOne, type Selection } from './Select';
import styles from './Rows.module.css';

export type Column<Row> = {
  key: string;
  header: string;
  cell: (row: Row) => ReactNode;
  end?: boolean; // numbers and times stand at the end of their column
  width?: string;
  wide?: boolean; // left out where the screen is not wide
  narrow?: 'first' | 'second' | 'secondEnd' | 'firstEnd'; // its place where a row has two lines; none: left out
};

type Props<Row> = {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  idOf: (row: Row) => string;
  linkOf?: (row: Row) => LinkProps | null; // the first column's words are the link, the whole row its target
  height?: 44 | 56;
  busy?: boolean;
  icons?: boolean; // rows begin with an icon, under which a second line does not stand
  quiet?: (row: Row) => boolean;
  selection?: Selection; // rows begin with a checkbox
  under?: (row: Row) => ReactNode; // shown below a row, over its whole width
};

export function Rows<Row>({
  label,
  columns,
  rows,
  idOf,
  linkOf,
  height = 44,
  busy,
  icons,
  quiet,
  selection,
  under,
}: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const last = useRef<string | null>(null); // where a range begins
  const walk = (step: 1 | -1) => {
    const links = [...(body.current?.querySelectorAll<HTMLAnchorElement>('a[data-row]') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
  };
  const choose = () => {
    const id = document.activeElement?.closest<HTMLElement>('tr[data-id]')?.dataset.id;
    if (id) selection?.set([id], !selection.has(id));
  };
  const chooseTo = (id: string, chosen: boolean, range: boolean) => {
    const ids = rows.map(idOf);
    const from = last.current === null ? -1 : ids.indexOf(last.current);
    const to = ids.indexOf(id);
    selection?.set(range && from >= 0 ? ids.slice(Math.min(from, to), Math.max(from, to) + 1) : [id], chosen);
    last.current = id;
  };
  useShortcuts({
    j: () => walk(1),
    k: () => walk(-1),
    ...(selection ? { x: choose, a: () => selection.set(rows.map(idOf), true) } : {}),
  });
  const onArrow = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    if (!(event.target as HTMLElement).matches('a[data-row]')) return;
    event.preventDefault();
    walk(event.key === 'ArrowDown' ? 1 : -1);
  };
  return (
    <div className={styles.frame} data-busy={busy || undefined}>
      <table
        className={styles.table}
        aria-label={label}
        aria-busy={busy || undefined}
        data-height={height}
        data-icons={icons || undefined}
        data-selectable={selection ? true : undefined}
      >
        <thead>
          <tr>
            {selection ? <SelectAll ids={rows.map(idOf)} selection={selection} /> : null}
            {columns.map(({ key, header, end, width, wide }) => (
              <th
                key={key}
                scope="col"
                data-end={end || undefined}
                data-wide={wide}
                style={width ? { width } : undefined}
              >
                {header || <span className="unseen">{t('list.actions')}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onArrow}>
          {rows.map((row) => {
            const link = linkOf?.(row);
            return (
              <Fragment key={idOf(row)}>
                <tr
                  data-id={idOf(row)}
                  data-chosen={selection?.has(idOf(row)) || undefined}
                  data-linked={link ? true : undefined}
                  data-quiet={quiet?.(row) || undefined}
                >
                  {selection ? <SelectOne id={idOf(row)} selection={selection} onChoose={chooseTo} /> : null}
                  {columns.map(({ key, cell, end, narrow, wide }, index) => (
                    <td key={key} data-end={end || undefined} data-narrow={narrow ?? 'none'} data-wide={wide}>
                      {index === 0 && link ? (
                        <Link {...link} className={styles.link} data-row="">
                          {cell(row)}
                        </Link>
                      ) : (
                        cell(row)
                      )}
                    </td>
                  ))}
                </tr>
                <Under columns={columns.length + (selection ? 1 : 0)}>{under?.(row)}</Under>
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Under({ columns, children }: { columns: number; children: ReactNode }) {
  if (!children) return null;
  return (
    <tr className={styles.under}>
      <td colSpan={columns}>{children}</td>
    </tr>
  );
}

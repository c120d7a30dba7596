// The head of a page: its breadcrumbs, its name, a line about it, at most two buttons and a menu.
import { IconChevronRight } from '@tabler/icons-react';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { t } from '@/i18n/text';
import { session } from '@/session';
import { remember } from '@/shell/recent';
import { Bdi } from './Bdi';
import styles from './PageHeader.module.css';

type Crumb = { label: string; to?: string; search?: Record<string, string> };
type Props = {
  title: string;
  page?: string; // of the browser's tab, if it is not the title
  crumbs?: Crumb[];
  lead?: ReactNode;
  meta?: ReactNode;
  actions?: ReactNode;
  beside?: ReactNode; // on the line of the crumbs
};

export function PageHeader({ title, page = title, crumbs, lead, meta, actions, beside }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = t('app.title', { page });
  }, [page]);
  const path = useLocation({ select: ({ pathname }) => pathname });
  const one = crumbs !== undefined; // a page of one thing, so the palette lists it as visited
  useEffect(() => {
    const state = session.get();
    if (one && state.name === 'in') remember(state.tokens.user.id, { path, title });
  }, [one, path, title]);
  useEffect(() => {
    // After going to a page its name has the focus, unless something on it took it.
    if (document.activeElement === document.body || document.activeElement?.closest('nav')) heading.current?.focus();
  }, []);
  return (
    <header className={styles.header}>
      {crumbs || beside ? (
        <div className={styles.top}>
          {crumbs ? (
            <ol className={styles.crumbs}>
              {crumbs.map(({ label, to, search }) => (
                <li key={label}>
                  {to ? (
                    <Link to={to} search={search ?? {}} activeOptions={{ exact: true }}>
                      <Bdi>{label}</Bdi>
                    </Link>
                  ) : (
                    <Bdi aria-current="page">{label}</Bdi>
                  )}
                  {to ? <IconChevronRight size={14} aria-hidden="true" /> : null}
                </li>
              ))}
            </ol>
          ) : null}
          {beside ? <div className={styles.beside}>{beside}</div> : null}
        </div>
      ) : null}
      <div className={styles.main}>
        <div className={styles.words}>
          <h1 ref={heading} tabIndex={-1}>
            <Bdi>{title}</Bdi>
          </h1>
          {lead ? <p className={styles.lead}>{lead}</p> : null}
          {meta ? <div className={styles.meta}>{meta}</div> : null}
        </div>
        {actions ? <div className={styles.actions}>{actions}</div> : null}
      </div>
    </header>
  );
}

// Views of one thing, each with an address of its own.
import { Link, type LinkProps } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Bdi } from './Bdi';
import styles from './Tabs.module.css';

const BESIDE = 48; // px of the next tab that stay in view

type Tab = { label: string; count?: string; active: boolean; link: LinkProps };

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const row = useRef<HTMLElement>(null);
  const at = tabs.findIndex(({ active }) => active);
  const open = `${at} of ${tabs.length} ${tabs[at]?.label ?? ''}`; // two tabs may have one name
  const counted = tabs.filter(({ count }) => count !== undefined).length; // counts are loaded later and move the tabs
  // On a narrow screen the row scrolls sideways: the open tab is scrolled into view, with a part of the next one.
  useEffect(() => {
    const tab = row.current?.querySelector('[aria-current]')?.getBoundingClientRect();
    const view = row.current?.getBoundingClientRect();
    if (!tab || !view) return;
    if (tab.left < view.left + BESIDE) row.current?.scrollBy(tab.left - view.left - BESIDE, 0);
    else if (tab.right > view.right - BESIDE) row.current?.scrollBy(tab.right - view.right + BESIDE, 0);
  }, [open, counted]);
  return (
    <nav ref={row} className={styles.tabs} aria-label={label}>
      {tabs.map(({ label: name, count, active, link }, index) => (
        <Link
          key={index}
          {...link}
          className={styles.tab}
          activeOptions={{ exact: true, includeSearch: true }} // else a tab without a search is active for every search
          aria-current={active ? 'page' : undefined}
        >
          <span className={styles.name} title={name}>
            <Bdi>{name}</Bdi>
          </span>
          {count === undefined ? null : <span className={styles.count}>{count}</span>}
        </Link>
      ))}
    </nav>
  );
}

// Views of one thing, each with an address of its own.
import { Link, type LinkProps } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import styles from './Tabs.module.css';

const BESIDE = 48; // px

type Tab = { label: string; count?: string; active: boolean; link: LinkProps };

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const row = useRef<HTMLElement>(null);
  const at = tabs.findIndex(({ active }) => active);
  const open = `${at} of ${tabs.length} ${tabs[at]?.label ?? ''}`; // two tabs may have one name
  const counted = tabs.filter(({ count }) => count !== undefined).length; // counts are loaded later and move the tabs
  // On a narrow screen the row scrolls sideways: the open tab is scrolled into view, with a part of the one beside it.
  useEffect(() => {
    const place = row.current?.querySelector('[aria-current]')?.getBoundingClientRect();
    const box = row.current?.getBoundingClientRect();
    if (!place || !box) return;
    if (place.left < box.left + BESIDE) row.current?.scrollBy(place.left - box.left - BESIDE, 0);
    else if (place.right > box.right - BESIDE) row.current?.scrollBy(place.right - box.right + BESIDE, 0);
  }, [open, counted]);
  return (
    <nav ref={row} className={styles.tabs} aria-label={label}>
      {tabs.map(({ label: name, count, active, link }, place) => (
        <Link
          key={place}
          {...link}
          className={styles.tab}
          activeOptions={{ exact: true, includeSearch: true }} // or a tab without a search counts as every other too
          aria-current={active ? 'page' : undefined}
        >
          <span className={styles.name} title={name}>
            {name}
          </span>
          {count === undefined ? null : <span className={styles.count}>{count}</span>}
        </Link>
      ))}
    </nav>
  );
}

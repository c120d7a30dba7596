// The frame of every page behind the sign-in: navigation at the left, or a bar and a drawer on narrow screens.
import { ActionIcon } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconMenu2, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react';
import { usePreferences } from '@/api/preferences';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { OfflineBar } from '@/components/LiveSign';
import { Toasts } from '@/components/toasts';
import { t } from '@/i18n/text';
import { loadLater, ShortcutsDialog } from './later';
import { Mark } from './Mark';
import { Nav } from './Nav';
import { collectTyping } from './palette/early';
import { SandboxBar } from './SandboxBar';
import { isDialogOpen, turnShortcuts, usePaletteKey, useShortcuts } from './shortcuts';
import styles from './Shell.module.css';

const ACCOUNT_MS = 15_000;

const Palette = lazy(() => import('./palette/Palette').then((part) => ({ default: part.Palette })));
const PhoneNav = lazy(() => import('./PhoneNav').then((part) => ({ default: part.PhoneNav })));

// `children`: instead of the page of the address.
export function Shell({ children = <Outlet /> }: { children?: ReactNode }) {
  const [menu, { open: openMenu, close: closeMenu }] = useDisclosure();
  const [help, { open: openHelp, close: closeHelp }] = useDisclosure();
  const [palette, { open: openPalette, close: closePalette }] = useDisclosure();
  const path = useLocation({ select: ({ pathname }) => pathname });
  // Polled, since no event reports that a person has another role, or none any more.
  const account = useQuery({ ...queries.account(), refetchInterval: ACCOUNT_MS });
  const version = useQuery(queries.version());
  const { data: preferences } = usePreferences();
  useEffect(() => {
    if (preferences) turnShortcuts(!preferences.shortcutsOff);
  }, [preferences]);
  useShortcuts({ '?': openHelp });
  useEffect(closeMenu, [path, closeMenu]);
  useEffect(loadLater, []);
  const [typed, setTyped] = useState(() => () => '');
  const search = useCallback(() => {
    closeMenu();
    const collected = collectTyping();
    setTyped(() => collected);
    openPalette();
  }, [closeMenu, openPalette]);
  const closeSearch = () => {
    typed();
    closePalette();
  };
  usePaletteKey(() => (palette ? closeSearch() : isDialogOpen() ? undefined : search()));
  return (
    <>
      <a className={styles.skip} href="#content">
        {t('app.skip')}
      </a>
      {version.data?.sandbox ? <SandboxBar /> : null}
      <div className={styles.shell} data-sandbox={version.data?.sandbox || undefined}>
        <header className={styles.bar}>
          <Mark size={28} />
          <strong>
            <Bdi>{account.data?.name ?? t('app.name')}</Bdi>
          </strong>
          <ActionIcon size={44} aria-label={t('nav.search')} onClick={search}>
            <IconSearch size={21} />
          </ActionIcon>
          <ActionIcon size={44} aria-label={t('nav.open')} aria-expanded={menu} onClick={openMenu}>
            <IconMenu2 size={22} />
          </ActionIcon>
        </header>
        <div className={styles.side}>
          <div className={styles.fixed}>
            <Nav onHelp={openHelp} onSearch={search} />
          </div>
        </div>
        <main id="content" className={styles.main}>
          <OfflineBar />
          {children}
        </main>
      </div>
      <Suspense>
        {menu ? <PhoneNav onClose={closeMenu} onHelp={openHelp} onSearch={search} /> : null}
        {palette ? <Palette typed={typed} onClose={closeSearch} onHelp={openHelp} /> : null}
        {help ? <ShortcutsDialog onClose={closeHelp} /> : null}
      </Suspense>
      <Toasts />
    </>
  );
}
